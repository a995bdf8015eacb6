import { startPostgres } from '../tests/harness/postgres.ts';
import { bodyOf, type Format } from './telemetry/bodies.ts';
import { startCollector } from './telemetry/collector.ts';
import { startPlatform } from './telemetry/platform.ts';
import { type Client, type Sink, startClient, startSink } from './telemetry/processes.ts';
import { cpuOf, peakOf, type Target } from './telemetry/target.ts';

/**
 * Traces from 8 connections through the receiver, the log and delivery to a sink that counts: the whole platform as a
 * process of its own, load and sink in two others. CPU and memory are the platform's alone. The other processes share
 * its cores, so spans/s says less than CPU.
 * `TELEMETRY_SECONDS` (default 2) of load for each measurement; `TELEMETRY_SIZES=50,500`,
 * `TELEMETRY_DESTINATIONS=1,2,5`, `TELEMETRY_IN=gzip,plain`, `TELEMETRY_FORMATS=protobuf,JSON`: only these rows;
 * `TELEMETRY_PROFILE`: a folder for CPU profiles of the platform; `OTELCOL_BIN`: measures the OpenTelemetry Collector
 * too, with its defaults and tuned.
 */
const connections = 8;
const seconds = Number(process.env.TELEMETRY_SECONDS ?? 2);
const warmRequestsPerSecond = 20;
const list = (name: string, text: string): string[] => (process.env[name] ?? text).split(',');

interface Case {
  spans: number;
  format: Format;
  gzip: boolean;
  destinations: number;
}

const cases = (): Case[] => {
  const sizes = list('TELEMETRY_SIZES', '50,500').map(Number);
  const destinations = list('TELEMETRY_DESTINATIONS', '1,2,5').map(Number);
  const found: Case[] = [];
  for (const format of list('TELEMETRY_FORMATS', 'protobuf,JSON') as Format[]) {
    for (const spans of sizes) {
      for (const encoding of list('TELEMETRY_IN', 'gzip,plain')) {
        // What comes in as JSON is delivered as protobuf: one destination shows the difference.
        for (const count of format === 'JSON' ? destinations.slice(0, 1) : destinations) {
          found.push({ spans, format, gzip: encoding === 'gzip', destinations: count });
        }
      }
    }
  }
  return found;
};

const round = (value: number): number => Math.round(value * 10) / 10;

/** Loads one target as fast as it goes, and then at half of that. */
export const measure = async (target: Target, client: Client, sink: Sink, one: Case) => {
  const { url, headers, pid, what } = target;
  const { spans, format, gzip, destinations } = one;
  const order = { url, headers, spans, format, gzip, connections };
  const warm = await client.load({ ...order, seconds: 1, perSecond: warmRequestsPerSecond });
  await sink.received(warm.requests * spans, destinations);
  const before = cpuOf(pid);
  const begun = performance.timeOrigin + performance.now();
  const peak = await client.load({ ...order, seconds });
  const total = peak.requests * spans;
  const received = await sink.received(total, destinations);
  const after = cpuOf(pid);
  const ms = received.lastAt - begun;
  /** The spans that its time was spent on: all of them, without those that it did not deliver. */
  const carried = received.complete ? total : received.spans / destinations;
  const half = received.complete
    ? await client.load({ ...order, seconds, perSecond: (peak.requests / ms) * 500 })
    : null;
  if (half) await sink.received(half.requests * spans, destinations);
  return {
    what,
    'spans/request': spans,
    in: `${format}, ${gzip ? 'gzip' : 'plain'}`,
    destinations,
    'acknowledged/s': Math.round((total / peak.ms) * 1_000),
    'delivered/s': Math.round((carried / ms) * 1_000),
    'CPU µs/span': round((after.all - before.all) / carried),
    // Go spreads its work over all its threads.
    'main thread': target.oneMainThread ? round((after.main - before.main) / carried) : null,
    'p50, p99 ms': `${round(peak.p50)}, ${round(peak.p99)}`,
    halfP99: half ? half.p99 : null,
    'at half': half ? `${round(half.p50)}, ${round(half.p99)}` : 'never drained',
    'peak MB': Math.round(peakOf(pid)),
    'sent twice': received.complete ? received.spans - total * destinations : null,
  };
};

/** Prints one table. */
export const run = async (): Promise<void> => {
  if (process.platform !== 'linux') {
    console.log('skipped: CPU and memory of another process are read from /proc');
    return;
  }
  const binary = process.env.OTELCOL_BIN;
  const postgres = await startPostgres();
  const sink = await startSink();
  const client = startClient();
  const rows: Awaited<ReturnType<typeof measure>>[] = [];
  try {
    for (const one of cases()) {
      const urls = Array.from({ length: one.destinations }, (_, i) => sink.url(i));
      const starts = [
        () => startPlatform(postgres.url, urls),
        ...(binary ? [false, true].map((tuned) => () => startCollector(binary, urls, tuned)) : []),
      ];
      for (const start of starts) {
        const target = await start();
        try {
          const row = await measure(target, client, sink, one);
          rows.push(row);
          console.log(
            `${row.what}, ${one.spans} spans per request, ${row.in}, ${one.destinations} destinations: ${row['CPU µs/span']} µs of CPU per span`,
          );
        } finally {
          await target.stop();
          await sink.count();
        }
      }
    }
  } finally {
    client.stop();
    sink.stop();
    await postgres.stop();
  }
  console.log(
    `\nSpans of ${Math.round(bodyOf(100, 'protobuf', false).length / 100)} bytes from ${connections} connections, durable before 200, out in gzip; load and sink on the same machine.\n`,
  );
  console.table(rows.map(({ halfP99: _, ...row }) => row));
  if (!binary) console.log('OTELCOL_BIN is not set: the OpenTelemetry Collector was not measured.');
};

if (import.meta.main) await run();
