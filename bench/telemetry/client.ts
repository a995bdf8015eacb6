/**
 * The load, in a process of its own that does as little as possible: requests are created beforehand and written whole
 * to bare sockets, and of a response only status and length are read. Its parent controls it over the channel.
 */
import { connect } from 'node:net';
import { bodyOf, type Format } from './bodies.ts';

/** One run of load: as fast as it is acknowledged, or `perSecond` requests. */
export interface LoadOrder {
  url: string;
  headers: Record<string, string>;
  format: Format;
  gzip: boolean;
  /** A request. */
  spans: number;
  connections: number;
  seconds: number;
  perSecond?: number;
}

export interface LoadReport {
  requests: number;
  ms: number;
  /** Of the acknowledgement, in ms, from when the request was due. */
  p50: number;
  p99: number;
  error?: string;
}

const variants = 16;
const made = new Map<string, Buffer[]>();
const bodiesOf = ({ spans, format, gzip }: LoadOrder): Buffer[] => {
  const key = `${spans} ${format} ${gzip}`;
  const bodies = made.get(key) ?? Array.from({ length: variants }, () => bodyOf(spans, format, gzip));
  made.clear();
  made.set(key, bodies);
  return bodies;
};

const requestsOf = (order: LoadOrder): Buffer[] => {
  const { host, pathname } = new URL(order.url);
  const head = Object.entries({
    host,
    ...order.headers,
    'content-type': order.format === 'JSON' ? 'application/json' : 'application/x-protobuf',
    ...(order.gzip ? { 'content-encoding': 'gzip' } : {}),
  })
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('');
  return bodiesOf(order).map((body) =>
    Buffer.concat([
      Buffer.from(`POST ${pathname} HTTP/1.1\r\n${head}content-length: ${body.length}\r\n\r\n`),
      body,
    ]),
  );
};

/** Whether a response of 200 is complete; throws for any other status. */
const isComplete = (response: string): boolean => {
  const end = response.indexOf('\r\n\r\n');
  if (end < 0) return false;
  const length = /\r\ncontent-length: *(\d+)/i.exec(response);
  if (!response.startsWith('HTTP/1.1 200 ') || length === null || length.index > end) {
    throw new Error(`got ${response.slice(0, 400)}`);
  }
  return response.length >= end + 4 + Number(length[1]);
};

const run = async (order: LoadOrder): Promise<LoadReport> => {
  const requests = requestsOf(order);
  const { port, hostname } = new URL(order.url);
  const latencies: number[] = [];
  const start = performance.now();
  const end = start + order.seconds * 1_000;
  let turn = 0;
  const client = (): Promise<void> =>
    new Promise((resolve, reject) => {
      let due = 0;
      let response = '';
      const next = (): void => {
        const mine = turn++;
        const now = performance.now();
        due = order.perSecond === undefined ? now : start + (mine * 1_000) / order.perSecond;
        if (due >= end) {
          socket.destroy();
          resolve();
          return;
        }
        const send = () => socket.write(requests[mine % requests.length]!);
        if (due > now) setTimeout(send, due - now);
        else send();
      };
      const socket = connect({
        port: Number(port),
        host: hostname,
        onread: {
          buffer: Buffer.alloc(64 * 1024),
          callback: (length, buffer) => {
            response += (buffer as Buffer).toString('latin1', 0, length);
            try {
              if (isComplete(response)) {
                response = '';
                // From when it was due: the time that a request waits before it is sent counts.
                latencies.push(performance.now() - due);
                next();
              }
            } catch (error) {
              reject(error);
            }
            return true;
          },
        },
      });
      socket.setNoDelay(true).once('connect', next).once('error', reject);
      socket.once('close', () => reject(new Error('the connection was closed')));
    });
  await Promise.all(Array.from({ length: order.connections }, client));
  const ms = performance.now() - start;
  latencies.sort((a, b) => a - b);
  const at = (share: number): number => latencies[Math.floor(latencies.length * share)] ?? 0;
  return { requests: latencies.length, ms, p50: at(0.5), p99: at(0.99) };
};

process.on('message', (order: LoadOrder) => {
  run(order).then(
    (report) => process.send?.(report),
    (error) => process.send?.({ error: String(error) }),
  );
});
process.on('disconnect', () => process.exit(0));
