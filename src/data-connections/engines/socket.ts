import type { Socket } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { type Address, type Egress, EgressError } from '../../lib/egress.ts';
import { codeOf, connectTo } from '../../lib/foreign-socket.ts';
import { tlsIdentity, tlsOptions } from '../../lib/tls.ts';
import type { OwnDatabase } from './engine.ts';
import { ConnectionFailure, ownDatabaseFailure } from './failures.ts';
import type { Progress } from './progress.ts';
import type { ServerSettings, TlsSettings } from './settings.ts';

const resolveHost = async (
  { host, port, database }: ServerSettings,
  egress: Egress,
  progress: Progress,
  own: OwnDatabase | null,
): Promise<Address[]> => {
  const addresses = await progress.within(egress.resolve(host)).catch((error: unknown) => {
    if (!(error instanceof EgressError)) throw error;
    if (error.kind === 'denied') {
      throw new ConnectionFailure(
        'denied',
        'The address of the host is not permitted (EGRESS_DENY, EGRESS_ALLOW).',
      );
    }
    throw new ConnectionFailure('unreachable', 'The name of the host was not found.');
  });
  const texts = addresses.map(({ address }) => address);
  if (own && (await progress.within(own.isAt(texts, port, database)))) throw ownDatabaseFailure();
  progress.passed(`The host has the address ${texts.join(', ')}.`);
  return addresses;
};

/**
 * Resolves the host and connects to one of its permitted addresses, tried one by one, each with its share of the time.
 * `own` is given for PostgreSQL, which may be the platform's own.
 */
export const openSocket = async (
  settings: ServerSettings,
  { egress, progress, own }: { egress: Egress; progress: Progress; own: OwnDatabase | null },
): Promise<{ socket: Socket; address: Address }> => {
  progress.begin('resolve');
  const addresses = await resolveHost(settings, egress, progress, own);
  progress.begin('connect');
  let code = 'no response in time';
  for (const [i, address] of addresses.entries()) {
    try {
      const socket = await connectTo(address, settings.port, progress.msLeft / (addresses.length - i));
      progress.passed('The host accepts connections.');
      return { socket, address };
    } catch (error) {
      const { code: given } = error as { code?: string };
      if (given !== undefined) code = codeOf(error);
    }
  }
  throw new ConnectionFailure('unreachable', `The host does not accept connections (${code}).`);
};

export const tlsFailure = (error: unknown): ConnectionFailure =>
  new ConnectionFailure('tls', `TLS failed (${codeOf(error)}).`, 'tls');

/** Negotiates TLS on a connection. `verify_full` checks the certificate for the host as it was configured. */
export const upgrade = (socket: Socket, host: string, tls: TlsSettings): Promise<TLSSocket> =>
  new Promise((resolve, reject) => {
    const fail = (error: unknown) => reject(tlsFailure(error));
    try {
      const secure = connectTls({
        ...tlsOptions(tls),
        socket,
        ...tlsIdentity(host, tls),
      });
      secure.once('secureConnect', () => resolve(secure));
      secure.on('error', fail);
      secure.once('close', () => fail({ code: 'ECONNRESET' }));
    } catch (error) {
      // A key that does not belong to the certificate.
      fail(error);
    }
  });

/**
 * Sends what is written without a pause as one packet. A driver that writes each message of its protocol by itself would
 * make a system call for each.
 */
export const coalesceWrites = <S extends Socket>(stream: S): S => {
  const write = stream.write.bind(stream) as (...args: unknown[]) => boolean;
  return Object.assign(stream, {
    write: (...args: unknown[]) => {
      if (stream.writableCorked === 0) {
        stream.cork();
        process.nextTick(() => stream.uncork());
      }
      return write(...args);
    },
  });
};

/** Wraps what a driver does with received bytes: if it throws, the connection ends, and the process does not. */
export const guarded =
  <A extends unknown[]>(socket: Socket, fn: (...args: A) => void) =>
  (...args: A): void => {
    try {
      fn(...args);
    } catch {
      socket.destroy(Object.assign(new Error('not the protocol'), { code: 'PROTOCOL_ERROR' }));
    }
  };

/**
 * Guards the listeners for data that are added from now on. Drivers parse in them, and throw on bytes that no server
 * would send.
 */
export const guardListeners = <S extends Socket>(stream: S): S => {
  const on = stream.on.bind(stream) as (event: string, listener: (...args: unknown[]) => void) => S;
  return Object.assign(stream, {
    on: (event: string, listener: (...args: unknown[]) => void) =>
      on(event, event === 'data' ? guarded(stream, listener) : listener),
  });
};
