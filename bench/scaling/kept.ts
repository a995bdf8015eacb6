import { setTimeout as sleep } from 'node:timers/promises';
import { openPostgres, type Tx } from '../../src/database/index.ts';
import { silentLogger } from '../../src/lib/log.ts';
import { deleteOldOccurrences } from '../../src/schedules/occurrence-store.ts';
import { deleteFinishedWorkItems } from '../../src/work-items/store.ts';
import { dropDatabase, type Postgres } from '../../tests/harness/postgres.ts';
import { processMicros } from '../../tests/harness/proc.ts';
import { seed } from '../console/seed.ts';
import { carryOut, prepareHerd, read, sizes } from './loads.ts';
import { readsOf } from './replicas.ts';
import { closeRig, measure, openRig, type Rig, startReplicas } from './rig.ts';

const kept = (process.env.SCALING_KEPT ?? '10000,100000,1000000').split(',').map(Number);
/** The rest of a database whose other kind grows. */
const few = 1_000;
/** As the product deletes. */
const batch = 2_000;
/** Seconds in which nothing is due. */
const restSeconds = 10;

const megabytes = async ({ client }: Rig, tables: string[]): Promise<number> => {
  const { rows } = await client.query<{ bytes: string }>(
    'select sum(pg_total_relation_size(t::regclass)) as bytes from unnest($1::text[]) as t',
    [tables],
  );
  return Math.round(Number(rows[0]!.bytes) / 1_048_576);
};

/** CPU of all processes while nothing is due, in milliseconds a second. */
const atRest = async ({ replicas, postgres }: Rig): Promise<number> => {
  const pids = [...replicas.map(({ pid }) => pid), postgres.pid!];
  const used = () => pids.reduce((sum, pid) => sum + processMicros(pid)!, 0);
  await sleep(2_000);
  const before = used();
  await sleep(restSeconds * 1_000);
  return (used() - before) / 1_000 / restSeconds;
};

/** What a herd and rest cost next to this many schedules. */
const withSchedules = async (postgres: Postgres, schedules: number) => {
  const databaseUrl = await postgres.createDatabase();
  await seed(databaseUrl, { schedules, workItems: few });
  const rig = await openRig(postgres, databaseUrl);
  try {
    await rig.client.query(
      `update schedules set next_run_at = next_run_at + interval '1 day' where next_run_at is not null`,
    );
    await rig.client.query('vacuum analyze schedules');
    await startReplicas(rig, 1, 'api,scheduler,delivery');
    await (await prepareHerd(rig, few))();
    const rest = await atRest(rig);
    const line = await measure(rig, `a herd of ${few}`, await prepareHerd(rig, few));
    return {
      schedules,
      'firings a second': line['a second'],
      'CPU platform µs': line['CPU platform µs'],
      'CPU database µs': line['CPU database µs'],
      'CPU at rest, ms a second': Math.round(rest * 10) / 10,
      MB: await megabytes(rig, ['schedules', 'schedule_definitions']),
      load: line.load,
    };
  } finally {
    await closeRig(rig);
    await dropDatabase(databaseUrl);
  }
};

/** Runs the deletes of the retention for what is older than `days`. Returns how many Work Items and how long. */
const remove = async (rig: Rig, days: number) => {
  const db = await openPostgres(rig.databaseUrl, silentLogger, 2);
  const begun = performance.now();
  const done = { count: 0, longestMs: 0, seconds: 0 };
  const step = async (fn: (tx: Tx) => Promise<number>): Promise<number> => {
    const at = performance.now();
    const removed = await db.tx(fn);
    done.longestMs = Math.max(done.longestMs, performance.now() - at);
    return removed;
  };
  try {
    for (let removed = batch; removed === batch; done.count += removed)
      removed = await step((tx) => deleteFinishedWorkItems(tx, days, batch));
    for (let removed = batch; removed === batch; )
      removed = await step((tx) => deleteOldOccurrences(tx, days, batch));
    done.seconds = (performance.now() - begun) / 1_000;
    return done;
  } finally {
    await db.close();
  }
};

/** The retention of the oldest quarter alone, and of the next one while clients read. */
const measureRetention = async (rig: Rig, days: number, paths: string[]) => {
  const lsn = async () =>
    (await rig.client.query('select pg_current_wal_lsn() as lsn')).rows[0].lsn as string;
  const from = await lsn();
  let longestMs = 0;
  const alone = await measure(rig, 'removed', async () => {
    const done = await remove(rig, Math.floor(days * 1.5));
    longestMs = done.longestMs;
    return done;
  });
  const { rows } = await rig.client.query('select pg_wal_lsn_diff($1, $2)::float8 as bytes', [
    await lsn(),
    from,
  ]);
  let reading = true;
  let p99 = 0;
  const reads = (async () => {
    while (reading) p99 = Math.max(p99, (await read(rig, paths, 200)).p99);
  })();
  const next = await remove(rig, days);
  reading = false;
  await reads;
  const begun = performance.now();
  await rig.client.query('vacuum analyze work_items, work_item_events, occurrences');
  return {
    'removed a second': alone['a second'],
    'CPU database µs': alone['CPU database µs'],
    'WAL MB': Math.round(rows[0].bytes / 1_048_576),
    'longest batch ms': Math.round(longestMs),
    'while clients read': Math.round(next.count / next.seconds),
    'their p99 ms': Math.round(p99),
    'vacuum s': ((performance.now() - begun) / 1_000).toFixed(1),
  };
};

/** What reads, new Work Items and the retention cost next to this many Work Items. */
const withItems = async (postgres: Postgres, workItems: number) => {
  const databaseUrl = await postgres.createDatabase();
  const seeded = await seed(databaseUrl, { schedules: few, workItems });
  const rig = await openRig(postgres, databaseUrl);
  try {
    await rig.client.query(
      `update schedules set next_run_at = next_run_at + interval '1 day' where next_run_at is not null`,
    );
    // The seed has only the Work Items: each gets the history, the messages and the steps of a run.
    await rig.client.query(`insert into work_item_events (work_item_id, id, from_status, to_status, action, principal, details, at)
      select w.id, gen_random_uuid(), e.a, e.b, e.action, '{"kind": "system"}', '{}', w.created_at from work_items w
      cross join (values (null, 'PENDING', 'create'), ('PENDING', 'EXECUTING', 'claim'), ('EXECUTING', 'COMPLETED', 'finish'))
        as e (a, b, action)`);
    await rig.client.query(`insert into work_item_messages (work_item_id, id, conversation_id, role, content, created_at)
      select w.id, gen_random_uuid(), w.conversation_id, m.role, jsonb_build_array(jsonb_build_object('type', 'text', 'text', m.text)),
        w.created_at from work_items w cross join (values ('user', 'Go through what came in.'), ('assistant', 'All is well.'))
        as m (role, text)`);
    await rig.client.query(`insert into work_item_steps (work_item_id, attempt, kind, name, started_at, ended_at, status)
      select w.id, 1, s.kind, s.kind, w.created_at, w.created_at, 'ok' from work_items w
      cross join (values ('attempt'), ('model')) as s (kind)`);
    await rig.client.query(
      `update work_items set status = 'CANCELLED', finished_at = created_at where status in ('PENDING', 'EXECUTING')`,
    );
    await rig.client.query('vacuum analyze');
    await startReplicas(rig, 1, 'api,worker,delivery');
    const paths = readsOf(seeded);
    await read(rig, paths, 300);
    await carryOut(rig, 300);
    const MB = await megabytes(rig, [
      'work_items',
      'work_item_events',
      'work_item_messages',
      'work_item_steps',
      'occurrences',
    ]);
    let times = { p50: 0, p99: 0 };
    const reads = await measure(rig, 'reads', async () => {
      const done = await read(rig, paths, sizes.reads);
      times = done;
      return done;
    });
    const items = await measure(rig, 'Work Items', () => carryOut(rig, sizes.items));
    const hours = Math.floor(workItems / few);
    const days = Math.floor(hours / 48);
    return {
      row: {
        'Work Items kept': workItems,
        MB,
        'read p50 ms': times.p50.toFixed(1),
        'read p99 ms': times.p99.toFixed(1),
        'CPU of a read, µs': `${reads['CPU platform µs']} + ${reads['CPU database µs']}`,
        'carried out a second': items['a second'],
        'CPU of one, µs': `${items['CPU platform µs']} + ${items['CPU database µs']}`,
        load: items.load,
      },
      // The age of the rows is a number of whole days only if there are enough of them.
      retention:
        days > 0
          ? { 'Work Items kept': workItems, ...(await measureRetention(rig, days, paths)), load: items.load }
          : null,
    };
  } finally {
    await closeRig(rig);
    await dropDatabase(databaseUrl);
  }
};

/** A herd and rest next to more schedules. Prints one table. */
export const measureSchedules = async (postgres: Postgres): Promise<void> => {
  const rows = [];
  for (const size of kept) rows.push(await withSchedules(postgres, size));
  console.log('A herd and rest, next to more schedules:');
  console.table(rows);
};

/** Reads, new Work Items and the retention next to more Work Items. Prints two tables. */
export const measureItems = async (postgres: Postgres): Promise<void> => {
  const rows = [];
  for (const size of kept) rows.push(await withItems(postgres, size));
  console.log('Reads and Work Items of one step, next to more Work Items that are kept:');
  console.table(rows.map(({ row }) => row));
  console.log(
    `The retention removes the oldest quarter, ${batch} at a time, then the next one while clients read:`,
  );
  console.table(rows.flatMap(({ retention }) => retention ?? []));
};
