import { loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { migrate, openPostgres } from '../../src/database/index.ts';
import { silentLogger } from '../../src/lib/log.ts';
import { client } from '../../tests/harness/http.ts';
import type { Postgres } from '../../tests/harness/postgres.ts';
import { processMicros, residentMb } from '../../tests/harness/proc.ts';
import { spawnPlatform } from '../../tests/harness/process.ts';
import { closeRig, openRig, type Rig } from '../scaling/rig.ts';
import { startReads } from './reads.ts';
import { dropIndexes, itemTables, makePattern, type Pattern, seedItems, seedSchedules } from './seed.ts';
import { newSampler } from './statements.ts';
import { growth, tableSizes } from './tables.ts';

export interface Sizes {
  workItems: number;
  minutes: number;
  perSecond: number;
  readsPerSecond: number;
}

/** Of Work Items, occurrences and charges: the fewest days that all three of their settings allow, and a round number. */
const days = 90;
/** What is too old when the platform starts, in seconds of firing: the retention begins with it, as each hour it does. */
const backlog = Number(process.env.HISTORY_BACKLOG_SECONDS ?? 60);

export const migrated = async (postgres: Postgres): Promise<Rig> => {
  const databaseUrl = await postgres.createDatabase();
  const db = await openPostgres(databaseUrl, silentLogger);
  await migrate(db, silentLogger);
  await db.close();
  return openRig(postgres, databaseUrl);
};

/**
 * Fills the history. The oldest Work Items become too old during the measurement, as many a second as fire; the others
 * are spread evenly over the time from then until now.
 */
const seed = async ({ client: db, databaseUrl }: Rig, sizes: Sizes): Promise<Pattern> => {
  const { workItems, minutes, perSecond } = sizes;
  const seconds = minutes * 60;
  const pattern = await makePattern(databaseUrl, db);
  await seedSchedules(db, pattern, Math.max(1_000, seconds * perSecond), `now() + interval '1 day'`);
  const leaving = Math.min(workItems - 1, (seconds + backlog + 120) * perSecond);
  const kept = workItems - leaving;
  const begun = performance.now();
  const span = days * 86_400 - seconds - 600;
  const buildIndexes = await dropIndexes(db, itemTables);
  let rows = await seedItems(db, pattern, {
    first: 1,
    last: kept,
    at: `now() - ${days * 86_400 - seconds - 600} * interval '1 second' + n * interval '${((span - 60) / kept) * 1_000_000} microseconds'`,
  });
  const copied = performance.now();
  await buildIndexes();
  const built = performance.now();
  await db.query('vacuum analyze');
  const vacuumed = performance.now();
  // Last, because their age counts from when the platform starts.
  rows += await seedItems(db, pattern, {
    first: kept + 1,
    last: workItems,
    at: `platform_now() - interval '${days} days ${backlog} seconds' + (n - ${kept}) * interval '${1_000 / perSecond} milliseconds'`,
  });
  const lasted = (from: number, to: number): string => ((to - from) / 1_000).toFixed(0);
  console.log(
    `Seeded ${workItems} Work Items, ${rows} rows: ${lasted(begun, copied)} s for the rows, ${lasted(copied, built)} for the indexes, ${lasted(built, vacuumed)} for vacuum and analyze, ${lasted(vacuumed, performance.now())} for the oldest with indexes; load ${loadavg()[0]!.toFixed(1)}.`,
  );
  return pattern;
};

const settings = {
  RATE_LIMIT_REQUESTS_PER_SECOND: 0,
  MAX_CONCURRENT_WORK_ITEMS: 32,
  WORK_ITEM_RETENTION_DAYS: days,
  OCCURRENCE_RETENTION_DAYS: days,
  CHARGE_RETENTION_DAYS: days,
};

/** Fires `perSecond` schedules a second next to a long history, carries their Work Items out, and reads. Prints tables. */
export const measureItems = async (postgres: Postgres, sizes: Sizes): Promise<void> => {
  const { workItems, minutes, perSecond, readsPerSecond } = sizes;
  const rig = await migrated(postgres);
  const db = rig.client;
  try {
    const pattern = await seed(rig, sizes);
    const { rows: some } = await db.query<{ id: string }>(
      `select id from work_items tablesample system (${Math.min(100, 200_000_000 / workItems / 100)}) where id < pg_temp.id_at(now() - interval '1 day') and id > pg_temp.id_at(now() - interval '${days - 1} days') limit 5000`,
    );
    const before = await tableSizes(db);
    const walFrom = (await db.query('select pg_current_wal_lsn() as lsn')).rows[0].lsn;
    await using platform = await spawnPlatform({
      databaseUrl: rig.databaseUrl,
      env: { LOG_LEVEL: 'warn' },
      readyWithinMs: 600_000,
    });
    await client(`${platform.url}/api/v2`, platform.key).patch('/advanced-settings', settings);
    const { rows: due } = await db.query<{ begins: Date }>(
      `with begins as (select date_trunc('milliseconds', platform_now() + interval '15 seconds') as at),
        numbered as (select id, row_number() over (order by id) as n from schedules),
        moved as (update schedules s set next_run_at = begins.at + n * interval '${1_000 / perSecond} milliseconds'
          from numbered, begins where numbered.id = s.id and n <= $1)
       select at as begins from begins`,
      [minutes * 60 * perSecond],
    );
    await db.query(`select pg_notify('schedules', $1)`, [String(due[0]!.begins.getTime())]);
    await sleep(Math.max(0, due[0]!.begins.getTime() - Date.now()));
    const cpu = () => ({
      platform: processMicros(platform.pid)! / 1_000,
      database: processMicros(postgres.pid!)! / 1_000,
    });
    const usedBefore = cpu();
    const begun = performance.now();
    const reads = await startReads(platform, {
      items: some.map(({ id }) => id),
      agents: pattern.agents,
      perSecond: readsPerSecond,
    });
    let memory = 0;
    const sampler = newSampler(db);
    const loads: number[] = [];
    while (performance.now() - begun < minutes * 60_000) {
      await sleep(100);
      await sampler.look();
      memory = Math.max(memory, residentMb(platform.pid));
      loads.push(loadavg()[0]!);
    }
    const used = cpu();
    const seconds = (performance.now() - begun) / 1_000;
    const { rows: readRows, failed } = await reads.stop();
    // What was fired last is carried out.
    await sleep(3_000);
    const after = await tableSizes(db);
    const { rows: done } = await db.query(
      `select count(*)::int as fired, count(*) filter (where w.status = 'COMPLETED')::int as completed,
        percentile_cont(array[0.5, 0.99, 1]) within group (order by extract(epoch from o.at - o.scheduled_for) * 1000) as late,
        percentile_cont(array[0.5, 0.99]) within group (order by extract(epoch from w.finished_at - w.created_at) * 1000) as took
        from occurrences o left join work_items w on w.id = o.work_item_id where o.at >= $1`,
      [due[0]!.begins],
    );
    const { rows: wal } = await db.query(
      'select pg_wal_lsn_diff(pg_current_wal_lsn(), $1)::float8 as bytes',
      [walFrom],
    );
    const ms = (values: number[]): string => values.map((value) => Math.round(value)).join(', ');
    console.log(
      `${perSecond} firings a second for ${minutes} minutes next to ${workItems} Work Items, ${readsPerSecond} reads a second; PostgreSQL with fsync, all on one machine; load ${Math.min(...loads).toFixed(1)} to ${Math.max(...loads).toFixed(1)}.`,
    );
    console.table({
      'fired, carried out': `${done[0].fired}, ${done[0].completed}`,
      'late ms: p50, p99, most': ms(done[0].late),
      'from PENDING to the end, ms: p50, p99': ms(done[0].took),
      'removed a second, with the backlog': ((after[0]!.removed - before[0]!.removed) / seconds).toFixed(0),
      'CPU of the database, ms a second': ((used.database - usedBefore.database) / seconds).toFixed(0),
      'CPU of the platform, ms a second': ((used.platform - usedBefore.platform) / seconds).toFixed(0),
      'write-ahead log MB a minute': (wal[0].bytes / 2 ** 20 / (seconds / 60)).toFixed(0),
      'memory of the platform, MB at most': memory.toFixed(0),
      'reads that failed': failed,
    });
    console.table(readRows);
    console.table(growth(before, after, workItems));
    console.log('What the connections were found doing:');
    console.table(sampler.rows());
    if (platform.output()) console.log(platform.output().slice(-2_000));
  } finally {
    await closeRig(rig);
  }
};
