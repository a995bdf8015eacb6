import { beforeEach, expect, test } from 'vitest';
import { newId } from '../../src/lib/ids.ts';
import { clearOfNext } from '../harness/wait.ts';
import { describeOnPostgres, expectError, faults, newAgent, newKey, newSchedule, ok } from './fixture.ts';

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
const iso = (at: number) => new Date(at).toISOString();

describeOnPostgres(
  'the reconciliation of a schedule',
  (at) => {
    beforeEach(() => clearOfNext(hour));
    const fire = async () => {
      while ((await at().test.platform.features.schedules.firing.fireDue()) > 0);
    };
    /**
     * Makes a schedule that is hourly at `past` minutes past the hour, `hoursAgo` hours and a half before its last
     * occurrence, which it returns with it.
     */
    const hourly = async (hoursAgo: number, fields: object = {}, past = 0) => {
      const { id: agent } = await newAgent(at());
      const { id } = await newSchedule(at(), agent, { cron_expression: `${past} * * * *`, ...fields });
      const last = Math.floor((Date.now() - past * minute) / hour) * hour + past * minute;
      const from = iso(last - (hoursAgo + 0.5) * hour);
      await at().sql`update schedule_definitions set from_at = ${from} where schedule_id = ${id}`;
      return { id, last, path: `/agents/${agent}/schedules/${id}` };
    };
    const due = (id: string, next: number) =>
      at().sql`update schedules set next_run_at = ${iso(next)} where id = ${id}`;
    const auditOf = (path: string, window = '') => ok(at().app.get(`${path}/audit${window}`));
    const statuses = ({ data }: { data: { status: string }[] }) => data.map(({ status }) => status);

    test('names each occurrence with its outcome and its Work Item, also those that were skipped together', async () => {
      // Half an hour from now: right after it the latest would be on time, and not caught up.
      const past = (new Date().getUTCMinutes() + 30) % 60;
      const { id, last, path } = await hourly(5, {}, past);
      await due(id, last - 5 * hour);
      await fire();
      const response = await auditOf(path);
      const { records } = await ok(at().api.get(`/work-items?schedule_id=${id}`));
      expect(records.length).toBe(1);
      expect(response.data.length).toBe(6);
      expect(response.data.slice(0, 5)).toEqual(
        [5, 4, 3, 2, 1].map((n) => ({
          scheduled_for: iso(last - n * hour),
          status: 'skipped',
          work_item_id: null,
          lateness_ms: expect.any(Number),
          reason: expect.stringMatching(
            `\\. Of what was missed only the latest, [^.]*\\d\\d:${String(past).padStart(2, '0')}, was caught up\\.$`,
          ),
        })),
      );
      expect(response.data[5]).toMatchObject({ scheduled_for: iso(last), work_item_id: records[0].id });
      expect(response).toMatchObject({ has_more: false, next: '', known_from: iso(last - 5.5 * hour) });
    });

    test.each([
      [2_000, 'fired', 'on_time'],
      [20_000, 'fired', 'late'],
      [7_200_000, 'caught_up', 'caught_up'],
    ])('one that was handled %d ms late as %s is %s', async (late, outcome, status) => {
      const { id, last, path } = await hourly(0);
      await at().sql`insert into occurrences (id, schedule_id, scheduled_for, outcome, at)
            values (${id}, ${id}, ${iso(last)}, ${outcome}, ${iso(last + late)})`;
      expect((await auditOf(path)).data).toMatchObject([{ status, lateness_ms: late }]);
    });

    test('shows an occurrence as fired if it was skipped and then fired because the clock went back', async () => {
      const { id, last, path } = await hourly(1);
      for (const [time, outcomes] of [
        [last - hour, ['skipped', 'fired']],
        [last, ['fired', 'skipped']],
      ] as const) {
        for (const outcome of outcomes) {
          const item = outcome === 'fired' ? newId() : null;
          await at().sql`insert into occurrences (id, schedule_id, scheduled_for, outcome, work_item_id, at)
                values (${newId()}, ${id}, ${iso(time)}, ${outcome}, ${item}, ${iso(time + 1_000)})`;
        }
      }
      expect(statuses(await auditOf(path))).toEqual(['on_time', 'on_time']);
    });

    test('shows an occurrence as due until it is handled, and as missing if it was passed without a record', async () => {
      const { id, last, path } = await hourly(3);
      await due(id, last);
      expect(statuses(await auditOf(path))).toEqual(['missing', 'missing', 'missing', 'due']);
      await fire();
      await at().sql`delete from occurrences where schedule_id = ${id}`;
      expect(statuses(await auditOf(path))).toEqual(['missing', 'missing', 'missing', 'missing']);
    });

    test('does not count a manual run as an occurrence', async () => {
      const { id, last, path } = await hourly(0);
      await ok(at().app.post(`${path}/run`));
      await at().sql`update occurrences set scheduled_for = ${iso(last)} where schedule_id = ${id}`;
      expect(statuses(await auditOf(path))).toEqual(['missing']);
    });

    test('applies to each time the definition of that time, and finds no occurrence while the schedule was paused', async () => {
      const { id, last, path } = await hourly(6);
      await ok(at().app.post(`${path}/pause`));
      await ok(at().app.post(`${path}/pause`));
      await ok(at().app.post(`${path}/resume`));
      await ok(at().api.put(path, { cron_expression: '30 * * * *' }));
      await ok(at().api.put(path, { cron_expression: '30 * * * *', message: 'another' }));
      const rows = await at()
        .sql`select revision, enabled, cron_expression from schedule_definitions where schedule_id = ${id}
            order by revision`;
      expect(rows).toEqual([
        { revision: 1, enabled: true, cron_expression: '0 * * * *' },
        { revision: 2, enabled: false, cron_expression: '0 * * * *' },
        { revision: 3, enabled: true, cron_expression: '0 * * * *' },
        { revision: 4, enabled: true, cron_expression: '30 * * * *' },
        { revision: 5, enabled: true, cron_expression: '30 * * * *' },
      ]);
      // Paused at the instant of an occurrence, which still counts, and resumed at the instant of another, which does
      // not.
      for (const [revision, ago] of [
        [2, 5],
        [3, 3],
        [4, 1],
        [5, 0.75],
      ]) {
        await at().sql`update schedule_definitions set from_at = ${iso(last - ago! * hour)}
              where schedule_id = ${id} and revision = ${revision}`;
      }
      const { data } = await auditOf(path, `?to=${iso(last)}`);
      expect(data.map((each: { scheduled_for: string }) => each.scheduled_for)).toEqual(
        [6, 5, 2, 1, 0.5].map((ago) => iso(last - ago * hour)),
      );
    });

    test('excludes from and includes to, returns 10,000 at once and the rest by next, and reports nothing older than retention as missing', async () => {
      const { path, last } = await hourly(200 * 24, { cron_expression: '* * * * *' });
      const two = await auditOf(path, `?from=${iso(last - 2 * minute)}&to=${iso(last)}`);
      expect(two.data.map((each: { scheduled_for: string }) => each.scheduled_for)).toEqual([
        iso(last - minute),
        iso(last),
      ]);
      const window = `from=${iso(last - 8 * day)}&to=${iso(last)}`;
      const first = await auditOf(path, `?${window}`);
      expect(first).toMatchObject({ has_more: true, next: iso(last - 8 * day + 10_000 * minute) });
      expect(first.data.length).toBe(10_000);
      const rest = await auditOf(path, `?${window}&next=${first.next}`);
      expect(rest).toMatchObject({ has_more: false, next: '' });
      expect(first.data.length + rest.data.length).toBe(8 * 24 * 60);
      const old = await auditOf(path, `?from=${iso(last - 110 * day)}&to=${iso(last - 95 * day)}`);
      expect(old.data).toEqual([]);
      expect(Date.parse(old.known_from)).toBeGreaterThan(last - 91 * day);
    });

    test('is 422 for an impossible window, open to members, and 404 when the schedule is', async () => {
      const { path, last } = await hourly(0);
      for (const window of [
        `?from=${iso(last)}&to=${iso(last - 1)}`,
        `?from=${iso(Date.now() + day)}`,
        `?from=${iso(last - 32 * day)}&to=${iso(last)}`,
        '?from=yesterday',
      ]) {
        const response = await at().app.get(`${path}/audit${window}`);
        expectError(response, 422);
        expect(faults(response)).toEqual(['from']);
      }
      const { value } = await newKey(at(), 'member');
      expect((await at().as(value, '/app/api').get(`${path}/audit`)).status).toBe(200);
      expectError(await at().app.get(`${path}x/audit`), 404);
    });

    test('keeps no definition of a deleted schedule', async () => {
      const { id, path } = await hourly(0);
      await ok(at().api.delete(path), 204);
      expect(await at().sql`select 1 from schedule_definitions where schedule_id = ${id}`).toEqual([]);
    });
  },
  { ROLES: 'api,delivery' },
);
