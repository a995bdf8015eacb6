import { connect, type Socket } from 'node:net';
import type { Address } from './egress.ts';
import { withTimeout } from './with-timeout.ts';

/** Opens a TCP connection to an address that egress has permitted. */
export const connectTo = ({ address, family }: Address, port: number, withinMs: number): Promise<Socket> => {
  const socket = connect({ host: address, port, family, noDelay: true, keepAlive: true });
  const connected = new Promise<Socket>((resolve, reject) => {
    socket.once('connect', () => resolve(socket));
    // For as long as the socket lives: an error without a listener would end the process.
    socket.on('error', reject);
  });
  return withTimeout(connected, withinMs, () => new Error('no response')).catch((error) => {
    socket.destroy();
    throw error;
  });
};

/** The code of a socket, TLS or driver error, which names the failure without quoting anything that was sent. */
export const codeOf = (error: unknown): string => {
  const { code, errno } = (error ?? {}) as { code?: unknown; errno?: unknown };
  if (typeof code === 'string' && /^[\w-]{1,60}$/.test(code)) return code;
  return typeof errno === 'number' ? String(errno) : 'no code';
};
