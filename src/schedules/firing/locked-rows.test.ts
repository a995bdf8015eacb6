import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { createMigrated } from '../../../tests/harness/database.ts';
import { dropDatabase } from '../../../tests/harness/postgres.ts';
import { until } from '../../../tests/harness/wait.ts';
import { makeAgent } from '../../../tests/harness/work-items.ts';
import { type Database, migrate, openPostgres, sql } from '../../database/index.ts';
import { newId } from '../../lib/ids.ts';
import { silentLogger } from '../../lib/log.ts';
import { schedulesChannel } from '../store.ts';
import { Firing } from './firing.ts';
import { lookAhead } from './store.ts';

/** On PostgreSQL only: the embedded database has one connection, so no one else can lock a row there. */
let url: string;
let db: Database;
let other: pg.Client;
let agent: string;
beforeAll(async () => {
  url = await createMigrated();
  db = await openPostgres(url, silentLogger);
  await migrate(db, silentLogger);
  agent = await makeAgent(db);
});
afterAll(async () => {
  await db.close();
  await dropDatabase(url);
});

let firing: Firing | null = null;
beforeEach(async () => {
  await db.run((r) => sql`truncate schedules, work_items, occurrences cascade`.execute(r));
  other = new pg.Client({ connectionString: url });
  await other.connect();
});
afterEach(async () => {
  await other.end();
  await firing?.stop();
});

/**
 * A schedule that is due in `dueIn` milliseconds by the database's clock: of leap days, so that no other occurrence comes
 * by, unless `cron` says otherwise.
 */
const schedule = async (dueIn: number, catchUp = true, cron = '0 0 29 2 *'): Promise<string> => {
  const id = newId();
  await db.tx((tx) =>
    sql`insert into schedules (id, agent_id, cron_expression, timezone, catch_up, next_run_at, zone_rules)
      values (${id}, ${agent}, ${cron}, 'UTC', ${catchUp},
        platform_now() + ${dueIn}::int * interval '1 millisecond', '2026c')`.execute(tx),
  );
  return id;
};

const lock = async (id: string): Promise<void> => {
  await other.query('begin');
  await other.query('select from schedules where id = $1 for update', [id]);
};

const outcomes = async (id: string): Promise<string[]> =>
  (
    await db.run((r) => r.selectFrom('occurrences').select('outcome').where('schedule_id', '=', id).execute())
  ).map(({ outcome }) => outcome);

/** A loop that counts how often it has looked for what is due. */
const start = (): { looks: () => number } => {
  let looks = 0;
  const counted: Database = {
    ...db,
    run: (fn) => {
      if ((fn as unknown) === lookAhead) looks++;
      return db.run(fn);
    },
  };
  firing = new Firing({ db: counted, log: silentLogger });
  firing.start();
  return { looks: () => looks };
};

it('a row that another transaction has locked delays only itself, is retried with back-off, and fires when it is free', async () => {
  const locked = await schedule(-2_000);
  await lock(locked);
  const due = [await schedule(-1_000), await schedule(-500)];
  const upcoming = [await schedule(200), await schedule(1_500)];
  const { looks } = start();
  for (const id of [...due, ...upcoming])
    await until(async () => (await outcomes(id)).length > 0, 20_000, 20);
  expect(await outcomes(locked)).toEqual([]);
  // Two for each of the others, three for each time that the back-off was reset; every 100 ms would be 15 more.
  expect(looks()).toBeLessThanOrEqual(16);
  await other.query('rollback');
  await until(async () => (await outcomes(locked)).length > 0, 20_000, 20);
  expect(await outcomes(locked)).toEqual(['fired']);
});

it('a herd fires around locked rows, each of which follows the misfire rules when it is free', async () => {
  const ids = await Promise.all([
    schedule(-7_200_000, true, '0 * * * *'),
    schedule(-7_200_000, false, '0 * * * *'),
    ...Array.from({ length: 50 }, () => schedule(-1_000)),
  ]);
  const [catchesUp, skips, ...others] = ids;
  await lock(catchesUp!);
  await other.query('select from schedules where id = $1 for update', [skips]);
  start();
  for (const id of others) await until(async () => (await outcomes(id)).length > 0, 20_000, 20);
  expect([await outcomes(catchesUp!), await outcomes(skips!)]).toEqual([[], []]);
  // An edit notifies that the schedule is due, so nothing waits for the loop's next look.
  await other.query('select pg_notify($1, $2)', [schedulesChannel, '0']);
  await other.query('commit');
  await until(async () => (await outcomes(skips!)).length > 0, 20_000, 20);
  const latest = Date.now() % 3_600_000 < 60_000 ? 'fired' : 'caught_up';
  expect((await outcomes(catchesUp!)).sort()).toEqual([latest, 'skipped'].sort());
  expect(await outcomes(skips!)).toContain('skipped');
});

it('while a due row is locked, lookAhead still returns when the next one is due', async () => {
  const locked = await schedule(-1_000);
  await lock(locked);
  expect(await db.run(lookAhead)).toMatchObject({ isDue: true, upcoming: null });
  await schedule(60_000);
  const { isDue, upcoming, now } = await db.run(lookAhead);
  expect(isDue).toBe(true);
  expect(upcoming!.getTime() - now.getTime()).toBeGreaterThan(50_000);
});
