import { loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { openPostgres, sql } from '../src/database/index.ts';
import { newId } from '../src/lib/ids.ts';
import { silentLogger } from '../src/lib/log.ts';
import { type Client, client } from '../tests/harness/http.ts';
import { type Postgres, startPostgres } from '../tests/harness/postgres.ts';
import { spawnPlatform } from '../tests/harness/process.ts';
import { body, ms } from './data/rig.ts';
import { percentile } from './runtime/items.ts';
import { startPlatform } from './telemetry/platform.ts';
import { startClient, startSink } from './telemetry/processes.ts';
import { cpuOf } from './telemetry/target.ts';
import { measureJaeger } from './traces/jaeger.ts';
import { requestOf, requestsOf, traceOf } from './traces/spans.ts';
import { openStore, postgresCpu } from './traces/store.ts';

/**
 * The store of traces on PostgreSQL with fsync: what a span costs and takes, reads of a store with many, how soon a span
 * is visible, and what the store takes of what is received.
 * `TRACES_SPANS` (default 2,000,000): in the store that is read; `TRACES_PARTS=store,reads,visible,ingest,peer`: only these.
 * `JAEGER_BIN`: the program of Jaeger, as the peer.
 */
const stored = Number(process.env.TRACES_SPANS ?? 2_000_000);
const parts = new Set((process.env.TRACES_PARTS ?? 'store,reads,visible,ingest,peer').split(','));

interface Figure {
  what: string;
  goal: string;
  here: string;
}

/** Spans are stored this many at a time: about what one replica gets in a quarter of a second at 10,000 a second. */
const atOnce = 2_500;
const measured = 250_000;

const storeCosts = async (postgres: Postgres): Promise<Figure[]> => {
  const figures: Figure[] = [];
  for (const spans of [10, 5, 2, 1]) {
    const { db, writer, keeper } = await openStore(await postgres.createDatabase());
    const log = newId();
    const requests = requestsOf(measured / spans, spans, Date.now());
    const warm = requests.splice(0, 100);
    let ordinal = 0;
    const store = async (some: typeof requests): Promise<void> => {
      await writer.store(log, ordinal, some);
      ordinal += some.reduce((sum, request) => sum + request.spans, 0);
    };
    await store(warm);
    const [before, database, begun, from] = [process.cpuUsage(), postgresCpu(), performance.now(), ordinal];
    for (let i = 0; i < requests.length; i += atOnce / 100) await store(requests.slice(i, i + atOnce / 100));
    const took = performance.now() - begun;
    const { user, system } = process.cpuUsage(before);
    const count = ordinal - from;
    const bytes = (await keeper.list()).reduce((sum, part) => sum + part.bytes, 0);
    figures.push(
      {
        what: `disk a span, ${spans} a trace, no content`,
        goal: spans === 10 ? '150 B' : spans === 2 ? '300 B' : '',
        here: `${Math.round(bytes / ordinal)} B`,
      },
      {
        what: `CPU a span, ${spans} a trace: platform + database`,
        goal: spans === 10 ? '11 µs (platform)' : '',
        here: `${((user + system) / count).toFixed(1)} + ${((postgresCpu() - database) / count).toFixed(1)} µs, ${Math.round((count / took) * 1_000)} spans/s`,
      },
    );
    await db.close();
  }
  return figures;
};

/** Fills a store with `stored` spans of a week, and one trace of 10,000. Resolves to the id of that. */
const fill = async (url: string): Promise<string> => {
  const { db, writer, keeper } = await openStore(url, {
    TRACE_RETENTION_MB: 2_048,
    TRACE_RETENTION_DAYS: 90,
  });
  const log = newId();
  let ordinal = 0;
  const big = traceOf(10_000, Date.now() - 3_600_000);
  const chunk = 20_000;
  const end = Date.now();
  for (let left = stored; left > 0; left -= chunk) {
    const requests = requestsOf(chunk / 10, 10, end - Math.floor((left / stored) * 7 * 86_400_000), 0.1);
    if (ordinal === 0)
      for (let i = 0; i < big.length; i += 500) requests.push(requestOf(big.slice(i, i + 500)));
    for (let i = 0; i < requests.length; i += atOnce / 100) {
      const some = requests.slice(i, i + atOnce / 100);
      await writer.store(log, ordinal, some);
      ordinal += some.reduce((sum, request) => sum + request.spans, 0);
    }
    await keeper.check();
  }
  await db.run((executor) => sql`vacuum analyze`.execute(executor));
  await db.close();
  return big[0]!.traceId!;
};

const agent = '019a0000-0000-7000-8000-000000000003';
/** Searches as people make them, from the common to those that no index fits. */
const searches = [
  '',
  'sort=duration',
  'sort=cost',
  `agent_id=${agent}`,
  `agent_id=${agent}&sort=cost`,
  `agent_id=${agent}&sort=duration&status=error`,
  'status=error',
  'status=error&sort=duration',
  'model=gpt-5.2',
  'model=gpt-5.2&tool=pay',
  'tool=pay&sort=cost',
  'error_type=timeout',
  'error_type=timeout&model=gpt-5.2&sort=duration',
  'min_duration_ms=20000',
  'min_duration_ms=20000&min_cost_nano_usd=100000000',
  'service=shop&sort=cost',
  'service=nowhere',
  'model=nothing',
  `work_item_id=${newId()}`,
  `from=${new Date(Date.now() - 5 * 86_400_000).toISOString()}&to=${new Date(Date.now() - 4 * 86_400_000).toISOString()}&sort=duration`,
];

const timed = async (fn: () => Promise<unknown>): Promise<number> => {
  const begun = performance.now();
  await fn();
  return performance.now() - begun;
};

const reads = async (postgres: Postgres): Promise<Figure[]> => {
  const databaseUrl = await postgres.createDatabase();
  const begun = performance.now();
  const big = await fill(databaseUrl);
  console.log(`${stored} spans stored in ${Math.round((performance.now() - begun) / 1_000)} s`);
  await using platform = await spawnPlatform({ databaseUrl, env: { LOG_LEVEL: 'warn' } });
  const api = client(`${platform.url}/api/v2`, platform.key);
  await body(api.patch('/advanced-settings', { TRACE_RETENTION_MB: 1_048_576, TRACE_RETENTION_DAYS: 90 }));
  const control = await openPostgres(databaseUrl, silentLogger, 1);
  const took: number[] = [];
  const select: number[] = [];
  const slow: string[] = [];
  for (let round = 0; round < 10; round++) {
    for (const search of searches) {
      const one = await timed(() => body(api.get(`/traces?${search}`)));
      select.push(await timed(() => control.ping()));
      // The first round fills the caches of the database.
      if (round === 0) continue;
      took.push(one);
      if (round === 1 && one > 100) slow.push(`${search || 'newest'} ${Math.round(one)} ms`);
    }
  }
  const whole = `/traces/${big}`;
  const bigTook: number[] = [];
  for (let i = 0; i < 21; i++) {
    const one = await timed(() => body(api.get(whole)));
    if (i > 0) bigTook.push(one);
  }
  const compressed = await fetch(`${platform.url}/api/v2${whole}`, {
    headers: { authorization: `Bearer ${platform.key}`, 'accept-encoding': 'gzip' },
  });
  await compressed.arrayBuffer();
  const { bytes } = await body(client(`${platform.url}/app/api`, platform.key).get('/trace-store'));
  await control.close();
  if (slow.length > 0) console.log(`Searches of more than 100 ms: ${slow.join('; ')}`);
  return [
    {
      what: `search among ${stored} spans, p95 (median; select 1 p95)`,
      goal: '500 ms',
      here: `${ms(percentile(took, 0.95))} (${ms(percentile(took, 0.5))}; ${ms(percentile(select, 0.95))})`,
    },
    {
      what: 'trace of 10,000 spans, p95; compressed',
      goal: '300 ms; 500 kB',
      here: `${ms(percentile(bigTook, 0.95))}; ${Math.round(Number(compressed.headers.get('content-length')) / 1_000)} kB`,
    },
    { what: 'disk a span of that store', goal: '150 B', here: `${Math.round(bytes / stored)} B` },
  ];
};

const perSecond = 5_000;

/** Sends 5,000 spans a second, and looks for one trace of each second until it is there. */
const visible = async (postgres: Postgres): Promise<Figure[]> => {
  await using platform = await spawnPlatform({
    databaseUrl: await postgres.createDatabase(),
    env: { LOG_LEVEL: 'warn' },
  });
  const api: Client = client(`${platform.url}/api/v2`, platform.key);
  const headers = { authorization: `Bearer ${platform.key}`, 'content-type': 'application/x-protobuf' };
  const send = async (bytes: Buffer): Promise<void> => {
    const response = await fetch(`${platform.url}/v1/traces`, {
      method: 'POST',
      headers,
      body: new Uint8Array(bytes),
    });
    if (response.status !== 200) throw new Error(await response.text());
  };
  const took: number[] = [];
  const pending: Promise<void>[] = [];
  const seconds = 20;
  const requests = Array.from({ length: (seconds * perSecond) / 100 }, () => {
    const spans = Array.from({ length: 10 }, () => traceOf(10, Date.now())).flat();
    return { traceId: spans[0]!.traceId!, ...requestOf(spans) };
  });
  const begun = performance.now();
  for (const [i, { bytes, traceId }] of requests.entries()) {
    const wait = (i / (perSecond / 100)) * 1_000 - (performance.now() - begun);
    if (wait > 0) await sleep(wait);
    const sent = send(bytes);
    pending.push(
      i % 25 !== 0
        ? sent
        : sent.then(async () => {
            const from = performance.now();
            while ((await api.get(`/traces/${traceId}`)).status !== 200) await sleep(10);
            took.push(performance.now() - from);
          }),
    );
  }
  await Promise.all(pending);
  return [
    {
      what: `a span is visible after its 200, at ${perSecond} a second: median, p95, most`,
      goal: '1 s',
      here: [0.5, 0.95, 1].map((p) => ms(percentile(took, p))).join(', '),
    },
  ];
};

/** Receives as much as it can with one integration, with and without the store, in turn. */
const ingest = async (postgres: Postgres): Promise<Figure[]> => {
  const sink = await startSink();
  const load = startClient();
  const rates: Record<string, number[]> = { agents: [], off: [] };
  const cpu: Record<string, number[]> = { agents: [], off: [] };
  for (let round = 0; round < 3; round++) {
    for (const setting of ['agents', 'off']) {
      const target = await startPlatform(postgres.url, [sink.url(0)]);
      const api = client(target.url.replace('/v1/traces', '/api/v2'), target.headers.authorization!.slice(7));
      await body(api.patch('/advanced-settings', { TRACE_STORE: setting }));
      const order = { ...target, spans: 500, format: 'protobuf' as const, gzip: true, connections: 8 };
      await load.load({ ...order, seconds: 1, perSecond: 20 });
      await sink.count();
      const before = cpuOf(target.pid).all;
      const { requests, ms: time } = await load.load({ ...order, seconds: 6 });
      rates[setting]!.push(((requests * 500) / time) * 1_000);
      cpu[setting]!.push((cpuOf(target.pid).all - before) / (requests * 500));
      await target.stop();
      await sink.count();
    }
  }
  load.stop();
  sink.stop();
  const median = (values: number[]): number => percentile(values, 0.5);
  const [with_, without] = [median(rates.agents!), median(rates.off!)];
  return [
    {
      what: 'received with the store (without), one integration, 500 spans of 2 KB a request',
      goal: '85 %',
      here: `${Math.round((with_ / without) * 100)} %: ${Math.round(with_)} (${Math.round(without)}) spans/s, ${median(cpu.agents!).toFixed(1)} (${median(cpu.off!).toFixed(1)}) µs of CPU`,
    },
  ];
};

const peer = async (): Promise<Figure[]> => {
  const binary = process.env.JAEGER_BIN;
  if (!binary) return [{ what: 'Jaeger', goal: '', here: 'not measured (JAEGER_BIN)' }];
  const found = await measureJaeger(binary);
  return Object.entries(found).map(([what, here]) => ({ what: `Jaeger: ${what}`, goal: '', here }));
};

export const run = async (): Promise<void> => {
  await using postgres = await startPostgres({ durable: true });
  const all = { store: storeCosts, reads, visible, ingest, peer };
  const figures: Figure[] = [];
  for (const [name, measure] of Object.entries(all)) {
    if (!parts.has(name)) continue;
    const found = await measure(postgres);
    figures.push(...found);
    for (const { what, here } of found) console.log(`${what}: ${here}`);
  }
  console.table(figures);
  console.log(`Load of the machine: ${loadavg()[0]!.toFixed(1)}.`);
};
