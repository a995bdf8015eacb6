/**
 * The telemetry path behind its own port, in a process that tests kill and starve, and whose clock they move. It is
 * `fork`ed with `ServerOptions` as JSON (by `spawnTelemetry` in tests/faults/scenarios/telemetry-process.ts).
 */
import { createServer } from 'node:http';
import { join } from 'node:path';
import { openFileLog } from '@agent-platform/otlp/log';
import { openEmbedded, openPostgres } from '../../src/database/index.ts';
import type { Services } from '../../src/feature.ts';
import { ShiftedClock } from '../../src/lib/clock.ts';
import { createEgress } from '../../src/lib/egress.ts';
import { silentLogger } from '../../src/lib/log.ts';
import { defaultSettings, type Settings } from '../../src/settings/index.ts';
import type { Health } from '../../src/telemetry/index.ts';
import { TelemetryPath } from '../../src/telemetry/telemetry-path.ts';
import { createTraceStore } from '../../src/traces/index.ts';
import { TestDestinations } from './test-destinations.ts';

export interface TestIntegration {
  number: number;
  url: string;
}

export interface ServerOptions {
  directory: string;
  port: number;
  /** Every agent's spans go to all of them. */
  integrations: TestIntegration[];
  segmentBytes?: number;
  retentionMegabytes?: number;
  requestTimeoutMs?: number;
  /** Keeps traces in this database; null: in an embedded one in `directory`, migrated. Its counters are those of 0. */
  store?: { databaseUrl: string | null };
}

/** Sets the integrations, moves the clock, and receives `CountersByIntegration` as the reply. */
export interface Command {
  integrations?: TestIntegration[];
  advanceMs?: number;
}

/** What became of the spans of every integration that ever existed, and how many dead letters are on disk. */
export type CountersByIntegration = Record<number, Health & { removed: boolean; deadLetterFiles: number }>;

const options = JSON.parse(process.argv[2]!) as ServerOptions;
const clock = new ShiftedClock();
const destinations = new TestDestinations();

const setIntegrations = (wanted: TestIntegration[]): void => {
  for (const { number } of destinations.all()) {
    if (!wanted.some((one) => one.number === number)) destinations.remove(number);
  }
  for (const { number, url } of wanted) {
    if (destinations.get(number)?.url !== url) destinations.set(number, url);
  }
};
setIntegrations(options.integrations);

const openStore = async ({ databaseUrl }: NonNullable<ServerOptions['store']>) => {
  const db = await (databaseUrl === null
    ? openEmbedded(options.directory, silentLogger)
    : openPostgres(databaseUrl, silentLogger));
  const limits: Settings = {
    ...defaultSettings,
    TRACE_STORE_SPANS_PER_SECOND: 1_000_000,
    TRACE_RETENTION_MB: 100_000,
  };
  const settings = { get: () => limits, onChange: () => {} };
  return createTraceStore({ db, settings, log: silentLogger } as unknown as Services).sink;
};
const sink = options.store && (await openStore(options.store));

const telemetry = new TelemetryPath({
  openLog: () =>
    openFileLog({
      directory: join(options.directory, 'telemetry'),
      now: () => clock.now(),
      ...(options.segmentBytes === undefined ? {} : { segmentBytes: options.segmentBytes }),
    }),
  destinations,
  ...(sink ? { sink } : {}),
  clock,
  egress: createEgress({ deny: [] }),
  log: silentLogger,
  retention: () => ({
    milliseconds: 72 * 3_600_000,
    bytes: (options.retentionMegabytes ?? 10_240) * 1024 * 1024,
  }),
  ...(options.requestTimeoutMs === undefined ? {} : { requestTimeoutMs: options.requestTimeoutMs }),
});
await telemetry.open();

const allCounters = async (): Promise<CountersByIntegration> => {
  const all: CountersByIntegration = {};
  for (const { number, removed, counters } of telemetry.integrations()) {
    const health = await telemetry.ownHealth(number);
    const deadLetters = await telemetry.deadLetters.list(number, { limit: 1_000_000 });
    all[number] = { ...health!, ...counters, removed, deadLetterFiles: deadLetters.length };
  }
  const stored = sink && (await telemetry.ownSinkHealth());
  if (stored) all[0] = { ...stored, removed: false, deadLetterFiles: 0 };
  return all;
};

const server = createServer((request, response) => {
  telemetry.receiver
    .receive({
      contentType: request.headers['content-type'],
      contentEncoding: request.headers['content-encoding'],
      body: request,
    })
    .then(({ status, contentType, headers, body }) =>
      response.writeHead(status, { 'content-type': contentType, ...headers }).end(body),
    )
    .catch(() => response.destroy());
});
server.keepAliveTimeout = 60_000;

// The state that the last process left: delivery has not begun.
process.send!(await allCounters());
await new Promise<void>((resolve) => server.listen(options.port, '127.0.0.1', resolve));
telemetry.startDelivery();
process.send!('ready');

process.on('message', async ({ integrations, advanceMs }: Command) => {
  if (integrations) setIntegrations(integrations);
  if (advanceMs) {
    clock.advance(advanceMs);
    telemetry.wake();
  }
  process.send!(await allCounters());
});
process.on('disconnect', () => process.exit());
