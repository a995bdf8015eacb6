import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Database, migrate, openEmbedded, openPostgres, sql } from '../src/database/index.ts';
import { newId } from '../src/lib/ids.ts';
import { silentLogger } from '../src/lib/log.ts';
import { Firing } from '../src/schedules/index.ts';
import { startPostgres } from '../tests/harness/postgres.ts';
import { peerHerds } from './firing-peers.ts';

/**
 * Herds: N schedules due at one instant. Lateness is a Work Item's `created_at` minus its nominal time, both by the
 * database's clock. The floor is Work Items and schedules by one INSERT … SELECT and one UPDATE on the same database,
 * which no engine that stores them can beat; with the history of each Work Item and the record of each occurrence
 * besides, which ours writes too, it is what the four tables cost without claims, guards and short transactions.
 */
const herds = 5;

interface Row {
  what: string;
  schedules: number;
  'median ms': number;
  'p99 ms': number;
  'last ms': number;
  'firings/s': number;
  'CPU µs/firing': number;
}

const prepare = async (db: Database, count: number): Promise<void> => {
  await db.tx(async (tx) => {
    await sql`truncate schedules, work_items, work_item_events, work_item_messages, occurrences, agents cascade`.execute(
      tx,
    );
    const agent = newId();
    await sql`insert into agents (id, name, mode, max_concurrency, max_attempts, timeout_seconds, max_steps)
      values (${agent}, 'bench', 'worker', 4, 3, 600, 20)`.execute(tx);
    const ids = Array.from({ length: count }, newId);
    await sql`insert into schedules (id, agent_id, cron_expression, timezone, message, payload, next_run_at, zone_rules)
      select id, ${agent}, '0 0 * * *', 'UTC', 'Go through the night’s orders.', '{"shop": 7}', null, '0'
      from unnest(${ids}::uuid[]) as id`.execute(tx);
  });
  await db.read((r) => sql`analyze schedules`.execute(r));
};

const summary = async (db: Database): Promise<{ n: number; median: number; p99: number; last: number }> => {
  const { rows } = await db.read((r) =>
    sql<{ n: number; median: number; p99: number; last: number }>`
      select count(*) as n, percentile_cont(0.5) within group (order by late) as median,
        percentile_cont(0.99) within group (order by late) as p99, max(late) as last
      from (select extract(epoch from created_at - occurrence) * 1000 as late from work_items) l`.execute(r),
  );
  const { n, median, p99, last } = rows[0]!;
  return { n, median: Number(median), p99: Number(p99), last: Number(last) };
};

const herd = async (db: Database, count: number): Promise<Row> => {
  await prepare(db, count);
  // Counted here and not asked of the database, which would be slowed by the question.
  let fired = 0;
  const onFired = (reports: unknown[]) => {
    fired += reports.length;
  };
  const firing = new Firing({ db, log: silentLogger, onFired });
  firing.start();
  await sleep(100);
  const dueIn = 300;
  await db.tx(async (tx) => {
    await sql`update schedules set next_run_at = platform_now() + ${dueIn}::int * interval '1 millisecond'`.execute(
      tx,
    );
    await sql`select pg_notify('schedules', (extract(epoch from platform_now()) * 1000 + ${dueIn}::int)::bigint::text)`.execute(
      tx,
    );
  });
  const cpu = process.cpuUsage();
  const until = Date.now() + 120_000;
  while (fired < count) {
    if (Date.now() > until) throw new Error(`only ${fired} of ${count} schedules fired in two minutes`);
    await sleep(20);
  }
  const used = process.cpuUsage(cpu);
  await firing.stop();
  const done = await summary(db);
  if (done.n !== count) throw new Error(`${done.n} Work Items of ${count} schedules`);
  return {
    what: '',
    schedules: count,
    'median ms': done.median,
    'p99 ms': done.p99,
    'last ms': done.last,
    'firings/s': count / (done.last / 1000),
    'CPU µs/firing': (used.user + used.system) / count,
  };
};

const floor = async (db: Database, count: number, history: boolean): Promise<Row> => {
  await prepare(db, count);
  await db.read((r) => sql`update schedules set next_run_at = platform_now()`.execute(r));
  const cpu = process.cpuUsage();
  const begun = performance.now();
  await db.tx(async (tx) => {
    await sql`insert into work_items (id, agent_id, schedule_id, occurrence, work_item_name, message, payload, status,
        created_by, conversation_id)
      select gen_random_uuid(), agent_id, id, next_run_at, work_item_name, message, payload, 'PENDING', 'bench', id
      from schedules`.execute(tx);
    if (history) {
      await sql`insert into work_item_events (id, work_item_id, to_status, action, principal, details, at)
        select id, id, 'PENDING', 'create', '{"kind": "system"}', '{}', created_at from work_items`.execute(
        tx,
      );
      await sql`insert into occurrences (id, schedule_id, scheduled_for, outcome, work_item_id, at)
        select id, schedule_id, occurrence, 'fired', id, created_at from work_items`.execute(tx);
    }
    await sql`update schedules set next_run_at = next_run_at + interval '1 day', last_run_at = next_run_at`.execute(
      tx,
    );
  });
  const ms = performance.now() - begun;
  const used = process.cpuUsage(cpu);
  return {
    what: '',
    schedules: count,
    'median ms': ms,
    'p99 ms': ms,
    'last ms': ms,
    'firings/s': count / (ms / 1000),
    'CPU µs/firing': (used.user + used.system) / count,
  };
};

/** The herd with the median last one, of five: these machines are shared. */
const median = async (what: string, db: Database, run: () => Promise<Row>): Promise<Row> => {
  const rows: Row[] = [];
  for (let i = 0; i < herds; i++) rows.push(await run());
  rows.sort((a, b) => a['last ms'] - b['last ms']);
  return { ...rows[Math.floor(herds / 2)]!, what: `${what} (${db.kind})` };
};

/** Prints one table. `FIRINGS_HERDS=1000,10000` chooses other sizes; `PEERS_DIR` names where peers are installed. */
export const run = async (): Promise<void> => {
  const sizes = (process.env.FIRINGS_HERDS ?? '1000,10000').split(',').map(Number);
  const rows: Row[] = [];
  const dataDir = mkdtempSync(join(tmpdir(), 'agent-platform-bench-'));
  const embedded = await openEmbedded(dataDir, silentLogger);
  await migrate(embedded, silentLogger);
  rows.push(await median('Agent Platform', embedded, () => herd(embedded, sizes[0]!)));
  rows.push(await median('SQL floor', embedded, () => floor(embedded, sizes[0]!, false)));
  await embedded.close();
  rmSync(dataDir, { recursive: true, force: true });

  const server = await startPostgres({ durable: true });
  const postgres = await openPostgres(server.url, silentLogger);
  await migrate(postgres, silentLogger);
  for (const size of sizes) {
    rows.push(await median('Agent Platform', postgres, () => herd(postgres, size)));
    rows.push(await median('SQL floor', postgres, () => floor(postgres, size, false)));
    rows.push(await median('SQL floor, all four tables', postgres, () => floor(postgres, size, true)));
  }
  await postgres.close();
  for (const { what, schedules, median, p99, last, cpuMicros } of await peerHerds(server, sizes)) {
    rows.push({
      what: `${what}, one herd`,
      schedules,
      'median ms': median,
      'p99 ms': p99,
      'last ms': last,
      'firings/s': schedules / (last / 1000),
      'CPU µs/firing': cpuMicros,
    });
  }
  await server.stop();
  console.log(
    `\nSchedules due at one instant; the median of ${herds} herds. PostgreSQL with fsync, on the same machine.\n`,
  );
  console.table(
    rows.map((row) =>
      Object.fromEntries(Object.entries(row).map(([k, v]) => [k, typeof v === 'number' ? Math.round(v) : v])),
    ),
  );
};

if (import.meta.main) await run();
