import { afterAll, afterEach, beforeEach, expect, test } from 'vitest';
import { type Database, openPostgres, sql } from '../../src/database/index.ts';
import { silentLogger } from '../../src/lib/log.ts';
import { Firing } from '../../src/schedules/firing/firing.ts';
import { insertAgents } from '../harness/agents.ts';
import { createMigrated } from '../harness/database.ts';
import { dropDatabase } from '../harness/postgres.ts';
import { interceptStatements } from '../harness/statements.ts';
import type { TestSchedule } from './scenarios/test-schedules.ts';
import { verifyOccurrences } from './scenarios/verifier.ts';

/** The three guards of a firing, as its statements contain them. */
const guards = {
  rowLock: 'for update of s skip locked',
  compareAndSet: 'and s.next_run_at is not distinct from m.due',
  uniqueKey: 'on conflict (schedule_id, occurrence) do nothing',
};

/** The guards that are removed from the statements, and what waits after a claim. */
const without = new Set<keyof typeof guards>();
let met = (): Promise<void> => Promise.resolve();
/** Which guards were found in the statements of the test. */
const found = new Set<keyof typeof guards>();

const interception = interceptStatements(async (statement, send) => {
  let { text } = statement;
  for (const [name, guard] of Object.entries(guards) as [keyof typeof guards, string][]) {
    if (!text.includes(guard)) continue;
    found.add(name);
    if (without.has(name)) text = text.replace(guard, '');
  }
  const result = await send({ ...statement, text });
  if (statement.text.includes(guards.rowLock)) await met();
  return result;
});
afterAll(() => interception[Symbol.dispose]());

const schedule: TestSchedule = {
  id: '01900000-0000-7000-8000-000000000002',
  agentId: '01900000-0000-7000-8000-000000000001',
  catchUp: true,
  overlap: 'queue',
  definitions: [],
};

let url: string;
let replicas: [Database, Database];
beforeEach(async () => {
  url = await createMigrated();
  replicas = [await openPostgres(url, silentLogger), await openPostgres(url, silentLogger)];
  const now = Date.now();
  const first = now - (now % 3_600_000);
  // Hourly, so that no next occurrence begins during the test.
  schedule.definitions = [{ after: first - 1, matches: (minute) => minute === 0 }];
  await replicas[0].tx(async (tx) => {
    await insertAgents(tx, [schedule.agentId]);
    await sql`insert into schedules (id, agent_id, cron_expression, timezone, next_run_at, zone_rules)
      values (${schedule.id}, ${schedule.agentId}, '0 * * * *', 'UTC', ${new Date(first)}, '0')`.execute(tx);
  });
});
afterEach(async () => {
  without.clear();
  met = () => Promise.resolve();
  for (const db of replicas) await db.close();
  await dropDatabase(url);
});

/**
 * Fires on two replicas at once: both have queried what is due before either continues. Resolves to the problems that
 * the verifier finds.
 */
const fireTwice = async (): Promise<string[]> => {
  const at = Date.now();
  let waiting = 0;
  let meet: () => void;
  const both = new Promise<void>((resolve) => {
    meet = resolve;
  });
  met = () => {
    if (++waiting >= 2) meet();
    return both;
  };
  const firings = replicas.map((db) => new Firing({ db, log: silentLogger }));
  await Promise.allSettled(firings.map((firing) => firing.fireDue()));
  expect([...found].sort()).toEqual(Object.keys(guards).sort());
  return replicas[0]
    .run((reader) =>
      verifyOccurrences(async (text) => (await sql.raw<never>(text).execute(reader)).rows, [schedule], at),
    )
    .then(({ problems }) => problems);
};

test('with all guards, two replicas that fire at once create one Work Item', async () => {
  expect(await fireTwice()).toEqual([]);
});

test('without compare-and-set and unique key, the row lock prevents a second one', async () => {
  without.add('compareAndSet');
  await dropUniqueKey();
  expect(await fireTwice()).toEqual([]);
});

test('without the row lock, compare-and-set and the unique key prevent a second one', async () => {
  without.add('rowLock');
  expect(await fireTwice()).toEqual([]);
});

test('without row lock and unique key, compare-and-set prevents a second one', async () => {
  without.add('rowLock');
  await dropUniqueKey();
  expect(await fireTwice()).toEqual([]);
});

test('without row lock and compare-and-set, the unique key prevents a second one', async () => {
  without.add('rowLock').add('compareAndSet');
  expect(await fireTwice()).toEqual([]);
});

test('without any of them the occurrence is doubled, and the verifier of these tests finds it', async () => {
  without.add('rowLock').add('compareAndSet');
  await dropUniqueKey();
  expect((await fireTwice()).join('\n')).toContain('was handled 2 times');
});

const dropUniqueKey = async (): Promise<void> => {
  without.add('uniqueKey');
  await replicas[0].tx((tx) => sql`drop index work_items_occurrence`.execute(tx));
};
