import { fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { openFileLog } from '@agent-platform/otlp/log';
import { encodeRequest } from '../packages/otlp/tests/encode.ts';
import { createEgress } from '../src/lib/egress.ts';
import { silentLogger } from '../src/lib/log.ts';
import { createDelivery } from '../src/telemetry/delivery/delivery.ts';
import type { Destination } from '../src/telemetry/routing.ts';
import { until } from '../tests/harness/wait.ts';

/**
 * Delivery alone: gzip requests of 50 spans that are forwarded as they arrived, from the log to a backend in another
 * process that responds after 0, 20 and 100 ms. It runs twice: with a backlog that does not grow, for the CPU of a
 * request; then with `DELIVERY_RATE` requests per second (default 1,000) for `DELIVERY_SECONDS` (default 4), for what
 * is delivered in that time and how many requests were in flight at once.
 */
const rate = Number(process.env.DELIVERY_RATE ?? 1_000);
const seconds = Number(process.env.DELIVERY_SECONDS ?? 4);
const backlog = Number(process.env.DELIVERY_BACKLOG ?? 3_000);
const spans = 50;

/** The process of the backend: counts requests and how many were there at once. */
const serve = (delayMs: number): void => {
  let requests = 0;
  let present = 0;
  let most = 0;
  const server = createServer((request, response) => {
    most = Math.max(most, ++present);
    request.resume().once('end', async () => {
      if (delayMs > 0) await sleep(delayMs);
      requests++;
      present--;
      response.writeHead(200, { 'content-type': 'application/x-protobuf', 'content-length': 0 }).end();
    });
  });
  server.listen(0, '127.0.0.1', () => process.send!({ port: (server.address() as AddressInfo).port }));
  process.on('message', () => {
    process.send!({ requests, most });
    requests = 0;
    most = 0;
  });
  process.on('disconnect', () => process.exit(0));
};

const startBackend = async (delayMs: number) => {
  const child = fork(fileURLToPath(import.meta.url), ['serve', String(delayMs)]);
  const nextMessage = <T>(): Promise<T> =>
    new Promise((resolve) => child.once('message', (message) => resolve(message as T)));
  const { port } = await nextMessage<{ port: number }>();
  return {
    url: `http://127.0.0.1:${port}/v1/traces`,
    /** Since the last call. */
    count: async () => {
      const counted = nextMessage<{ requests: number; most: number }>();
      child.send('count');
      return counted;
    },
    stop: () => child.disconnect(),
  };
};

/** Spans of about 2 KB that compress to a quarter. */
const body = gzipSync(
  encodeRequest([
    {
      scopes: [
        {
          spans: Array.from({ length: spans }, () => ({
            traceId: randomBytes(16).toString('hex'),
            spanId: randomBytes(8).toString('hex'),
            name: 'chat',
            attributes: { 'gen_ai.output.messages': randomBytes(450).toString('hex').repeat(2) },
          })),
        },
      ],
    },
  ]),
);
const slice = { bytes: body, gzip: true, spans, routes: [1] };

const measure = async (delayMs: number) => {
  const directory = await mkdtemp(join(tmpdir(), 'ap-bench-delivery-'));
  const backend = await startBackend(delayMs);
  const egress = createEgress({ deny: [] });
  const telemetryLog = await openFileLog({ directory });
  const destination: Destination = {
    number: 1,
    id: 'bench',
    provider: 'otlp_custom_headers',
    url: backend.url,
    headers: [['x-bench', '1']],
    resourceAttributes: {},
    enabled: true,
    revision: 1,
  };
  await telemetryLog.register(1);
  const append = (requests: number) =>
    Promise.all(Array.from({ length: requests }, () => telemetryLog.append([slice])));
  const first = delayMs === 0 ? backlog : 20;
  for (let left = first; left > 0; left -= 100) await append(Math.min(left, 100));
  const delivery = createDelivery({
    telemetryLog,
    destinations: {
      table: () => ({ forAgent: () => [1] }),
      get: () => destination,
      all: () => [destination],
      onChange: () => () => {},
    },
    egress,
    clock: { now: Date.now },
    random: Math.random,
    log: silentLogger,
    requestTimeoutMs: 30_000,
    retention: () => ({ milliseconds: 1e9, bytes: 1e12 }),
  });
  try {
    const cpu = process.cpuUsage();
    const begun = performance.now();
    delivery.start();
    await until(() => telemetryLog.counters(1).queued === 0, 120_000, 20);
    const ms = performance.now() - begun;
    const { user, system } = process.cpuUsage(cpu);
    const { most: alone } = await backend.count();
    const end = performance.now() + seconds * 1_000;
    let due = performance.now();
    while (due < end) {
      void append(Math.round(rate / 50));
      due += 20;
      await sleep(Math.max(0, due - performance.now()));
    }
    const { requests, most } = await backend.count();
    return {
      'responds after ms': delayMs,
      'CPU µs/request': Math.round((user + system) / first),
      'backlog requests/s': Math.round((first / ms) * 1_000),
      'at once': alone,
      'under load requests/s': Math.round(requests / seconds),
      'at once, load': most,
    };
  } finally {
    await delivery.stop();
    await telemetryLog.close();
    await egress.close();
    backend.stop();
    await rm(directory, { recursive: true });
  }
};

/** Prints one table. */
export const run = async (): Promise<void> => {
  const rows = [];
  for (const delayMs of [0, 20, 100]) rows.push(await measure(delayMs));
  console.log(`Requests of ${spans} spans, ${Math.round(body.length / 1_000)} KB of gzip each.\n`);
  console.table(rows);
};

if (process.argv[2] === 'serve') serve(Number(process.argv[3]));
else if (import.meta.main) await run();
