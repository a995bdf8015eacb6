import type { AddressInfo } from 'node:net';
import { connect, createServer, type Socket } from 'node:net';

/** One statement of a client, before it is forwarded. */
export interface Statement {
  text: string;
  /** The statements of its transaction so far, itself last and `begin` first; only itself outside of one. */
  transaction: readonly string[];
}

/**
 * What happens to a statement: it is forwarded, or the connection is cut before it, or after it ran but before its
 * response.
 */
export type Decision = 'pass' | 'cut before' | 'cut after';

export interface PostgresProxy extends AsyncDisposable {
  /** The database's url, through the proxy. */
  readonly url: string;
  /** Called for every statement, which waits for the decision. */
  decide: (statement: Statement) => Decision;
  /**
   * True: nothing is forwarded in either direction and no connection is closed, as when a network is cut in silence.
   */
  silent: boolean;
  /** Called at the moment of a cut, before the connection closes. */
  onCut: () => Promise<void>;
}

/** Calls `message` for each whole message of a stream of the PostgreSQL protocol; the first of a client has no type. */
const framed = (untypedFirst: boolean, message: (type: string, bytes: Buffer) => void) => {
  let rest: Buffer = Buffer.alloc(0);
  let untyped = untypedFirst;
  return (chunk: Buffer): void => {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    for (;;) {
      const head = untyped ? 0 : 1;
      if (rest.length < head + 4) return;
      const length = head + rest.readInt32BE(head);
      if (rest.length < length) return;
      const bytes = rest.subarray(0, length);
      rest = rest.subarray(length);
      const type = untyped ? '' : String.fromCharCode(bytes[0]!);
      untyped = false;
      message(type, bytes);
    }
  };
};

const cString = (bytes: Buffer, from: number): [text: string, next: number] => {
  const end = bytes.indexOf(0, from);
  return [bytes.toString('utf8', from, end), end + 1];
};

/**
 * A proxy in front of PostgreSQL that understands enough of its protocol to know each statement. It can cut the
 * connection at a statement's boundaries, so that a COMMIT is never sent, or runs and its acknowledgement is lost.
 */
export const startPostgresProxy = async (databaseUrl: string, port = 0): Promise<PostgresProxy> => {
  const target = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const database = connect(Number(target.port), target.hostname);
    const both = [client, database];
    let cutting = false;
    const close = () => {
      for (const socket of both) socket.destroy();
    };
    for (const socket of both) {
      sockets.add(socket);
      socket.setNoDelay(true);
      socket.on('error', close);
      socket.on('close', () => {
        sockets.delete(socket);
        close();
      });
    }
    const cut = () => {
      cutting = true;
      proxy.onCut().finally(close);
    };

    const texts = new Map<string, string>();
    let transaction: string[] = [];
    let text = '';
    /** The messages of one statement, up to its Query or Sync. */
    const held: Buffer[] = [];
    let cutAtReady = false;
    /** Statements that wait for the one before: the platform may send several at once. */
    const waiting: (() => void)[] = [];
    let isBusy = false;
    const next = () => {
      const forward = waiting.shift();
      isBusy = forward !== undefined;
      forward?.();
    };
    const forward = (statement: string, message: Buffer) => {
      const begins = /^\s*(begin|start transaction)/i.test(statement);
      if (begins) transaction = [];
      const inside = transaction.length > 0 || begins;
      if (inside) transaction.push(statement);
      const decision = proxy.decide({
        text: statement,
        transaction: inside ? [...transaction] : [statement],
      });
      if (/^\s*(commit|rollback)/i.test(statement)) transaction = [];
      if (decision === 'cut before') return cut();
      cutAtReady = decision === 'cut after';
      database.write(message);
    };
    client.on(
      'data',
      framed(true, (type, bytes) => {
        if (cutting || proxy.silent) return;
        held.push(bytes);
        if (type === 'P') {
          const [name, next] = cString(bytes, 5);
          text = cString(bytes, next)[0];
          texts.set(name, text);
        } else if (type === 'B') {
          const [, next] = cString(bytes, 5);
          text = texts.get(cString(bytes, next)[0]) ?? '';
        } else if (type === 'Q') text = cString(bytes, 5)[0];
        else if (type !== 'S') {
          // Describe and Execute wait for their Sync; all else (start-up, password, end) is forwarded at once.
          if (type === 'D' || type === 'E') return;
          database.write(Buffer.concat(held.splice(0)));
          return;
        }
        if (type === 'P' || type === 'B') return;
        const [statement, message] = [text, Buffer.concat(held.splice(0))];
        waiting.push(() => forward(statement, message));
        if (!isBusy) next();
      }),
    );
    database.on(
      'data',
      framed(false, (type, bytes) => {
        if (cutting || proxy.silent) return;
        // Ready for query: the statement has run.
        if (cutAtReady && type === 'Z') return cut();
        if (!cutAtReady) client.write(bytes);
        if (type === 'Z') next();
      }),
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  const url = new URL(databaseUrl);
  url.port = String((server.address() as AddressInfo).port);
  const proxy: PostgresProxy = {
    url: url.href,
    decide: () => 'pass',
    silent: false,
    onCut: async () => {},
    [Symbol.asyncDispose]: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
  return proxy;
};
