/**
 * A tracing backend that costs as little as can be while it is measured against: it keeps the bodies, answers 200,
 * and counts the spans when it is asked. A process of its own, driven over the parent's channel.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';
import { scan } from '../../src/telemetry/wire.ts';

let kept: { path: string; body: Buffer }[] = [];

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    kept.push({ path: request.url ?? '', body: Buffer.concat(chunks) });
    response.writeHead(200, { 'content-type': 'application/x-protobuf', 'content-length': 0 });
    response.end();
  });
});
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }));

process.on('message', () => {
  const spans: Record<string, number> = {};
  let bytes = 0;
  for (const { path, body } of kept) {
    bytes += body.length;
    const plain = body[0] === 0x1f && body[1] === 0x8b ? gunzipSync(body) : body;
    spans[path] = (spans[path] ?? 0) + (scan(plain)?.spans ?? 0);
  }
  process.send?.({ spans, bytes, requests: kept.length });
  kept = [];
});
process.on('disconnect', () => process.exit(0));
