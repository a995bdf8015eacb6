import { setTimeout as sleep } from 'node:timers/promises';
import { type Database, sql } from '../../src/database/index.ts';
import { newId } from '../../src/lib/ids.ts';
import { silentLogger } from '../../src/lib/log.ts';
import { Firing } from '../../src/schedules/firing/firing.ts';
import { insertAgents } from '../../tests/harness/agents.ts';
import { type CpuMeter, type Herd, herdOf, type Job } from './measure.ts';

/** What every schedule contains, the platform's and the peers'; each also has a payload of its own. */
export const message = 'Go through the night’s orders.';

const prepare = async (db: Database, count: number): Promise<void> => {
  await db.tx(async (tx) => {
    await sql`truncate schedules, work_items, work_item_events, work_item_messages, occurrences, agents cascade`.execute(
      tx,
    );
    const agent = newId();
    await insertAgents(tx, [agent]);
    const ids = Array.from({ length: count }, newId);
    await sql`insert into schedules (id, agent_id, cron_expression, timezone, message, payload, next_run_at, zone_rules)
      select id, ${agent}, '0 0 * * *', 'UTC', ${message}, jsonb_build_object('shop', n), null, '0'
      from unnest(${ids}::uuid[]) with ordinality as s(id, n)`.execute(tx);
  });
  await db.run((r) => sql`analyze schedules`.execute(r));
};

/** Makes all schedules due at one instant, `inMs` from now by the database's clock. Returns that instant. */
const makeDue = (db: Database, inMs: number): Promise<Date> =>
  db.tx(async (tx) => {
    const { rows } = await sql<{ due: Date }>`
      select date_trunc('milliseconds', platform_now() + ${inMs}::int * interval '1 millisecond') as due`.execute(
      tx,
    );
    const { due } = rows[0]!;
    await sql`update schedules set next_run_at = ${due}`.execute(tx);
    await sql`select pg_notify('schedules', ${String(due.getTime())})`.execute(tx);
    return due;
  });

const workItems = async (db: Database): Promise<Job[]> => {
  const { rows } = await db.run((r) =>
    sql<{ committed: number; created: number }>`
      select extract(epoch from pg_xact_commit_timestamp(xmin))::float8 * 1000 as committed,
        extract(epoch from created_at)::float8 * 1000 as created from work_items`.execute(r),
  );
  return rows;
};

/** One herd of the platform's firing loop. */
export const platformHerd = async (db: Database, count: number, cpu: CpuMeter): Promise<Herd> => {
  await prepare(db, count);
  // Counted here, because a query would slow down the database.
  const committedJobs: Job[] = [];
  const onFired = (reports: unknown[]): void => {
    const committed = Date.now();
    for (const _ of reports) committedJobs.push({ committed, created: null });
  };
  const firing = new Firing({ db, log: silentLogger, onFired });
  firing.start();
  await sleep(100);
  // Long enough for the update to be committed by then.
  const due = await makeDue(db, 500 + count / 20);
  await sleep(due.getTime() - Date.now() - 100);
  await cpu.start();
  const until = Date.now() + 120_000;
  while (committedJobs.length < count) {
    if (Date.now() > until)
      throw new Error(`only ${committedJobs.length} of ${count} schedules fired in two minutes`);
    await sleep(20);
  }
  const used = await cpu.stop();
  await firing.stop();
  // The embedded database does not keep the times of commits, so they are the times at which this process was notified.
  const jobs = db.kind === 'postgres' ? await workItems(db) : committedJobs;
  if (jobs.length !== count) throw new Error(`${jobs.length} Work Items of ${count} schedules`);
  return herdOf(due.getTime(), jobs, used);
};

/**
 * The floor: the rows of a herd, inserted by one statement a table. No engine that stores these rows is faster on one
 * connection. They are the Work Items and schedules, and with `history` also the first event of each Work Item and the
 * record of each occurrence, which the platform writes too.
 */
export const floorHerd = async (
  db: Database,
  count: number,
  history: boolean,
  cpu: CpuMeter,
): Promise<Herd> => {
  await prepare(db, count);
  await db.run((r) => sql`update schedules set next_run_at = platform_now()`.execute(r));
  await cpu.start();
  const begun = performance.now();
  await db.tx(async (tx) => {
    await sql`set local statement_timeout = 0`.execute(tx);
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
  const committed = performance.now() - begun;
  const jobs = Array.from({ length: count }, () => ({ committed, created: null }));
  return herdOf(0, jobs, await cpu.stop());
};
