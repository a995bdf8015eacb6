/**
 * A tracing backend that costs as little as possible during a measurement: it responds with 200 and counts the spans of
 * every body. It inflates each distinct body once, and only when it is asked for the count: bodies with the same length
 * and the same gzip trailer (checksum and size) are the same. It is a process of its own; its parent controls it over
 * the channel.
 */
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { gunzipSync } from 'node:zlib';
import { scan } from '@agent-platform/otlp';

export interface SinkState {
  /** Requests since the last count, and when the last one arrived (ms since 1970). */
  requests: number;
  lastAt: number;
}

export interface SinkCount {
  /** By path, since the last count. */
  spans: Record<string, number>;
}

const response = Buffer.from(
  'HTTP/1.1 200 OK\r\ncontent-type: application/x-protobuf\r\ncontent-length: 0\r\n\r\n',
);
const headEnd = Buffer.from('\r\n\r\n');

const spansOf = new Map<string, number>();
const state: SinkState = { requests: 0, lastAt: 0 };
let spans: Record<string, number> = {};
let unknown: { path: string; key: string; body: Buffer }[] = [];

const take = (path: string, chunks: Buffer[], length: number): void => {
  state.requests++;
  state.lastAt = performance.timeOrigin + performance.now();
  let tail = chunks.at(-1)!;
  if (tail.length < 8) tail = Buffer.concat(chunks);
  const key = `${length} ${tail.toString('latin1', tail.length - 8)}`;
  const known = spansOf.get(key);
  if (known === undefined) unknown.push({ path, key, body: Buffer.concat(chunks) });
  else spans[path] = (spans[path] ?? 0) + known;
};

const serve = (socket: Socket): void => {
  let head: Buffer | null = null;
  let path = '';
  let length = 0;
  let missing = 0;
  let chunks: Buffer[] = [];
  socket.setNoDelay(true).on('error', () => {});
  socket.on('data', (data: Buffer) => {
    let rest = data;
    while (rest.length > 0) {
      if (missing === 0) {
        head = head === null ? rest : Buffer.concat([head, rest]);
        const end = head.indexOf(headEnd);
        if (end < 0) return;
        const text = head.toString('latin1', 0, end);
        const found = /\r\ncontent-length: *(\d+)/i.exec(text);
        // No one here sends in chunks. Such a request would hang the benchmark, so it throws.
        if (found === null) throw new Error(`a request without content-length: ${text}`);
        path = text.split(' ', 2)[1]!;
        length = Number(found[1]);
        missing = length;
        rest = head.subarray(end + 4);
        head = null;
        chunks = [];
        continue;
      }
      const chunk = rest.length > missing ? rest.subarray(0, missing) : rest;
      rest = rest.subarray(chunk.length);
      missing -= chunk.length;
      chunks.push(chunk);
      if (missing > 0) continue;
      take(path, chunks, length);
      chunks = [];
      socket.write(response);
    }
  });
};

const count = (): SinkCount => {
  for (const { path, key, body } of unknown) {
    let known = spansOf.get(key);
    if (known === undefined) {
      const plain = body[0] === 0x1f && body[1] === 0x8b ? gunzipSync(body) : body;
      known = scan(plain)?.spans ?? 0;
      spansOf.set(key, known);
    }
    spans[path] = (spans[path] ?? 0) + known;
  }
  const counted = { spans };
  unknown = [];
  spans = {};
  state.requests = 0;
  return counted;
};

const server = createServer(serve);
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }));
process.on('message', (command) => process.send?.(command === 'count' ? count() : state));
process.on('disconnect', () => process.exit(0));
