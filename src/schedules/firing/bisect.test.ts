import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { eachDatabase } from '../../../tests/harness/database.ts';
import { makeAgent } from '../../../tests/harness/work-items.ts';
import { type Database, type Executor, sql } from '../../database/index.ts';
import { unavailable } from '../../lib/errors.ts';
import { newId } from '../../lib/ids.ts';
import { silentLogger } from '../../lib/log.ts';
import type { FiringReport } from './batch.ts';
import { fireByBisection } from './bisect.ts';
import { Firing } from './firing.ts';

/** Attempts at a part of a batch since the test began: the statement that each begins with. */
let attempts = 0;
type Query = (...args: unknown[]) => unknown;
const query = pg.Client.prototype.query as unknown as Query;
beforeEach(() => {
  attempts = 0;
  pg.Client.prototype.query = function (this: pg.Client, ...args: unknown[]) {
    if ((args[0] as { text?: string })?.text === 'savepoint attempt') attempts++;
    return query.apply(this, args);
  } as never;
});
afterEach(() => {
  pg.Client.prototype.query = query as never;
});

const made = 'the Work Item could not be made';

eachDatabase((_name, open) => {
  const run = (statement: ReturnType<typeof sql>) => open().run((r) => statement.execute(r));
  const rowsOf = async <T>(statement: ReturnType<typeof sql<T>>): Promise<T[]> =>
    (await open().run((r: Executor) => statement.execute(r))).rows;

  /** `count` schedules that were due a second ago; those whose number is in `bad` say so in their message. */
  const herd = async (count: number, bad: readonly number[] = []): Promise<string[]> => {
    const agent = await makeAgent(open());
    const ids = Array.from({ length: count }, newId);
    const messages = ids.map((_, n) => (bad.includes(n) ? 'bad' : 'good'));
    await run(sql`insert into schedules (id, agent_id, cron_expression, timezone, message, next_run_at, zone_rules)
      select id, ${agent}, '0 3 * * *', 'UTC', message, platform_now() - interval '1 second', '2026c'
      from unnest(${ids}::uuid[], ${messages}::text[]) as s(id, message)`);
    return ids;
  };
  const refuse = (condition: string) =>
    run(sql.raw(`alter table work_items add constraint refused check (${condition}) not valid`));

  /** Fires until nothing is due that can be; answers what was told of it. */
  const fire = async (lanes = 1): Promise<FiringReport[]> => {
    const reports: FiringReport[] = [];
    const onFired = (told: FiringReport[]) => void reports.push(...told);
    const firing = new Firing({ db: open(), log: silentLogger, onFired });
    const lane = async () => {
      while ((await firing.fireDue()) > 0);
    };
    await Promise.all(Array.from({ length: lanes }, lane));
    return reports;
  };
  const occurrences = () =>
    rowsOf<{ schedule_id: string; outcome: string; reason: string | null; count: number }>(
      sql`select schedule_id, outcome, reason, count from occurrences order by id`,
    );
  const skips = async () => (await occurrences()).filter(({ outcome }) => outcome === 'skipped');
  /** The places in `ids` of schedules that will not be due again. */
  const resting = async (ids: string[]) =>
    (await rowsOf<{ id: string }>(sql`select id from schedules where next_run_at is null`))
      .map(({ id }) => ids.indexOf(id))
      .sort();
  const stillDue = async () =>
    (await rowsOf<{ id: string }>(sql`select id from schedules where next_run_at <= platform_now()`)).map(
      ({ id }) => id,
    );

  describe('poison', () => {
    beforeEach(async () => {
      await run(sql`alter table work_items drop constraint if exists refused`);
      await run(
        sql`truncate schedules, work_items, work_item_events, work_item_messages, occurrences cascade`,
      );
    });

    it('in a herd each is skipped with its reason and counted, all others fire, and only what has no next rests', async () => {
      const ids = await herd(1_500, [3, 777, 1_200]);
      const [noAgent, noZone] = [ids[500]!, ids[1_499]!];
      await open().tx(async (tx) => {
        // As a person with the rights of the database's owner can.
        await sql`set local session_replication_role = replica`.execute(tx);
        await sql`update schedules set agent_id = ${newId()} where id = ${noAgent}`.execute(tx);
      });
      await run(sql`update schedules set timezone = 'Nowhere/Land' where id = ${noZone}`);
      await refuse(`message <> 'bad'`);
      const reports = await fire();

      const rows = await occurrences();
      expect(rows.length).toBe(1_500);
      expect(new Set(rows.map(({ schedule_id }) => schedule_id)).size).toBe(1_500);
      const reasons = new Map((await skips()).map(({ schedule_id, reason }) => [schedule_id, reason]));
      expect(reasons.size).toBe(5);
      for (const n of [3, 777, 1_200]) expect(reasons.get(ids[n]!)).toBe(`${made} (error 23514)`);
      expect(reasons.get(noAgent)).toBe('the agent does not exist');
      expect(reasons.get(noZone)).toContain('Nowhere/Land');
      expect((await rowsOf(sql`select 1 from work_items`)).length).toBe(1_495);
      expect(await stillDue()).toEqual([]);
      expect(await resting(ids)).toEqual([1_499]);

      const told = (outcome: string) => reports.filter((report) => report.outcome === outcome).length;
      expect([told('fired'), told('skipped')]).toEqual([1_495, 5]);
      // Each bad one costs at most its nine halvings, two attempts each, the attempt at all and the one to skip it.
      expect(attempts).toBeLessThanOrEqual(3 * 20);
    });

    it('among lanes that fire side by side costs halvings once, and nothing is recorded twice', async () => {
      const ids = await herd(2_500, [10, 2_000]);
      await refuse(`message <> 'bad'`);
      await fire(3);
      const rows = await occurrences();
      expect(rows.length).toBe(2_500);
      expect(new Set(rows.map(({ schedule_id }) => schedule_id)).size).toBe(2_500);
      expect((await skips()).map(({ schedule_id }) => ids.indexOf(schedule_id)).sort()).toEqual([10, 2_000]);
      expect(attempts).toBeLessThanOrEqual(2 * 20);
    });

    it('that takes long is halved in many short transactions, and the same comes of it', async () => {
      const ids = await herd(20, [0, 1, 2, 3, 4, 5, 6, 7, 12, 19]);
      await refuse(`message <> 'bad'`);
      const most: number[] = [];
      const counting: Database = {
        ...open(),
        tx: async (fn) => {
          const before = attempts;
          const result = await open().tx(fn);
          most.push(attempts - before);
          return result;
        },
      };
      const { moved, reports } = await fireByBisection(counting, ids, silentLogger, 0);
      // An attempt at a part, and where that is one row the one to skip it.
      expect([Math.max(...most), moved, reports.length]).toEqual([2, 20, 20]);
      expect((await occurrences()).length).toBe(20);
      expect((await skips()).map(({ schedule_id }) => ids.indexOf(schedule_id))).toEqual([
        0, 1, 2, 3, 4, 5, 6, 7, 12, 19,
      ]);
      expect(await stillDue()).toEqual([]);
    });

    it('whose halving fails later on is told as far as it came, and the rest stays due', async () => {
      const ids = await herd(20, [19]);
      await refuse(`message <> 'bad'`);
      let transactions = 0;
      const failing: Database = {
        ...open(),
        // The first fails as a whole, the second fires one half.
        tx: (fn) => (transactions++ < 2 ? open().tx(fn) : Promise.reject(unavailable('away', 1))),
      };
      const { moved, reports } = await fireByBisection(failing, ids, silentLogger, 0);
      expect([moved, reports.length, (await stillDue()).length]).toEqual([10, 10, 10]);
    });

    it('that shows only at COMMIT is found as well', async () => {
      await run(sql`create or replace function refuse_bad() returns trigger language plpgsql as $$
        begin
          if new.message = 'bad' then raise exception 'refused late'; end if;
          return null;
        end $$`);
      await run(sql`create constraint trigger refuse_bad after insert on work_items
        deferrable initially deferred for each row execute function refuse_bad()`);
      try {
        const ids = await herd(40, [17]);
        await fire();
        expect((await occurrences()).length).toBe(40);
        expect(await skips()).toMatchObject([{ schedule_id: ids[17], reason: `${made} (error P0001)` }]);
      } finally {
        await run(sql`drop trigger refuse_bad on work_items`);
      }
    });

    it('that is late is skipped once for its own reason, and what it missed before as missed', async () => {
      const [id] = await herd(1, [0]);
      await run(sql`update schedules set cron_expression = '0 * * * *',
        next_run_at = date_trunc('hour', platform_now()) - interval '5 hours' where id = ${id}`);
      await refuse(`message <> 'bad'`);
      await fire();
      expect(await occurrences()).toMatchObject([
        { outcome: 'skipped', reason: 'missed', count: 5 },
        { outcome: 'skipped', reason: `${made} (error 23514)`, count: 1 },
      ]);
      expect([await stillDue(), await resting([id!])]).toEqual([[], []]);
    });

    it('that cannot even be skipped stays due, and the others fire', async () => {
      const ids = await herd(30);
      await run(sql`create or replace function hold() returns trigger language plpgsql as $$
        begin
          if old.id = tg_argv[0]::uuid then raise exception 'held'; end if;
          return new;
        end $$`);
      await run(
        sql.raw(`create trigger hold before update on schedules
        for each row execute function hold('${ids[4]}')`),
      );
      try {
        await fire();
        expect((await occurrences()).length).toBe(29);
        expect(await stillDue()).toEqual([ids[4]]);
      } finally {
        await run(sql`drop trigger hold on schedules`);
      }
    });
  });
});
