import { connect } from 'node:net';
import { type Address, type Egress, EgressError } from './egress.ts';
import { openTunnel } from './egress-proxy.ts';
import { withTimeout } from './with-timeout.ts';

/** Settles as `promise` does, or rejects at `deadline` with an EgressError that names `what`. */
export const untilDeadline = <T>(promise: Promise<T>, deadline: number, what: string): Promise<T> =>
  withTimeout(
    promise,
    Math.max(0, deadline - Date.now()),
    () => new EgressError('timeout', `no response in time (${what})`),
  );

/**
 * Opens a TCP connection to one of `addresses` (null: of those that the name has) and closes it again: this distinguishes a closed port from a slow
 * backend.
 */
const connectOnce = (url: URL, addresses: Address[] | null, deadline: number): Promise<void> => {
  const port = Number(url.port || (url.protocol === 'https:' ? 443 : 80));
  const socket = connect({
    host: url.hostname.replace(/^\[(.*)\]$/, '$1'),
    port,
    autoSelectFamily: true,
    // Only the addresses that egress has permitted: the name is not looked up again.
    ...(addresses && {
      lookup: (_host, options, callback) =>
        options.all ? callback(null, addresses) : callback(null, addresses[0]!.address, addresses[0]!.family),
    }),
  });
  const connected = new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve);
    socket.on('error', (error: NodeJS.ErrnoException) =>
      reject(new EgressError('connect', `no connection (${error.code ?? 'no reason given'})`)),
    );
  });
  return untilDeadline(connected, deadline, 'connecting').finally(() => socket.destroy());
};

/** The steps that a test of a connection shows before its first request. */
export type ReachStep = 'lookup' | 'proxy' | 'connect';

/** The step that a failure of `reach`, or of a request after it, belongs to; undefined for any other. */
export const reachStepOf = ({ kind }: EgressError): ReachStep | undefined => {
  if (kind === 'denied' || kind === 'dns') return 'lookup';
  return kind === 'proxy' || kind === 'connect' ? kind : undefined;
};

/**
 * Looks up the host of `url` and connects to it once, as requests do, so that these steps have a result of their own.
 * `passed` gets each that worked, with a sentence. Rejects with EgressError, in which a look-up that takes too long is
 * `dns`. A request without TLS is forwarded by its proxy: whether that one reaches the host, only the request shows.
 */
export const reach = async (
  egress: Pick<Egress, 'route'>,
  url: URL,
  deadline: number,
  passed: (step: ReachStep, detail: string) => void,
): Promise<void> => {
  const { proxy, addresses } = await untilDeadline(egress.route(url), deadline, 'looking up the name').catch(
    (error: EgressError) => {
      throw new EgressError(error.kind === 'denied' ? 'denied' : 'dns', error.message);
    },
  );
  passed(
    'lookup',
    addresses === null
      ? 'The name is not known here: the proxy looks it up.'
      : `The host has the address ${addresses.map(({ address }) => address).join(', ')}.`,
  );
  if (proxy === null) {
    await connectOnce(url, addresses!, deadline).catch((error: Error) => {
      throw new EgressError('connect', error.message);
    });
    return passed('connect', 'The host accepts connections.');
  }
  const accepts = `Requests go through the proxy ${proxy.shown}, which accepts connections.`;
  if (url.protocol === 'http:') {
    await connectOnce(new URL(proxy.origin), null, deadline).catch((error: Error) => {
      throw new EgressError('proxy', `the proxy ${proxy.shown} cannot be used: ${error.message}`);
    });
    return passed('proxy', accepts);
  }
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  const tunnel = openTunnel(proxy, host, Number(url.port || 443));
  // One that comes too late is closed, too.
  tunnel.then(
    (socket) => socket.on('error', () => {}).destroy(),
    () => {},
  );
  await untilDeadline(tunnel, deadline, 'the tunnel of the proxy').catch((error: EgressError) => {
    if (error.kind === 'connect') passed('proxy', accepts);
    throw error.kind === 'timeout' ? new EgressError('proxy', error.message) : error;
  });
  passed('proxy', accepts);
  passed('connect', 'The proxy connects to the host.');
};
