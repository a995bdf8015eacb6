import { beforeEach, describe, expect, it, vi } from 'vitest';
import { onPostgres } from '../../../tests/harness/database.ts';
import { makeAgent } from '../../../tests/harness/work-items.ts';
import { type Database, type Executor, sql } from '../../database/index.ts';
import { unavailable } from '../../lib/errors.ts';
import { newId } from '../../lib/ids.ts';
import { silentLogger } from '../../lib/log.ts';
import type { FiringReport } from './batch.ts';
import { fireByBisection } from './bisect.ts';
import { Firing } from './firing.ts';

/** Number of attempts at a part of a batch in this test, counted by their first statement. */
let attempts = 0;

const made = 'the Work Item could not be made';

onPostgres((_name, open) => {
  beforeEach(() => {
    attempts = 0;
    open().onStatement(({ text }) => {
      if (text === 'savepoint attempt') attempts++;
    });
  });
  const run = (statement: ReturnType<typeof sql>) => open().run((r) => statement.execute(r));
  const rowsOf = async <T>(statement: ReturnType<typeof sql<T>>): Promise<T[]> =>
    (await open().run((r: Executor) => statement.execute(r))).rows;

  /** `count` schedules that were due a second ago; the message of those whose index is in `bad` is `bad`. */
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

  /** Fires until nothing more can. Returns what was reported. */
  const fire = async (slots = 1): Promise<FiringReport[]> => {
    const reports: FiringReport[] = [];
    const onFired = (some: FiringReport[]) => void reports.push(...some);
    const firing = new Firing({ db: open(), log: silentLogger, onFired });
    const work = async () => {
      while ((await firing.fireDue()) > 0);
    };
    await Promise.all(Array.from({ length: slots }, work));
    return reports;
  };
  const occurrences = () =>
    rowsOf<{ schedule_id: string; outcome: string; reason: string | null; count: number }>(
      sql`select schedule_id, outcome, reason, count from occurrences order by id`,
    );
  const skips = async () => (await occurrences()).filter(({ outcome }) => outcome === 'skipped');
  /** The indexes in `ids` of schedules without a next run. */
  const withoutNext = async (ids: string[]) =>
    (await rowsOf<{ id: string }>(sql`select id from schedules where next_run_at is null`))
      .map(({ id }) => ids.indexOf(id))
      .sort();
  const stillDue = async () =>
    (await rowsOf<{ id: string }>(sql`select id from schedules where next_run_at <= platform_now()`)).map(
      ({ id }) => id,
    );

  describe('a poison schedule', () => {
    beforeEach(async () => {
      await run(sql`alter table work_items drop constraint if exists refused`);
      await run(
        sql`truncate schedules, work_items, work_item_events, work_item_messages, occurrences cascade`,
      );
    });

    it('is skipped with its reason and counted; all others of the herd fire, and only one without a next occurrence gets none', async () => {
      const ids = await herd(1_500, [3, 777, 1_200]);
      const [noAgent, noZone] = [ids[500]!, ids[1_499]!];
      await open().tx(async (tx) => {
        // As the owner of the database could.
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
      expect(await withoutNext(ids)).toEqual([1_499]);

      const reported = (outcome: string) => reports.filter((report) => report.outcome === outcome).length;
      expect([reported('fired'), reported('skipped')]).toEqual([1_495, 5]);
      // Each bad one costs at most nine bisections of two attempts, the first attempt and the one to skip it.
      expect(attempts).toBeLessThanOrEqual(3 * 20);
    });

    it('is bisected once by concurrent worker slots, and nothing is recorded twice', async () => {
      const ids = await herd(2_500, [10, 2_000]);
      await refuse(`message <> 'bad'`);
      // On a slow machine a transaction would end before all is found, and other worker slots might meet what is left.
      const stopped = vi.spyOn(performance, 'now').mockReturnValue(performance.now());
      await fire(3).finally(() => stopped.mockRestore());
      const rows = await occurrences();
      expect(rows.length).toBe(2_500);
      expect(new Set(rows.map(({ schedule_id }) => schedule_id)).size).toBe(2_500);
      expect((await skips()).map(({ schedule_id }) => ids.indexOf(schedule_id)).sort()).toEqual([10, 2_000]);
      // A bad one of 500 takes 18 to 20 attempts. A batch takes one more if another slot claims its bad row before it
      // is bisected; a second bisection of the same row would take 18 more.
      expect(attempts).toBeLessThan(3 * 18);
    });

    it('that takes long to find is bisected in many short transactions, with the same result', async () => {
      const ids = await herd(20, [0, 1, 2, 3, 4, 5, 6, 7, 12, 19]);
      await refuse(`message <> 'bad'`);
      const perTransaction: number[] = [];
      const counting: Database = {
        ...open(),
        tx: async (fn) => {
          const before = attempts;
          const result = await open().tx(fn);
          perTransaction.push(attempts - before);
          return result;
        },
      };
      const { moved, reports } = await fireByBisection(counting, ids, silentLogger, 0);
      // An attempt at a part and, if that is one row, the attempt to skip it.
      expect([Math.max(...perTransaction), moved, reports.length]).toEqual([2, 20, 20]);
      expect((await occurrences()).length).toBe(20);
      expect((await skips()).map(({ schedule_id }) => ids.indexOf(schedule_id))).toEqual([
        0, 1, 2, 3, 4, 5, 6, 7, 12, 19,
      ]);
      expect(await stillDue()).toEqual([]);
    });

    it('whose bisection fails midway leaves the rest due, and what was committed is reported', async () => {
      const ids = await herd(20, [19]);
      await refuse(`message <> 'bad'`);
      let transactions = 0;
      const failing: Database = {
        ...open(),
        // The first attempt fails as a whole, the second fires one half.
        tx: (fn) => (transactions++ < 2 ? open().tx(fn) : Promise.reject(unavailable('away', 1))),
      };
      const { moved, reports } = await fireByBisection(failing, ids, silentLogger, 0);
      expect([moved, reports.length, (await stillDue()).length]).toEqual([10, 10, 10]);
    });

    it('that fails only at COMMIT is found as well', async () => {
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

    it('that is late is skipped once for its own reason, and its older occurrences as missed', async () => {
      const [id] = await herd(1, [0]);
      await run(sql`update schedules set cron_expression = '0 * * * *',
        next_run_at = date_trunc('hour', platform_now()) - interval '5 hours' where id = ${id}`);
      await refuse(`message <> 'bad'`);
      await fire();
      expect(await occurrences()).toMatchObject([
        { outcome: 'skipped', reason: 'missed', count: 5 },
        { outcome: 'skipped', reason: `${made} (error 23514)`, count: 1 },
      ]);
      expect([await stillDue(), await withoutNext([id!])]).toEqual([[], []]);
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
