import { describe, expect, test } from 'vitest';
import { sql } from '../../src/database/index.ts';
import { recomputeOlderRules } from '../../src/schedules/firing/zone-rules.ts';
import { until } from '../harness/wait.ts';
import {
  expectError,
  type Fixture,
  newAgent,
  newSchedule,
  ok,
  onPostgres,
  query,
  setSettings,
  time,
  withPlatform,
} from './fixture.ts';

const minute = 60_000;
const hour = 60 * minute;

/** Returns an hourly expression whose last occurrence was about five minutes ago, and that occurrence. */
const hourly = (): { cron_expression: string; last: number } => {
  const last = Math.floor((Date.now() - 5 * minute) / minute) * minute;
  return { cron_expression: `${new Date(last).getUTCMinutes()} * * * *`, last };
};

const iso = (at: number) => new Date(at).toISOString();

/** Makes a schedule whose next run is at `due`, in the past. */
const backdated = async (
  fixture: Fixture,
  due: number,
  fields: object,
): Promise<{ path: string; id: string; agent: string }> => {
  const { id: agent } = await newAgent(fixture);
  const { id } = await newSchedule(fixture, agent, fields);
  await query(fixture, sql`update schedules set next_run_at = ${iso(due)} where id = ${id}`);
  return { path: `/agents/${agent}/schedules/${id}`, id, agent };
};

describe('firing', () => {
  // No loop fires here: each test fires itself.
  onPostgres(
    (at) => {
      const fire = async () => {
        while ((await at().test.platform.features.schedules.firing.fireDue()) > 0);
      };
      const read = (path: string) => ok(at().api.get(path));
      const occurrences = async (path: string) => (await ok(at().app.get(`${path}/occurrences`))).data;
      const items = async (id: string) => (await ok(at().api.get(`/work-items?schedule_id=${id}`))).records;

      test('an occurrence becomes exactly one Work Item with the schedule’s name, message and payload', async () => {
        const { cron_expression, last } = hourly();
        await setSettings(at(), { SCHEDULE_MISFIRE_GRACE_SECONDS: 600 });
        const fields = {
          work_item_name: 'Bericht 😀',
          message: 'write it',
          payload: { a: [1, null], b: { c: 'ü' } },
        };
        const { path, id, agent } = await backdated(at(), last, { cron_expression, ...fields });
        const before = await at().api.get(path);
        await Promise.all([fire(), fire(), fire()]);
        await fire();
        const [item, ...others] = await items(id);
        expect(others).toEqual([]);
        expect(item).toMatchObject({
          ...fields,
          agent_id: agent,
          schedule_id: id,
          status: 'PENDING',
          created_by: 'scheduler',
          attempts: 0,
        });
        const after = await at().api.get(path);
        expect(after.body).toEqual({
          ...before.body,
          last_run_at: expect.stringMatching(time),
          next_run_at: iso(last + hour),
        });
        expect(Math.abs(Date.parse(after.body.last_run_at) - Date.now())).toBeLessThan(10_000);
        expect(after.headers.get('etag')).toBe(before.headers.get('etag'));
        const [row, ...rest] = await occurrences(path);
        expect(rest).toEqual([]);
        expect(row).toEqual({
          scheduled_for: iso(last),
          outcome: 'fired',
          status: 'late',
          work_item_id: item.id,
          work_item: { id: item.id, status: 'PENDING', attempts: 0, duration_ms: null, error: null },
          at: after.body.last_run_at,
          lateness_ms: Date.parse(row.at) - last,
          count: 1,
          cause: null,
          reason: expect.stringMatching(/^Fired \d min late\. /),
          by: null,
        });
        await setSettings(at(), { SCHEDULE_MISFIRE_GRACE_SECONDS: 60 });
      });

      test('a missed occurrence fires once with catch_up', async () => {
        const { cron_expression, last } = hourly();
        const { path, id } = await backdated(at(), last, { cron_expression });
        await fire();
        const made = await items(id);
        expect(made.length).toBe(1);
        expect(await occurrences(path)).toMatchObject([
          { outcome: 'caught_up', scheduled_for: iso(last), work_item_id: made[0].id, count: 1 },
        ]);
        expect(await read(path)).toMatchObject({
          last_run_at: expect.stringMatching(time),
          next_run_at: iso(last + hour),
        });
      });

      test('a missed occurrence is skipped without catch_up', async () => {
        const { cron_expression, last } = hourly();
        const { path, id } = await backdated(at(), last, { cron_expression, catch_up: false });
        await fire();
        expect(await items(id)).toEqual([]);
        expect(await occurrences(path)).toMatchObject([
          { outcome: 'skipped', scheduled_for: iso(last), work_item_id: null, count: 1, cause: 'missed' },
        ]);
        expect(await read(path)).toMatchObject({ last_run_at: null, next_run_at: iso(last + hour) });
      });

      test.each([
        [true, 1],
        [false, 0],
      ])(
        'of many missed occurrences only the latest can fire; the others are one row with their count (catch_up %s)',
        async (catch_up, made) => {
          const { cron_expression, last } = hourly();
          const due = last - 24 * 365 * hour;
          const { path, id } = await backdated(at(), due, { cron_expression, catch_up });
          await fire();
          expect((await items(id)).length).toBe(made);
          const skipped = {
            outcome: 'skipped',
            scheduled_for: iso(due),
            cause: 'missed',
            count: 24 * 365 + 1 - made,
          };
          const caughtUp = { outcome: 'caught_up', scheduled_for: iso(last), count: 1 };
          expect(await occurrences(path)).toMatchObject(made === 1 ? [caughtUp, skipped] : [skipped]);
          expect((await read(path)).next_run_at).toBe(iso(last + hour));
        },
      );

      test('within the misfire grace the latest fires without catch_up too, and older ones are skipped together', async () => {
        const now = Math.floor(Date.now() / minute) * minute;
        const { path, id } = await backdated(at(), now - 90 * minute, {
          cron_expression: '* * * * *',
          catch_up: false,
        });
        await fire();
        expect((await items(id)).length).toBe(1);
        const [fired, skipped] = await occurrences(path);
        expect(fired).toMatchObject({ outcome: 'fired', count: 1 });
        expect(skipped).toMatchObject({ outcome: 'skipped', scheduled_for: iso(now - 90 * minute) });
        expect(skipped.count).toBe((Date.parse(fired.scheduled_for) - (now - 90 * minute)) / minute);
      });

      test('PUT with the same expression and zone while an occurrence is due keeps it due, with the new fields', async () => {
        const { cron_expression, last } = hourly();
        const { path, id } = await backdated(at(), last, {
          cron_expression,
          timezone: 'UTC',
          message: 'old',
        });
        const put = await ok(at().api.put(path, { cron_expression, message: 'new' }));
        expect(put.next_run_at).toBe(iso(last));
        expect(await occurrences(path)).toEqual([]);
        await fire();
        expect(await items(id)).toMatchObject([{ message: 'new' }]);
        expect((await ok(at().api.put(path, { cron_expression }))).next_run_at).toBe(iso(last + hour));
        await fire();
        expect((await items(id)).length).toBe(1);
      });

      test.each([
        ['the expression', { timezone: 'UTC' }],
        ['the zone', { timezone: 'Etc/UTC' }],
      ])(
        'PUT that changes %s while an occurrence is due records that as skipped',
        async (what, { timezone }) => {
          const { cron_expression, last } = hourly();
          const { path, id } = await backdated(at(), last - 2 * hour, { cron_expression });
          const other = what === 'the zone' ? cron_expression : '0 0 1 1 *';
          const put = await ok(at().api.put(path, { cron_expression: other, timezone }));
          expect(Date.parse(put.next_run_at)).toBeGreaterThan(Date.now());
          await fire();
          expect(await items(id)).toEqual([]);
          expect(await occurrences(path)).toMatchObject([
            {
              outcome: 'skipped',
              cause: 'edited',
              scheduled_for: iso(last - 2 * hour),
              count: 3,
              work_item_id: null,
            },
          ]);
          expect((await read(path)).last_run_at).toBeNull();
        },
      );

      test('a pause while an occurrence is due records it as skipped; time spent paused is not missed', async () => {
        const { cron_expression, last } = hourly();
        const { path, id } = await backdated(at(), last, { cron_expression });
        expect(await ok(at().app.post(`${path}/pause`))).toMatchObject({ enabled: false, next_run_at: null });
        await fire();
        expect(await occurrences(path)).toMatchObject([
          { outcome: 'skipped', cause: 'paused', scheduled_for: iso(last), count: 1 },
        ]);
        expect((await ok(at().app.post(`${path}/resume`))).next_run_at).toBe(iso(last + hour));
        await fire();
        expect((await occurrences(path)).length).toBe(1);
        expect(await items(id)).toEqual([]);
      });

      test('reading never moves a due occurrence', async () => {
        const { cron_expression, last } = hourly();
        const { path, agent, id } = await backdated(at(), last, { cron_expression });
        for (let n = 0; n < 3; n++) {
          expect((await read(path)).next_run_at).toBe(iso(last));
          expect((await read(`/agents/${agent}/schedules`)).data[0].next_run_at).toBe(iso(last));
          await occurrences(path);
        }
        await fire();
        expect((await items(id)).length).toBe(1);
      });

      test('an occurrence that has its Work Item makes no second one, even if next_run_at went back', async () => {
        const { cron_expression, last } = hourly();
        const { path, id } = await backdated(at(), last, { cron_expression });
        await fire();
        await at().sql`update schedules set next_run_at = ${iso(last)} where id = ${id}`;
        await fire();
        expect((await items(id)).length).toBe(1);
        expect((await occurrences(path)).length).toBe(1);
        expect((await read(path)).next_run_at).toBe(iso(last + hour));
      });

      test('after the clock has gone back, PUT with the same times continues after what has fired', async () => {
        const { cron_expression, last } = hourly();
        const { path, id } = await backdated(at(), last, { cron_expression });
        await fire();
        // As after the clock went back two hours: what has fired lies ahead.
        await at()
          .sql`update schedules set last_occurrence = ${iso(last + 2 * hour)}, next_run_at = ${iso(last + 3 * hour)}
            where id = ${id}`;
        expect((await ok(at().api.put(path, { cron_expression }))).next_run_at).toBe(iso(last + 3 * hour));
      });

      test('a schedule that cannot fire delays no other, and its occurrence says why', async () => {
        const { cron_expression, last } = hourly();
        const broken = await backdated(at(), last - hour, { cron_expression });
        const good = await backdated(at(), last, { cron_expression });
        await at().sql`update schedules set timezone = 'Nowhere/Land' where id = ${broken.id}`;
        await fire();
        expect((await items(good.id)).length).toBe(1);
        expect(await items(broken.id)).toEqual([]);
        expect(await occurrences(broken.path)).toMatchObject([
          {
            outcome: 'skipped',
            cause: 'blocked',
            reason: expect.stringMatching(
              /^The schedule could not fire\. The time zone `Nowhere\/Land` is not known/,
            ),
          },
        ]);
        expect(await read(broken.path)).toMatchObject({ enabled: true, next_run_at: null });
        expect((await ok(at().api.put(broken.path, { cron_expression }))).next_run_at).toBe(iso(last + hour));
      });

      test('a next run computed with older zone rules is computed again; one of newer rules and one that is due are left alone', async () => {
        const { cron_expression, last } = hourly();
        const wrong = last + 10 * hour + 7 * minute;
        const [older, newer] = [
          await backdated(at(), wrong, { cron_expression }),
          await backdated(at(), wrong, { cron_expression }),
        ];
        const due = await backdated(at(), last - 7 * minute, { cron_expression });
        await at().sql`update schedules set zone_rules = '2001a' where id in (${older.id}, ${due.id})`;
        await at().sql`update schedules set zone_rules = '2999a' where id = ${newer.id}`;
        await recomputeOlderRules(at().db);
        expect((await read(older.path)).next_run_at).toBe(iso(last + hour));
        expect((await read(newer.path)).next_run_at).toBe(iso(wrong));
        expect((await read(due.path)).next_run_at).toBe(iso(last - 7 * minute));
        expect((await at().api.get(older.path)).headers.get('etag')).toBe('"1"');
        await ok(at().api.delete(due.path), 204);
      });

      test('nothing fires if a schedule or its agent is deleted while an occurrence is due', async () => {
        const { cron_expression, last } = hourly();
        const [one, other] = [
          await backdated(at(), last, { cron_expression }),
          await backdated(at(), last, { cron_expression }),
        ];
        await ok(at().api.delete(one.path), 204);
        await ok(at().api.delete(`/agents/${other.agent}`), 204);
        await fire();
        expect([await items(one.id), await items(other.id)]).toEqual([[], []]);
      });

      test('deleting an agent keeps the Work Items of its schedules and cancels the open ones', async () => {
        const { cron_expression, last } = hourly();
        const { id, agent } = await backdated(at(), last, { cron_expression, message: 'stays' });
        await fire();
        await ok(at().api.delete(`/agents/${agent}`), 204);
        expect(await items(id)).toMatchObject([
          { message: 'stays', schedule_id: id, agent_id: agent, status: 'CANCELLED' },
        ]);
      });

      test('2,500 schedules due at once each fire once', async () => {
        const { cron_expression, last } = hourly();
        const { id, agent } = await backdated(at(), last, { cron_expression });
        await at()
          .sql`insert into schedules (id, agent_id, cron_expression, timezone, message, next_run_at, zone_rules)
            select gen_random_uuid(), agent_id, cron_expression, timezone, n::text, next_run_at, zone_rules
            from schedules, generate_series(1, 2499) n where id = ${id}`;
        await Promise.all([fire(), fire()]);
        const rows = await at()
          .sql`select count(*)::int as made, count(distinct schedule_id)::int as schedules from work_items where agent_id = ${agent}`;
        expect(rows).toEqual([{ made: 2_500, schedules: 2_500 }]);
        await ok(at().api.delete(`/agents/${agent}`), 204);
      });
    },
    { ROLES: 'api,delivery' },
  );
});

describe('the running platform', () =>
  withPlatform('postgres', (at) => {
    test('fires what falls due within a moment, because the write wakes the loop', async () => {
      // By itself the loop looks 15 s after it last looked. A busy machine may take a second once, and not each time.
      let late = Number.POSITIVE_INFINITY;
      for (let tries = 0; tries < 3 && late >= 1_000; tries++) {
        const { path, id } = await backdated(at(), Date.now() + 24 * hour, { cron_expression: '* * * * *' });
        const due = Date.now() + 700;
        await at().sql`update schedules set next_run_at = ${iso(due)} where id = ${id}`;
        await at().sql`select pg_notify('schedules', ${String(due)})`;
        const row = await until(
          async () => (await ok(at().app.get(`${path}/occurrences`))).data.at(-1),
          30_000,
        );
        expect(row.lateness_ms).toBeGreaterThanOrEqual(0);
        late = Date.parse(row.at) - due;
      }
      expect(late).toBeLessThan(1_000);
    });

    test('fires what is due by itself, and its Worker agent completes the Work Item', async () => {
      const { cron_expression, last } = hourly();
      const { path, id } = await backdated(at(), last, { cron_expression, message: 'hello' });
      at().test.platform.features.schedules.firing.wake();
      const item = await until(async () => {
        const { records } = await ok(at().api.get(`/work-items?schedule_id=${id}&status=COMPLETED`));
        return records[0];
      });
      expect(item).toMatchObject({
        message: 'hello',
        schedule_id: id,
        attempts: 1,
        finished_at: expect.stringMatching(time),
      });
      expect((await ok(at().api.get(path))).next_run_at).toBe(iso(last + hour));
      expectError(await at().api.post(`/work-items/${item.id}/cancel`), 412, /COMPLETED/, {
        status: 'COMPLETED',
        allowed_actions: ['restart'],
      });
    });
  }));
