import { connect } from 'node:net';
import { type Address, EgressError } from './egress.ts';
import { withTimeout } from './with-timeout.ts';

/** Settles as `promise` does, or rejects at `deadline` with an EgressError that names `what`. */
export const untilDeadline = <T>(promise: Promise<T>, deadline: number, what: string): Promise<T> =>
  withTimeout(
    promise,
    Math.max(0, deadline - Date.now()),
    () => new EgressError('timeout', `no response in time (${what})`),
  );

/**
 * Opens a TCP connection to one of `addresses` and closes it again: this distinguishes a closed port from a slow
 * backend.
 */
export const connectOnce = (url: URL, addresses: Address[], deadline: number): Promise<void> => {
  const port = Number(url.port || (url.protocol === 'https:' ? 443 : 80));
  const socket = connect({
    host: url.hostname.replace(/^\[(.*)\]$/, '$1'),
    port,
    autoSelectFamily: true,
    // Only the addresses that egress has permitted: the name is not looked up again.
    lookup: (_host, options, callback) =>
      options.all ? callback(null, addresses) : callback(null, addresses[0]!.address, addresses[0]!.family),
  });
  const connected = new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve);
    socket.on('error', (error: NodeJS.ErrnoException) =>
      reject(new EgressError('connect', `no connection (${error.code ?? 'no reason given'})`)),
    );
  });
  return untilDeadline(connected, deadline, 'connecting').finally(() => socket.destroy());
};
