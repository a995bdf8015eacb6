import { connect, createServer, type Socket } from 'node:net';
import { freePort } from './watchdog.ts';

export interface TcpProxy extends AsyncDisposable {
  readonly port: number;
  /** The port of 127.0.0.1 that new connections go to. */
  target: number;
  /**
   * True: no byte passes in either direction and no connection is closed or accepted by the target, as when a network is
   * cut in silence.
   */
  silent: boolean;
  /**
   * True: bytes wait, and pass when it is false again, as when a network is cut and comes back: what was sent meanwhile
   * arrives then, also from an end that has given up.
   */
  held: boolean;
  /** Closes all connections. */
  cut(): void;
}

/** The one address of servers that take turns, as a load balancer for TCP gives it. */
export const startTcpProxy = async (target: number, ownPort?: number): Promise<TcpProxy> => {
  const sockets = new Set<Socket>();
  let held = false;
  const port = ownPort ?? (await freePort());
  const server = createServer((client) => {
    const other = connect(proxy.target, '127.0.0.1');
    const both = [client, other] as const;
    for (const [i, socket] of both.entries()) {
      const peer = both[1 - i]!;
      sockets.add(socket);
      socket.setNoDelay(true);
      socket.on('error', () => {});
      if (held) socket.pause();
      socket.on('close', () => {
        sockets.delete(socket);
        // What a cut network has swallowed is not known to the other end. What was sent before the end still arrives.
        if (!proxy.silent) peer.destroySoon();
      });
      socket.on('data', (bytes) => {
        if (!proxy.silent) peer.write(bytes);
      });
    }
  });
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  const proxy: TcpProxy = {
    port,
    target,
    silent: false,
    get held() {
      return held;
    },
    set held(on) {
      held = on;
      for (const socket of sockets) on ? socket.pause() : socket.resume();
    },
    cut,
    [Symbol.asyncDispose]: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      proxy.silent = false;
      cut();
      await closed;
    },
  };
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  return proxy;
};
