import type { Socket } from 'node:net';
import { connect, credsAuthenticator, errors, type NatsConnection } from '@nats-io/transport-node';
import { NodeTransport } from '@nats-io/transport-node/lib/node_transport.js';
import type { Egress } from '../../lib/egress.ts';
import { isTlsCode } from '../../lib/egress-exchange.ts';
import { codeOf } from '../../lib/foreign-socket.ts';
import { tlsIdentity, tlsOptions } from '../../lib/tls.ts';
import { dial } from '../dial.ts';
import { BrokerFailure, type BrokerSteps } from '../failures.ts';
import { type Server, withFirstServer } from '../servers.ts';
import type { NatsSettings } from '../settings.ts';

/** Opens the socket of a connection. It is an option of the connection that the library does not know. */
interface Dialler {
  openSocket: () => Promise<Socket>;
}

interface Transport {
  options: Partial<Dialler>;
  dial(server: unknown): Promise<Socket>;
}

// The library looks names up and dials by itself, and has no option for it. Only connections with a dialler are ours.
const transport = NodeTransport.prototype as unknown as Transport;
const dialItself = transport.dial;
transport.dial = function (this: Transport, server) {
  return this.options.openSocket?.() ?? dialItself.call(this, server);
};

/**
 * Keeps a listener for errors on the socket. The library removes all listeners between two steps; an error in between would
 * end the process.
 */
const withErrorListener = (socket: Socket): Socket => {
  const remove = socket.removeAllListeners.bind(socket);
  const listen = () => socket.on('error', () => {});
  socket.removeAllListeners = (...names) => {
    remove(...names);
    return listen();
  };
  return listen();
};

const oldestServer = [2, 10] as const;

/** The library finds out that a server is gone after two of these without a response. */
const pingIntervalMs = 4_000;

const authenticationOf = ({ username, password, token, credentials }: NatsSettings) => {
  if (credentials !== undefined) {
    return { authenticator: credsAuthenticator(new TextEncoder().encode(credentials)) };
  }
  if (token !== undefined) return { token };
  return username === undefined ? {} : { user: username, pass: password ?? '' };
};

const isAuthentication = (error: unknown): boolean =>
  error instanceof errors.AuthorizationError || error instanceof errors.UserAuthenticationExpiredError;

const failureOf = (error: unknown, settings: NatsSettings, isConnected: boolean): BrokerFailure => {
  if (error instanceof BrokerFailure) return error;
  if (isAuthentication(error)) {
    return new BrokerFailure(
      'authentication',
      'The server refuses the user, the password, the token or the credentials.',
      'authenticate',
    );
  }
  const causes = [error, (error as { cause?: unknown } | undefined)?.cause];
  const code = causes.map(codeOf).find((one) => one !== 'no code') ?? 'no code';
  const message = error instanceof Error ? error.message : '';
  if (/does not support 'tls'/.test(message)) {
    return new BrokerFailure('tls', 'The server does not offer TLS.', 'tls');
  }
  if (isTlsCode(code)) return new BrokerFailure('tls', `TLS failed (${code}).`, 'tls');
  if (/nkey|jwt|credentials|seed|base32|crc/i.test(message)) {
    return new BrokerFailure('authentication', 'The credentials cannot be read.', 'authenticate');
  }
  if (settings.tls.mode === 'disable' && causes.some((one) => one instanceof TypeError)) {
    // The library reads the options of TLS that it was told not to use.
    return new BrokerFailure('tls', 'The server requires TLS.', 'tls');
  }
  if (!isConnected)
    return new BrokerFailure('unreachable', `The server does not respond (${code}).`, 'connect');
  return new BrokerFailure('unreachable', `The connection was lost (${code}).`, 'authenticate');
};

const isOlder = (version: string): boolean => {
  const [major = 0, minor = 0] = version.split(/[.-]/).map(Number);
  return major < oldestServer[0] || (major === oldestServer[0] && minor < oldestServer[1]);
};

const connectTo = async (
  server: Server,
  settings: NatsSettings,
  egress: Pick<Egress, 'resolve'>,
  steps: BrokerSteps,
): Promise<NatsConnection> => {
  let socket: Socket | undefined;
  const hasTls = settings.tls.mode !== 'disable';
  try {
    const options = {
      servers: [
        server.host.includes(':') ? `[${server.host}]:${server.port}` : `${server.host}:${server.port}`,
      ],
      name: 'agent-platform',
      // A new connection looks the names up again. Servers that this one advertises are not dialled.
      reconnect: false,
      resolve: false,
      ignoreClusterUpdates: true,
      timeout: steps.msLeft,
      pingInterval: pingIntervalMs,
      tls: hasTls ? { ...tlsOptions(settings.tls), ...tlsIdentity(server.host, settings.tls) } : null,
      ...authenticationOf(settings),
      openSocket: async () => {
        socket = withErrorListener(await dial(server, egress, steps));
        steps.begin(hasTls ? 'tls' : 'authenticate');
        return socket;
      },
    };
    const connection = await steps.within(connect(options as Parameters<typeof connect>[0]));
    if (hasTls) {
      steps.begin('tls');
      steps.passed(
        settings.tls.mode === 'verify_full'
          ? 'The certificate of the server is valid.'
          : 'The connection is encrypted. Who the server is was not checked.',
      );
    }
    steps.begin('authenticate');
    steps.passed('The server accepts the user.');
    return connection;
  } catch (error) {
    // The library leaves the socket of an attempt that it gave up.
    socket?.destroy();
    throw failureOf(error, settings, socket !== undefined);
  }
};

const checkServer = (connection: NatsConnection, steps: BrokerSteps): void => {
  steps.begin('version');
  const { version = '0', jetstream } = connection.info ?? {};
  const shown = /^[\w.+-]{1,40}$/.test(version) ? version : 'of an unknown version';
  if (isOlder(version)) {
    throw new BrokerFailure(
      'unsupported',
      `The server is NATS ${shown}; ${oldestServer.join('.')} or newer is needed.`,
    );
  }
  if (!jetstream) throw new BrokerFailure('unsupported', 'JetStream is not enabled on the server.');
  steps.passed(`The server is NATS ${shown} with JetStream.`);
};

/**
 * Connects to the first of the servers that can be used, each tried with its share of the time. `passed` gets the steps of
 * the last one tried. Rejects with BrokerFailure.
 */
export const connectNats = async (
  settings: NatsSettings,
  egress: Pick<Egress, 'resolve'>,
  withinMs: number,
  passed: (steps: BrokerSteps) => void = () => {},
): Promise<NatsConnection> =>
  withFirstServer(settings.servers, withinMs, passed, async (server, steps) => {
    const connection = await connectTo(server, settings, egress, steps);
    try {
      checkServer(connection, steps);
      return connection;
    } catch (error) {
      await connection.close();
      throw error;
    }
  });
