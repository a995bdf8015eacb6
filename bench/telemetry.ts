import { fork } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { encodeRequest } from '../tests/harness/otlp-encode.ts';
import { createDatabase, dropDatabase, startPostgres } from '../tests/harness/postgres.ts';
import { spawnPlatform } from '../tests/harness/process.ts';
import { until } from '../tests/harness/wait.ts';
import { startCollector } from './telemetry/collector.ts';

/**
 * Traces from 8 connections through the receiver, the log and delivery to a sink that counts: the whole platform as
 * a process of its own, against a sink in another. CPU and memory are the platform's alone. `TELEMETRY_SECONDS`
 * (default 4) of load a row; `TELEMETRY_SIZES=50,500`, `TELEMETRY_DESTINATIONS=1,2,5`; `OTELCOL_BIN`: the
 * OpenTelemetry Collector beside it.
 */
const connections = 8;
const seconds = Number(process.env.TELEMETRY_SECONDS ?? 4);
const list = (text: string): number[] => text.split(',').map(Number);

interface Row {
  what: string;
  'spans/request': number;
  in: 'gzip' | 'plain';
  destinations: number;
  'acknowledged/s': number;
  'delivered/s': number;
  'CPU µs/span': number;
  'p99 ms at half': number;
  'peak MB': number;
}

const words =
  'order customer invoice the of agent was asked to look up price stock and answer in Berlin'.split(' ');
/** Text as models write it: words at random, so that it compresses as text does. */
const prose = (length: number): string => {
  let text = '';
  while (text.length < length)
    text += `${words[Math.floor(Math.random() * words.length)]}${Math.random() < 0.2 ? Math.random().toString(36).slice(2, 8) : ''} `;
  return text.slice(0, length);
};
const hex = (bytes: number): string =>
  Array.from({ length: bytes * 2 }, () => Math.floor(Math.random() * 16).toString(16)).join('');

/** Spans of about 2 KB of one agent. */
const bodyOf = (spans: number): Buffer =>
  encodeRequest([
    {
      attributes: { 'service.name': 'bench', 'gen_ai.agent.id': 'bench-agent' },
      scopes: [
        {
          spans: Array.from({ length: spans }, (_, i) => ({
            traceId: hex(16),
            spanId: hex(8),
            name: `chat ${i}`,
            attributes: {
              'gen_ai.operation.name': 'chat',
              'gen_ai.request.model': 'mock-1',
              'gen_ai.usage.input_tokens': Math.floor(Math.random() * 4_000),
              'gen_ai.usage.output_tokens': Math.floor(Math.random() * 900),
              'gen_ai.input.messages': prose(1_000),
              'gen_ai.output.messages': prose(700),
            },
          })),
        },
      ],
    },
  ]);

interface Target {
  what: string;
  pid: number;
  url: string;
  headers: Record<string, string>;
  stop: () => Promise<unknown>;
}

/** User and system time of a process so far, in µs (Linux, /proc; clock ticks of 10 ms). */
const cpuOf = (pid: number): number => {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10_000;
};
const peakOf = (pid: number): number =>
  Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1024;

interface Load {
  requests: number;
  ms: number;
  p99: number;
}

/** Sends for `seconds`, as fast as it is acknowledged, or at `perSecond` requests. Throws where one is not answered 200. */
const load = async (
  target: Target,
  bodies: readonly Buffer[],
  gzip: boolean,
  perSecond?: number,
): Promise<Load> => {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const headers = {
    ...target.headers,
    'content-type': 'application/x-protobuf',
    ...(gzip ? { 'content-encoding': 'gzip' } : {}),
  };
  const latencies: number[] = [];
  const post = (body: Buffer): Promise<number> =>
    new Promise((resolve, reject) => {
      const sent = request(
        target.url,
        { agent, method: 'POST', headers: { ...headers, 'content-length': body.length } },
        (answer) => {
          answer.resume();
          answer.once('end', () => resolve(answer.statusCode!));
        },
      );
      sent.once('error', reject);
      sent.end(body);
    });
  const start = performance.now();
  const end = start + seconds * 1_000;
  let next = 0;
  const client = async (): Promise<void> => {
    for (;;) {
      const turn = next++;
      const due = perSecond === undefined ? performance.now() : start + (turn * 1_000) / perSecond;
      if (due >= end) return;
      if (due > performance.now()) await sleep(due - performance.now());
      const status = await post(bodies[turn % bodies.length]!);
      // From when it was due: a request that had to wait for its turn has waited.
      latencies.push(performance.now() - due);
      if (status !== 200) throw new Error(`${target.what} answered ${status}`);
    }
  };
  await Promise.all(Array.from({ length: connections }, client));
  agent.destroy();
  latencies.sort((a, b) => a - b);
  return {
    requests: latencies.length,
    ms: performance.now() - start,
    p99: latencies[Math.floor(latencies.length * 0.99)]!,
  };
};

const startSink = async () => {
  const child = fork(new URL('./telemetry/sink.ts', import.meta.url));
  const answer = <T>(): Promise<T> =>
    new Promise((resolve) => child.once('message', (message) => resolve(message as T)));
  const { port } = await answer<{ port: number }>();
  return {
    /** Spans by path, since the last call. */
    count: async () => {
      const counted = answer<{ spans: Record<string, number>; bytes: number; requests: number }>();
      child.send('count');
      return counted;
    },
    url: (i: number) => `http://127.0.0.1:${port}/${i}`,
    stop: () => child.disconnect(),
  };
};
type Sink = Awaited<ReturnType<typeof startSink>>;

/** With a PostgreSQL beside it: the embedded database alone holds several hundred MB. */
const startPlatform = async (postgres: string, urls: readonly string[]): Promise<Target> => {
  const databaseUrl = await createDatabase(postgres);
  const platform = await spawnPlatform({ databaseUrl, env: { LOG_LEVEL: 'error' } });
  const headers = { authorization: `Bearer ${platform.key}` };
  const api = async (method: string, path: string, body: object): Promise<void> => {
    const answer = await fetch(`${platform.url}/api/v2${path}`, {
      method,
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    if (!answer.ok) throw new Error(await answer.text());
  };
  await api('PATCH', '/advanced-settings', { RATE_LIMIT_REQUESTS_PER_SECOND: 0 });
  for (const url of urls) {
    const settings = { provider: 'otlp_custom_headers', url, headers: { 'X-Bench': '1' } };
    await api('POST', '/observability/integrations', { version: '1', settings });
  }
  return {
    what: 'Agent Platform',
    pid: platform.pid,
    url: `${platform.url}/v1/traces`,
    headers,
    stop: async () => {
      await platform.stop();
      await dropDatabase(databaseUrl);
    },
  };
};

const measure = async (
  start: (urls: readonly string[]) => Promise<Target>,
  sink: Sink,
  spans: number,
  gzip: boolean,
  destinations: number,
): Promise<Row> => {
  const plain = Array.from({ length: 16 }, () => bodyOf(spans));
  const bodies = gzip ? plain.map((one) => gzipSync(one, { level: 6 })) : plain;
  const urls = Array.from({ length: destinations }, (_, i) => sink.url(i));
  const target = await start(urls);
  try {
    let received = 0;
    /** Until the sink has everything, at every destination. */
    const drained = async (requests: number): Promise<void> => {
      const wanted = requests * spans * destinations;
      await until(
        async () => {
          for (const count of Object.values((await sink.count()).spans)) received += count;
          return received >= wanted;
        },
        120_000,
        100,
      );
      received = 0;
    };
    const warm = await load(target, bodies.slice(0, 4), gzip, 20);
    await drained(warm.requests);
    const cpu = cpuOf(target.pid);
    const begun = performance.now();
    const peak = await load(target, bodies, gzip);
    await drained(peak.requests);
    const ms = performance.now() - begun;
    const total = peak.requests * spans;
    const used = cpuOf(target.pid) - cpu;
    const paced = await load(target, bodies, gzip, ((peak.requests / ms) * 1_000) / 2);
    return {
      what: target.what,
      'spans/request': spans,
      in: gzip ? 'gzip' : 'plain',
      destinations,
      'acknowledged/s': Math.round((total / peak.ms) * 1_000),
      'delivered/s': Math.round((total / ms) * 1_000),
      'CPU µs/span': Math.round((used / total) * 10) / 10,
      'p99 ms at half': Math.round(paced.p99 * 10) / 10,
      'peak MB': Math.round(peakOf(target.pid)),
    };
  } finally {
    await target.stop();
    await sink.count();
  }
};

/** Prints one table. */
export const run = async (): Promise<void> => {
  if (process.platform !== 'linux') {
    console.log('skipped: CPU and memory of another process are read from /proc');
    return;
  }
  const sizes = list(process.env.TELEMETRY_SIZES ?? '50,500');
  const counts = list(process.env.TELEMETRY_DESTINATIONS ?? '1,2,5');
  const binary = process.env.OTELCOL_BIN;
  const postgres = await startPostgres();
  const sink = await startSink();
  const rows: Row[] = [];
  try {
    for (const spans of sizes) {
      for (const gzip of [true, false]) {
        for (const destinations of counts) {
          rows.push(
            await measure((urls) => startPlatform(postgres.url, urls), sink, spans, gzip, destinations),
          );
          for (const tuned of binary ? [false, true] : []) {
            const what = tuned ? 'Collector, gzip 1' : 'Collector';
            const start = async (urls: readonly string[]): Promise<Target> => ({
              what,
              headers: {},
              ...(await startCollector(binary!, urls, tuned)),
            });
            rows.push(await measure(start, sink, spans, gzip, destinations));
          }
        }
      }
    }
  } finally {
    sink.stop();
    await postgres.stop();
  }
  console.log(
    `\nSpans of ${Math.round(bodyOf(100).length / 100)} bytes from ${connections} connections, durable before 200, out in gzip; client and sink on the same machine.\n`,
  );
  console.table(rows);
  if (!binary) console.log('OTELCOL_BIN is not set: the OpenTelemetry Collector was not measured beside it.');
};

if (import.meta.main) await run();
