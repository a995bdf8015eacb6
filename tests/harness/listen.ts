import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Where a server of a test is. `close` ends its connections, too. */
export interface Listening {
  /** `http://127.0.0.1:PORT`. */
  origin: string;
  port: number;
  close(): Promise<void>;
}

/** Lets the server listen on a free port of 127.0.0.1. */
export const listen = async (server: Server): Promise<Listening> => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    port,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
};
