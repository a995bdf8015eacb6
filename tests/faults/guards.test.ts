import { afterEach, beforeEach, expect, inject, test, vi } from 'vitest';
import { type Database, migrate, openPostgres, sql } from '../../src/database/index.ts';
import { silentLogger } from '../../src/lib/log.ts';
import type * as Due from '../../src/schedules/due.ts';
import { Firing } from '../../src/schedules/index.ts';
import type * as WorkItems from '../../src/work-items/index.ts';
import { createDatabase, dropDatabase } from '../harness/postgres.ts';
import { accountOf, type TestSchedule } from './scenarios/account.ts';

/** Which of the three guards of a firing are in place, and how two of them are made to claim at once. */
const guards = vi.hoisted(() => ({
  lock: true,
  compareAndSet: true,
  uniqueKey: true,
  met: () => Promise.resolve(),
}));

vi.mock('../../src/work-items/index.ts', async (original) => {
  const workItems = await original<typeof WorkItems>();
  const insertFired: typeof workItems.insertFired = async (tx, items) => {
    if (guards.uniqueKey) return workItems.insertFired(tx, items);
    for (const { id, agent_id, schedule_id, occurrence } of items) {
      await sql`insert into work_items (id, conversation_id, agent_id, schedule_id, occurrence, message, payload,
        status, created_by) values (${id}, ${id}, ${agent_id}, ${schedule_id}, ${occurrence}, '', '{}', 'PENDING',
        'test')`.execute(tx);
      await sql`insert into work_item_events (id, work_item_id, to_status, action, principal, details)
        values (${id}, ${id}, 'PENDING', 'create', '{}', '{}')`.execute(tx);
    }
    return items.map(({ id }) => id);
  };
  return { ...workItems, insertFired };
});

vi.mock('../../src/schedules/due.ts', async (original) => {
  const due = await original<typeof Due>();
  return {
    ...due,
    claimDue: async (tx, limit, only) => {
      if (guards.lock) return due.claimDue(tx, limit, only);
      const { rows } = await sql<Due.DueRow>`
        select s.*, true as has_agent, platform_now() as now from schedules s
        where s.next_run_at <= platform_now() order by s.next_run_at limit ${limit}`.execute(tx);
      await guards.met();
      return rows;
    },
    advance: async (tx, moves, zoneRules) => {
      if (guards.compareAndSet) return due.advance(tx, moves, zoneRules);
      for (const move of moves) {
        await sql`update schedules set next_run_at = ${move.to}, last_occurrence = ${move.lastOccurrence},
          last_run_at = coalesce(${move.firedAt}::timestamptz, last_run_at) where id = ${move.id}`.execute(
          tx,
        );
      }
      return moves.length;
    },
  } satisfies typeof Due;
});

const schedule: TestSchedule = {
  id: '01900000-0000-7000-8000-000000000002',
  agentId: '01900000-0000-7000-8000-000000000001',
  catchUp: true,
  // Hourly, so that no next occurrence begins during the test.
  matches: (minute) => minute === 0,
  first: 0,
};

let url: string;
let replicas: [Database, Database];
beforeEach(async () => {
  url = await createDatabase(inject('postgresUrl'));
  replicas = [await openPostgres(url, silentLogger), await openPostgres(url, silentLogger)];
  await migrate(replicas[0], silentLogger);
  const now = Date.now();
  schedule.first = now - (now % 3_600_000);
  await replicas[0].tx(async (tx) => {
    await sql`insert into agents (id, name, mode, max_concurrency, max_attempts, timeout_seconds, max_steps)
      values (${schedule.agentId}, 'A', 'worker', 1, 1, 60, 5)`.execute(tx);
    await sql`insert into schedules (id, agent_id, cron_expression, timezone, next_run_at, zone_rules)
      values (${schedule.id}, ${schedule.agentId}, '0 * * * *', 'UTC', ${new Date(schedule.first)}, '0')`.execute(
      tx,
    );
  });
});
afterEach(async () => {
  Object.assign(guards, { lock: true, compareAndSet: true, uniqueKey: true });
  for (const db of replicas) await db.close();
  await dropDatabase(url);
});

/** Two replicas fire at once; without the lock both have claimed before either goes on. Answers the account's problems. */
const fireTwice = async (): Promise<string[]> => {
  const at = Date.now();
  let waiting = 0;
  let meet: () => void;
  const both = new Promise<void>((resolve) => {
    meet = resolve;
  });
  guards.met = () => {
    if (++waiting >= 2) meet();
    return both;
  };
  const firings = replicas.map((db) => new Firing({ db, log: silentLogger }));
  await Promise.allSettled(firings.map((firing) => firing.fireDue()));
  return replicas[0]
    .read((reader) =>
      accountOf(async (text) => (await sql.raw<never>(text).execute(reader)).rows, [schedule], at),
    )
    .then(({ problems }) => problems);
};

test('with all guards, two replicas that fire at once make one Work Item', async () => {
  expect(await fireTwice()).toEqual([]);
});

test('without the row lock, compare-and-set and the unique key keep it one', async () => {
  guards.lock = false;
  expect(await fireTwice()).toEqual([]);
});

test('without row lock and unique key, compare-and-set keeps it one', async () => {
  guards.lock = false;
  await dropUniqueKey();
  expect(await fireTwice()).toEqual([]);
});

test('without row lock and compare-and-set, the unique key keeps it one', async () => {
  Object.assign(guards, { lock: false, compareAndSet: false });
  expect(await fireTwice()).toEqual([]);
});

test('without any of them the occurrence is doubled, and the account of these tests says so', async () => {
  Object.assign(guards, { lock: false, compareAndSet: false });
  await dropUniqueKey();
  expect((await fireTwice()).join('\n')).toContain('was dealt with 2 times');
});

const dropUniqueKey = async (): Promise<void> => {
  guards.uniqueKey = false;
  await replicas[0].tx((tx) => sql`drop index work_items_occurrence`.execute(tx));
};
