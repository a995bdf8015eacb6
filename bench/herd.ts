import { Agent, request } from 'node:http';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { zoneRulesVersion } from '@agent-platform/cron';
import pg from 'pg';
import { newId } from '../src/lib/ids.ts';
import { insertAgents } from '../tests/harness/agents.ts';
import { startPostgres } from '../tests/harness/postgres.ts';
import { residentMb } from '../tests/harness/proc.ts';
import { type PlatformProcess, spawnPlatform } from '../tests/harness/process.ts';
import { until } from '../tests/harness/wait.ts';

/**
 * How a herd affects everything else: many schedules of many agents are due at one instant on a platform that runs as a
 * process of its own, while clients read at a steady rate and one unrelated schedule falls due in the middle. A read's
 * time counts from when it was to be sent, so that none is left out because the one before it was slow. The clients
 * share the machine, and the last column is how late their own timers were.
 * `HERD_SCHEDULES` (100,000), `HERD_READS` per second (200), `HERD_ROUNDS` (3), `HERD_ROLES` of the platform.
 */
const schedules = Number(process.env.HERD_SCHEDULES ?? 100_000);
const readsPerSecond = Number(process.env.HERD_READS ?? 200);
const rounds = Number(process.env.HERD_ROUNDS ?? 3);
const roles = process.env.HERD_ROLES ?? 'api,scheduler,delivery';
const schedulesOfAgent = 20;
const quietMs = 5_000;

interface Seeded {
  agents: string[];
  schedules: string[];
  /** Work Items that existed before the herd. */
  items: string[];
  /** The schedule that is not part of the herd. */
  unrelated: string;
}

const seed = async (client: pg.Client): Promise<Seeded> => {
  const agents = Array.from({ length: Math.ceil(schedules / schedulesOfAgent) }, newId);
  const ids = Array.from({ length: schedules }, newId);
  const items = Array.from({ length: 1_000 }, newId);
  const unrelated = newId();
  await insertAgents(client, agents);
  // Ten expressions in four zones, as a night's herd has them.
  await client.query(
    `insert into schedules (id, agent_id, cron_expression, timezone, message, payload, zone_rules)
      select s.id, ($2::uuid[])[1 + (s.n - 1) / $3::int],
        format('%s %s * * *', s.n % 10, s.n % 7), (array['UTC', 'Europe/Berlin', 'America/New_York', 'Asia/Tokyo'])[1 + s.n % 4],
        'Go through the night’s orders.', '{"shop": 7}', $4
      from unnest($1::uuid[]) with ordinality as s(id, n)`,
    [ids, agents, schedulesOfAgent, zoneRulesVersion],
  );
  await client.query(
    `insert into schedules (id, agent_id, cron_expression, timezone, zone_rules) values ($1, $2, '0 0 1 1 *', 'UTC', $3)`,
    [unrelated, agents[0], zoneRulesVersion],
  );
  await client.query(
    `insert into work_items (id, agent_id, message, payload, status, created_by, conversation_id)
      select id, ($2::uuid[])[1 + n % 50], 'An earlier one.', '{}', 'COMPLETED', 'bench', id
      from unnest($1::uuid[]) with ordinality as i(id, n)`,
    [items, agents],
  );
  await client.query('vacuum analyze schedules, agents, work_items');
  return { agents, schedules: ids, items, unrelated };
};

/** Paths in rotation: a schedule, the schedules of an agent, a Work Item, the Work Items of an agent. */
const pathOf = (seeded: Seeded, n: number): string => {
  const pick = <T>(list: T[]): T => list[(n * 7_919) % list.length]!;
  const agent = (n * 7_919) % seeded.agents.length;
  switch (n % 4) {
    case 0:
      return `/agents/${seeded.agents[agent]}/schedules/${seeded.schedules[agent * schedulesOfAgent]}`;
    case 1:
      return `/agents/${seeded.agents[agent]}/schedules`;
    case 2:
      return `/work-items/${pick(seeded.items)}`;
    default:
      return `/work-items?agent_id=${seeded.agents[agent % 50]}&limit=20`;
  }
};

interface Reads {
  /** The duration of each from when it was to be sent, in milliseconds. */
  took: number[];
  failed: number;
}

/** Reads at a steady rate until `stop` is called, which resolves to the results when all reads have ended. */
const read = (platform: PlatformProcess, seeded: Seeded): { stop(): Promise<Reads> } => {
  const agent = new Agent({ keepAlive: true, maxSockets: 64 });
  const reads: Reads = { took: [], failed: 0 };
  const underWay = new Set<Promise<void>>();
  const headers = { authorization: `Bearer ${platform.key}` };
  const one = (n: number, at: number): Promise<void> =>
    new Promise((resolve) => {
      const done = (ok: boolean): void => {
        reads.took.push(performance.now() - at);
        if (!ok) reads.failed++;
        resolve();
      };
      request(`${platform.url}/api/v2${pathOf(seeded, n)}`, { agent, headers }, (response) => {
        response.resume().on('end', () => done(response.statusCode === 200));
      })
        .on('error', () => done(false))
        .end();
    });
  const begun = performance.now();
  let sent = 0;
  const timer = setInterval(() => {
    const due = ((performance.now() - begun) / 1000) * readsPerSecond;
    for (; sent < due; sent++) {
      const reading = one(sent, begun + (sent / readsPerSecond) * 1000);
      underWay.add(reading);
      reading.finally(() => underWay.delete(reading));
    }
  }, 1);
  return {
    stop: async () => {
      clearInterval(timer);
      await Promise.all(underWay);
      agent.destroy();
      return reads;
    },
  };
};

const percentile = (values: number[], p: number): number =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * p))]!;

/** Delays of the platform's event loop since the last call, in milliseconds. */
const loopDelays = async (platform: PlatformProcess): Promise<{ p99: number; max: number }> => {
  const text = await (await fetch(`${platform.url}/metrics`)).text();
  const of = (name: string): number =>
    Number(new RegExp(`^nodejs_eventloop_lag_${name}_seconds (\\S+)`, 'm').exec(text)![1]) * 1000;
  return { p99: of('p99'), max: of('max') };
};

type Row = Record<string, string | number>;

const phase = async (
  what: string,
  platform: PlatformProcess,
  seeded: Seeded,
  client: pg.Client,
  ended: () => Promise<boolean>,
): Promise<Row> => {
  const own = monitorEventLoopDelay({ resolution: 1 });
  await loopDelays(platform);
  own.enable();
  const reading = read(platform, seeded);
  let memory = 0;
  let connections = 0;
  while (!(await ended())) {
    memory = Math.max(memory, residentMb(platform.pid));
    const { rows } = await client.query(
      `select count(*)::int as n from pg_stat_activity where application_name = 'agent-platform' and state <> 'idle'`,
    );
    connections = Math.max(connections, rows[0].n);
    await sleep(50);
  }
  const { took, failed } = await reading.stop();
  own.disable();
  const lag = await loopDelays(platform);
  return {
    phase: what,
    reads: took.length,
    failed,
    'p50 ms': percentile(took, 0.5),
    'p99 ms': percentile(took, 0.99),
    'max ms': Math.max(...took),
    'loop p99 ms': lag.p99,
    'loop max ms': lag.max,
    'peak MB': memory,
    connections,
    'client late p99 ms': own.percentile(99) / 1e6,
  };
};

const round = async (
  n: number,
  platform: PlatformProcess,
  seeded: Seeded,
  client: pg.Client,
): Promise<Row[]> => {
  await client.query('truncate work_item_events, occurrences');
  await client.query('delete from work_items where schedule_id is not null');
  await client.query('vacuum analyze work_items');
  // The database and this process are on one machine: one clock.
  const due = new Date(Date.now() + 20_000);
  await client.query(
    `update schedules set next_run_at = case when id = $1 then $2::timestamptz + interval '1 second' else $2 end`,
    [seeded.unrelated, due],
  );
  await client.query('vacuum analyze schedules');
  await client.query('checkpoint');
  await client.query(`select pg_notify('schedules', $1)`, [String(due.getTime())]);
  await sleep(Math.max(0, due.getTime() - quietMs - Date.now()));
  const at = (time: number) => async () => Date.now() >= time;
  const before = await phase(`${n} before`, platform, seeded, client, at(due.getTime() - 200));
  await sleep(Math.max(0, due.getTime() - Date.now()));
  const during = await phase(`${n} during`, platform, seeded, client, async () => {
    const { rows: next } = await client.query('select min(next_run_at) as next from schedules');
    return next[0].next > new Date(due.getTime() + 1_000);
  });
  const late = await client.query(
    `select max(extract(epoch from created_at - occurrence) * 1000) filter (where schedule_id <> $1)::float8 as last,
      max(extract(epoch from created_at - occurrence) * 1000) filter (where schedule_id = $1)::float8 as unrelated,
      count(*)::int as n from work_items where schedule_id is not null`,
    [seeded.unrelated],
  );
  const { last, unrelated, n: made } = late.rows[0];
  if (made !== schedules + 1) throw new Error(`${made} Work Items of ${schedules + 1} schedules`);
  const after = await phase(`${n} after`, platform, seeded, client, at(Date.now() + quietMs));
  return [
    before,
    { ...during, 'last ms': last, 'firings/s': schedules / (last / 1000), 'unrelated ms': unrelated },
    after,
  ];
};

/** Prints one table: three rows a round. */
export const run = async (): Promise<void> => {
  const postgres = await startPostgres({ durable: true });
  const databaseUrl = await postgres.createDatabase();
  const platform = await spawnPlatform({
    databaseUrl,
    env: {
      ROLES: roles,
      LOG_LEVEL: 'warn',
      ...(process.env.HERD_NODE_OPTIONS ? { NODE_OPTIONS: process.env.HERD_NODE_OPTIONS } : {}),
    },
  });
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const seeded = await seed(client);
    await until(async () => (await fetch(`${platform.url}/readyz`)).ok);
    const rows: Row[] = [];
    for (let n = 1; n <= rounds; n++) rows.push(...(await round(n, platform, seeded, client)));
    console.log(
      `\n${schedules} schedules due at one instant, ${readsPerSecond} reads a second, roles ${roles}; PostgreSQL with fsync, all on one machine.\n`,
    );
    console.table(
      rows.map((row) =>
        Object.fromEntries(
          Object.entries(row).map(([k, v]) => [k, typeof v === 'number' ? Math.round(v * 10) / 10 : v]),
        ),
      ),
    );
    if (platform.output()) console.log(platform.output().slice(-2_000));
  } finally {
    await client.end();
    // A profile that HERD_NODE_OPTIONS requests is written at its end.
    await platform.kill('SIGTERM');
    await platform.stop();
    await postgres.stop();
  }
};

if (import.meta.main) await run();
