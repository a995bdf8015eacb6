import { beforeAll, describe, expect, test } from 'vitest';
import { sql } from '../../src/database/index.ts';
import {
  expectError,
  type Fixture,
  newAgent,
  newSchedule,
  ok,
  onPostgres,
  query,
  setSettings,
} from './fixture.ts';

const minute = 60_000;
const iso = (at: number) => new Date(at).toISOString();

describe('overlap of a schedule', () => {
  // No loop fires or works here: each test does so itself.
  onPostgres(
    (at) => {
      beforeAll(() => setSettings(at(), { SCHEDULE_MISFIRE_GRACE_SECONDS: 3_600 }));
      const fire = async () => {
        while ((await at().test.platform.features.schedules.firing.fireDue()) > 0);
      };
      const setDue = (fixture: Fixture, id: string, due: number) =>
        query(fixture, sql`update schedules set next_run_at = ${iso(due)} where id = ${id}`);
      /** Fires what was due `n` minutes ago, or skips it. */
      const fireAt = async (id: string, n: number) => {
        await setDue(at(), id, (Math.floor(Date.now() / minute) - n) * minute);
        await fire();
      };
      const made = async (fields: object) => {
        const agent = await newAgent(at());
        const schedule = await newSchedule(at(), agent.id, { cron_expression: '0 0 1 1 *', ...fields });
        const path = `/agents/${agent.id}/schedules/${schedule.id}`;
        return { id: schedule.id as string, agent: agent.id as string, path };
      };
      const ledger = async (path: string) => (await ok(at().app.get(`${path}/occurrences`))).data;
      const items = async (id: string) =>
        (await ok(at().api.get(`/work-items?schedule_id=${id}`))).records as {
          id: string;
          status: string;
          cancel_requested_at: string | null;
        }[];
      const force = (id: string, status: string) =>
        at().sql`update work_items set status = ${status},
            finished_at = case when ${status} in ('COMPLETED', 'ERROR', 'CANCELLED') then platform_now() end,
            lease_expires_at = case when ${status} = 'EXECUTING' then platform_now() + interval '1 hour' end
            where id = ${id}`;

      test('is queue by default, is read as it was written, and PUT without it resets it', async () => {
        const { path } = await made({});
        const body = { cron_expression: '0 0 1 1 *' };
        expect(await ok(at().api.get(path))).toMatchObject({ overlap: 'queue' });
        expect(await ok(at().api.put(path, { ...body, overlap: 'skip' }))).toMatchObject({ overlap: 'skip' });
        expect((await ok(at().app.get(`${path}/history`))).data[0]).toMatchObject({
          overlap: 'skip',
          changed: ['overlap'],
          text: expect.stringContaining('what happens if a Work Item is still running'),
        });
        expect(await ok(at().api.put(path, body))).toMatchObject({ overlap: 'queue' });
        expect(await ok(at().api.put(path, { ...body, overlap: null }))).toMatchObject({ overlap: 'queue' });
        expectError(await at().api.put(path, { ...body, overlap: 'drop' }), 422);
        expectError(await at().api.put(path, { ...body, overlap: 1 }), 422);
      });

      test('queue fires however many are running', async () => {
        const { id } = await made({});
        for (const n of [3, 2, 1]) await fireAt(id, n);
        expect((await items(id)).map(({ status }) => status)).toEqual(['PENDING', 'PENDING', 'PENDING']);
      });

      test.each(['PENDING', 'EXECUTING', 'NEEDS_REVIEW', 'INDETERMINATE'])(
        'skip fires nothing while a Work Item is %s, and says which one',
        async (status) => {
          const { id, path } = await made({ overlap: 'skip' });
          await fireAt(id, 3);
          const [running] = await items(id);
          await force(running!.id, status);
          await fireAt(id, 2);
          expect(await items(id)).toHaveLength(1);
          const [row] = await ledger(path);
          expect(row).toMatchObject({
            outcome: 'skipped',
            status: 'skipped',
            cause: 'overlap',
            reason: expect.stringMatching(/was still running\. `overlap` is `skip`\.$/),
            work_item_id: null,
            running_work_item_id: running!.id,
            count: 1,
          });
          const why = await ok(at().app.get(`${path}/explain?at=${row.scheduled_for}`));
          expect(why.data).toMatchObject({
            verdict: 'skipped',
            text: expect.stringContaining('still running'),
          });
          const { data } = await ok(at().app.get(`/schedules?ids=${id}`));
          expect(data[0]).toMatchObject({
            overlap: 'skip',
            blocked_reason: null,
            last: { cause: 'overlap' },
          });
          await force(running!.id, 'COMPLETED');
          await fireAt(id, 1);
          expect(await items(id)).toHaveLength(2);
          expect((await ledger(path))[0]).not.toHaveProperty('running_work_item_id');
        },
      );

      test('cancel_previous cancels what waits or asks, requests the cancel of what executes, and fires', async () => {
        const { id, path } = await made({});
        for (const n of [5, 4, 3, 2]) await fireAt(id, n);
        const before = (await items(id)).reverse();
        const statuses = ['PENDING', 'EXECUTING', 'NEEDS_REVIEW', 'INDETERMINATE'];
        for (const [k, status] of statuses.entries()) await force(before[k]!.id, status);
        await ok(at().api.put(path, { cron_expression: '0 0 1 1 *', overlap: 'cancel_previous' }));
        await fireAt(id, 1);
        const [fired, ...others] = await items(id);
        expect(fired).toMatchObject({ status: 'PENDING', cancel_requested_at: null });
        expect(others.reverse().map(({ status, cancel_requested_at: at }) => [status, at !== null])).toEqual([
          ['CANCELLED', false],
          ['EXECUTING', true],
          ['CANCELLED', false],
          ['INDETERMINATE', false],
        ]);
        expect((await ledger(path))[0]).toMatchObject({ outcome: 'fired', work_item_id: fired!.id });
        const { data } = await ok(at().api.get(`/work-items/${others[0]!.id}/events`));
        expect(data[0]).toMatchObject({
          action: 'cancel',
          principal: { id: 'scheduler' },
          details: { reason: 'the next occurrence of its schedule is due' },
        });
      });

      test('what was run by hand, restarted, or open when overlap changed is running too; a run by hand always runs', async () => {
        const { id, path } = await made({ overlap: 'skip' });
        const byHand = await ok(at().app.post(`${path}/run`));
        expect((await ok(at().app.post(`${path}/run`))).status).toBe('PENDING');
        await fireAt(id, 5);
        expect((await ledger(path))[0]).toMatchObject({ outcome: 'manual' });
        expect((await ledger(path)).at(-1)).toMatchObject({ cause: 'overlap' });
        for (const item of await items(id)) await ok(at().api.post(`/work-items/${item.id}/cancel`));

        const other = await made({});
        await fireAt(other.id, 5);
        const [open] = await items(other.id);
        await ok(at().api.put(other.path, { cron_expression: '0 0 1 1 *', overlap: 'skip' }));
        await fireAt(other.id, 4);
        expect((await ledger(other.path))[0]).toMatchObject({ running_work_item_id: open!.id });

        const third = await made({});
        await fireAt(third.id, 5);
        const [ended] = await items(third.id);
        await force(ended!.id, 'COMPLETED');
        await ok(at().api.put(third.path, { cron_expression: '0 0 1 1 *', overlap: 'skip' }));
        await ok(at().api.post(`/work-items/${ended!.id}/restart`));
        await fireAt(third.id, 4);
        expect((await ledger(third.path))[0]).toMatchObject({ running_work_item_id: ended!.id });
        expect(byHand.schedule_id).toBe(id);
      });

      test('the audit of a schedule, its metrics and its filters know an overlap, which is neither missed nor a fault', async () => {
        const { id, path } = await made({ overlap: 'skip' });
        await ok(at().app.post(`${path}/run`));
        await fireAt(id, 1);
        const { data } = await ok(at().app.get(`/schedules?ids=${id}&outcome=skipped`));
        expect(data).toHaveLength(1);
        expect((await ok(at().app.get(`/schedules?ids=${id}&state=blocked`))).data).toEqual([]);
        const { text } = await at().test.as(undefined, '').get('/metrics');
        expect(text).toMatch(/occurrences_total\{outcome="skipped",reason="overlap"\} [1-9]/);
      });
    },
    { ROLES: 'api,delivery' },
  );
});
