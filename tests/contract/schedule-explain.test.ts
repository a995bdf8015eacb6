import { beforeAll, expect, test } from 'vitest';
import { newId } from '../../src/lib/ids.ts';
import {
  describeOnPostgres,
  expectError,
  newAgent,
  newKey,
  newSchedule,
  ok,
  setSettings,
} from './fixture.ts';

const minute = 60_000;
const hour = 60 * minute;

describeOnPostgres(
  'why a schedule ran or did not',
  (at) => {
    beforeAll(async () => {
      // The nights in which the clocks change may be long ago.
      await setSettings(at(), { OCCURRENCE_RETENTION_DAYS: 0 });
    });

    /** Makes a schedule whose definition has held since 2020, with the history that `changes` make of it. */
    const made = async (
      cron_expression: string,
      fields: object = {},
      changes: [from: string, change: (path: string) => Promise<unknown>][] = [],
    ) => {
      const { id: agent } = await newAgent(at());
      const definition = { cron_expression, timezone: 'Europe/Berlin', ...fields };
      const { id } = await newSchedule(at(), agent, definition);
      const path = `/agents/${agent}/schedules/${id}`;
      await at().sql`update schedule_definitions set from_at = '2020-01-01' where schedule_id = ${id}`;
      for (const [from, change] of changes) {
        await change(path);
        await at()
          .sql`update schedule_definitions set from_at = ${from} where schedule_id = ${id} and revision =
              (select max(revision) from schedule_definitions where schedule_id = ${id})`;
      }
      return { id, path };
    };
    const explain = async (path: string, moment: string) =>
      (await ok(at().app.get(`${path}/explain?at=${encodeURIComponent(moment)}`))).data;
    const record = (
      id: string,
      scheduledFor: string,
      outcome: string,
      { late = 100, count = 1, reason = null as string | null, item = null as string | null } = {},
    ) =>
      at()
        .sql`insert into occurrences (id, schedule_id, scheduled_for, outcome, work_item_id, at, count, reason)
            values (${newId()}, ${id}, ${scheduledFor}, ${outcome}, ${item},
              ${new Date(Date.parse(scheduledFor) + late)}, ${count}, ${reason})`;
    const outage = (from: string, to: string, cause: string) =>
      at().sql`insert into scheduling_outages (from_at, to_at, cause) values (${from}, ${to}, ${cause})`;

    test('it was not due: the nearest two times, each with what became of it', async () => {
      const { id, path } = await made('30 2 * * 1-5');
      await record(id, '2026-10-23T00:30:00Z', 'fired');
      await record(id, '2026-10-26T01:30:00Z', 'skipped', { reason: 'missed', late: 90_000 });
      const found = await explain(path, '2026-10-24T02:30');
      expect(found).toMatchObject({
        at: '2026-10-24T00:30:00.000Z',
        local: '2026-10-24T02:30:00+02:00',
        nominal: false,
        verdict: 'not_nominal',
        nearest: {
          before: { at: '2026-10-23T00:30:00.000Z', local: '2026-10-23T02:30:00+02:00' },
          after: { at: '2026-10-26T01:30:00.000Z', local: '2026-10-26T02:30:00+01:00' },
        },
        definition: {
          revision: 1,
          expression: '30 2 * * 1-5',
          description: 'At 02:30, Monday through Friday',
          zone: 'Europe/Berlin',
          enabled: true,
        },
        occurrence: null,
        work_item: null,
      });
      expect(found.text).toMatch(
        /^It was not due at Sat 24 Oct( 2026)? 02:30 \(Europe\/Berlin\)\. The schedule ran “At 02:30, Monday through Friday” \(30 2 \* \* 1-5\)\. The nearest are Fri 23 Oct( 2026)? 02:30, which fired on time, and Mon 26 Oct( 2026)? 02:30, which was skipped\.$/,
      );
      // Any second of a minute is that minute, and an instant may have any offset.
      expect((await explain(path, '2026-10-23T00:30:59.9Z')).verdict).toBe('fired');
      expect((await explain(path, '2026-10-22T20:30:00-04:00')).verdict).toBe('fired');
      expect((await explain(path, '2026-10-23T00:31:00Z')).verdict).toBe('not_nominal');
    });

    test('in a gap a fixed schedule runs once at its end, for what the clock skipped', async () => {
      const { id, path } = await made('*/30 2 * * *');
      await record(id, '2026-03-29T01:00:00Z', 'fired');
      for (const local of ['2026-03-29T02:00', '2026-03-29T02:30']) {
        const skipped = await explain(path, local);
        expect(skipped).toMatchObject({ verdict: 'fired', nominal: true, at: '2026-03-29T01:00:00.000Z' });
        expect(skipped.text).toMatch(
          /Due at Sun 29 Mar( 2026)? 03:00 .* It fired on time\. .*02:[03]0 did not exist on Sun 29 Mar( 2026)? in Europe\/Berlin: the clock went from 02:00 to 03:00\. The schedule runs for it at 03:00, the first moment after\.$/,
        );
      }
      const instant = await explain(path, '2026-03-29T03:00');
      expect(instant.text).toMatch(/It stands for the local times that the clock skipped there/);
      // A time of the gap that the fields do not match.
      const other = await explain(path, '2026-03-29T02:15');
      expect(other).toMatchObject({
        verdict: 'not_nominal',
        nearest: { after: { at: '2026-03-29T01:00:00.000Z' } },
      });
      expect(other.text).toMatch(/^It was not due at Sun 29 Mar( 2026)? 02:15 .* did not exist/);
    });

    test('in a gap an elapsed schedule leaves the time out, and what is due at its end is not meant', async () => {
      const elapsed = await explain((await made('30 * * * *')).path, '2026-03-29T02:30');
      expect(elapsed).toMatchObject({
        verdict: 'not_nominal',
        nearest: {
          before: { local: '2026-03-29T01:30:00+01:00' },
          after: { local: '2026-03-29T03:30:00+02:00' },
        },
      });
      expect(elapsed.text).toMatch(/The schedule follows real time, so it leaves that time out\.$/);
      const at3 = await explain((await made('0 3 * * *')).path, '2026-03-29T02:30');
      expect(at3).toMatchObject({
        verdict: 'not_nominal',
        nearest: { after: { local: '2026-03-29T03:00:00+02:00' } },
      });
      const samoa = await made('0 12 * * *', { timezone: 'Pacific/Apia' });
      await at().sql`update schedule_definitions set from_at = '2011-01-01' where schedule_id = ${samoa.id}`;
      expect((await explain(samoa.path, '2011-12-30T12:00')).text).toMatch(
        /12:00 did not exist .* went from Fri 30 Dec 2011 00:00 to Sat 31 Dec 2011 00:00\. The schedule leaves out the times of a jump of more than 3 hours\.$/,
      );
    });

    test('in a repeated hour a fixed schedule runs the first time only, an elapsed one both times', async () => {
      const fixed = await made('30 2 * * *');
      await record(fixed.id, '2026-10-25T00:30:00Z', 'fired');
      const first = await explain(fixed.path, '2026-10-25T02:30');
      expect(first).toMatchObject({ verdict: 'fired', at: '2026-10-25T00:30:00.000Z' });
      expect(first.text).toMatch(/02:30 \(\+02:00\).*twice, and the schedule runs the first time only\.$/);
      const second = await explain(fixed.path, '2026-10-25T01:30:00Z');
      expect(second).toMatchObject({ verdict: 'not_nominal', local: '2026-10-25T02:30:00+01:00' });
      expect(second.text).toMatch(
        /The clock showed 02:30 twice, and the schedule ran the first time, at 02:30 \(\+02:00\)\.$/,
      );
      const elapsed = await made('30 * * * *');
      await record(elapsed.id, '2026-10-25T00:30:00Z', 'fired');
      await record(elapsed.id, '2026-10-25T01:30:00Z', 'fired');
      for (const instant of ['2026-10-25T00:30:00Z', '2026-10-25T01:30:00Z']) {
        const each = await explain(elapsed.path, instant);
        expect(each.verdict).toBe('fired');
        expect(each.text).toMatch(/twice, and the schedule runs both times\.$/);
      }
    });

    test('an edit: what was due by the other definition is explained with who changed it and when', async () => {
      const { path } = await made('30 1 * * *', {}, [
        [
          '2026-10-10T14:20:00Z',
          (schedule) =>
            ok(at().api.put(schedule, { cron_expression: '30 2 * * *', timezone: 'Europe/Berlin' })),
        ],
      ]);
      const tooEarly = await explain(path, '2026-10-09T02:30');
      expect(tooEarly).toMatchObject({ verdict: 'changed', nominal: false, definition: { revision: 1 } });
      expect(tooEarly.text).toMatch(
        /^It was not due at .*The schedule ran “At 01:30” \(30 1 \* \* \*\) until .+ changed it to “At 02:30” \(30 2 \* \* \*\) on Sat 10 Oct( 2026)? 16:20\.$/,
      );
      const tooLate = await explain(path, '2026-10-11T01:30');
      expect(tooLate).toMatchObject({ verdict: 'changed', definition: { revision: 2 } });
      expect(tooLate.text).toMatch(/on Sat 10 Oct( 2026)? 16:20, before that time\.$/);
      expect(await explain(path, '2026-10-11T12:00')).toMatchObject({
        verdict: 'not_nominal',
        nearest: {
          before: { local: '2026-10-11T02:30:00+02:00' },
          after: { local: '2026-10-12T02:30:00+02:00' },
        },
      });
      // The nearest times are those of the definitions that held.
      expect((await explain(path, '2026-10-10T16:00')).nearest).toEqual({
        before: { at: '2026-10-09T23:30:00.000Z', local: '2026-10-10T01:30:00+02:00' },
        after: { at: '2026-10-11T00:30:00.000Z', local: '2026-10-11T02:30:00+02:00' },
      });
    });

    test('a pause: by whom, when and why, and whether it would have been due', async () => {
      const { path } = await made('30 2 * * *', {}, [
        [
          '2026-10-10T14:20:00Z',
          (schedule) => ok(at().app.post(`${schedule}/pause`, { reason: 'until the new price list' })),
        ],
        [
          '2026-10-12T14:20:00Z',
          (schedule) =>
            ok(
              at().api.put(schedule, {
                cron_expression: '30 2 * * *',
                timezone: 'Europe/Berlin',
                message: 'm',
              }),
            ),
        ],
        ['2026-10-14T14:20:00Z', (schedule) => ok(at().app.post(`${schedule}/resume`))],
      ]);
      const would = await explain(path, '2026-10-13T02:30');
      expect(would).toMatchObject({
        verdict: 'paused',
        nominal: false,
        definition: { enabled: false, revision: 3 },
        nearest: {
          before: { local: '2026-10-10T02:30:00+02:00' },
          after: { local: '2026-10-15T02:30:00+02:00' },
        },
      });
      expect(would.text).toMatch(
        /^The schedule was paused by .+ on Sat 10 Oct( 2026)? 16:20: “until the new price list”\. It was resumed by .+ on Wed 14 Oct( 2026)? 16:20\. Otherwise it would have been due then\.$/,
      );
      expect((await explain(path, '2026-10-13T03:30')).text).toMatch(
        /would not have been due then anyway\.$/,
      );
      await ok(at().app.post(`${path}/pause`));
      expect((await explain(path, '2099-01-01T02:30')).text).toMatch(
        /^The schedule was paused by .+\. It still is\. Otherwise it would be due then\.$/,
      );
    });

    test('an outage: when no replica was scheduling, what was missing, and what fired instead', async () => {
      const { id, path } = await made('* * * * *');
      await outage('2026-10-20T00:57:31Z', '2026-10-20T01:02:04Z', 'stopped');
      await record(id, '2026-10-20T00:58:00Z', 'skipped', { reason: 'missed', count: 4, late: 245_000 });
      await record(id, '2026-10-20T01:02:00Z', 'fired', { late: 5_000 });
      const inside = await explain(path, '2026-10-20T03:00');
      expect(inside).toMatchObject({
        verdict: 'skipped',
        nominal: true,
        occurrence: { outcome: 'skipped', cause: 'missed', count: 4 },
      });
      expect(inside.text).toMatch(
        /^Due at Tue 20 Oct( 2026)? 03:00 \(Europe\/Berlin\)\. It did not fire\. No replica was scheduling from 02:57 to 03:02 \(Europe\/Berlin\): the last one had been stopped\. Only the latest that was due, 03:02, fired\.$/,
      );
      expect(inside.occurrence.reason).toMatch(/^No replica was scheduling from 02:57 to 03:02/);
      const { data } = await ok(at().app.get(`${path}/occurrences`));
      expect(data[1].reason).toMatch(/^No replica was scheduling from 02:57 to 03:02 \(Europe\/Berlin\)/);

      const patient = await made('0 5 * * *');
      await outage('2026-10-21T02:30:00Z', '2026-10-21T03:41:00Z', 'database');
      await record(patient.id, '2026-10-21T03:00:00Z', 'caught_up', { late: 41 * minute + 300 });
      expect((await explain(patient.path, '2026-10-21T05:00')).text).toMatch(
        /^Due at .* 05:00 .*\. Caught up 41 min late\. No replica was scheduling from 04:30 to 05:41 \(Europe\/Berlin\): the database did not respond\.$/,
      );

      const strict = await made('0 5 * * *', { catch_up: false });
      await record(strict.id, '2026-10-21T03:00:00Z', 'skipped', { reason: 'missed', late: 2 * hour });
      const late = (await explain(strict.path, '2026-10-21T05:00')).text;
      expect(late).toMatch(/What delayed it after 05:41 is not recorded\./);
      expect(late).toMatch(/It was 2 h late when it was handled, and catch up was off\.$/);
    });

    test('what is not recorded is not guessed', async () => {
      const { id, path } = await made('0 6 * * *', { catch_up: false });
      await record(id, '2026-01-10T05:00:00Z', 'skipped', { reason: 'missed', late: 90_000 });
      await record(id, '2099-01-10T05:00:00Z', 'skipped', { reason: 'missed', late: 90_000 });
      // Before there were heartbeats, and after.
      expect((await explain(path, '2026-01-10T06:00')).text).toMatch(
        /It did not fire\. What the replicas did then is not recorded\./,
      );
      expect((await explain(path, '2099-01-10T06:00')).text).toMatch(
        /Replicas were scheduling then; what delayed it is not recorded\./,
      );
      expect((await explain(path, '2026-01-11T06:00')).verdict).toBe('missing');
    });

    test('skipped by a pause or an edit while it was due: by whom', async () => {
      const due = Math.floor(Date.now() / minute) * minute;
      for (const [change, text] of [
        [
          (path: string) => ok(at().app.post(`${path}/pause`, { reason: 'too loud' })),
          /when .+ paused the schedule at \d\d:\d\d: “too loud”\.$/,
        ],
        [
          (path: string) => ok(at().api.put(path, { cron_expression: '0 0 1 1 *', timezone: 'UTC' })),
          /when .+ changed the times of the schedule at \d\d:\d\d\.$/,
        ],
      ] as const) {
        const { id, path } = await made('* * * * *', { timezone: 'UTC' });
        await at().sql`update schedules set next_run_at = ${new Date(due)} where id = ${id}`;
        await change(path);
        const found = await explain(path, new Date(due).toISOString());
        expect(found.verdict).toBe('skipped');
        expect(found.text).toMatch(text);
      }
    });

    test('what is due, what is to come, and what was before the schedule existed', async () => {
      const { id, path } = await made('* * * * *', { timezone: 'UTC' });
      const due = Math.floor(Date.now() / minute) * minute - 5 * minute;
      await at().sql`update schedules set next_run_at = ${new Date(due)} where id = ${id}`;
      const overdue = await explain(path, new Date(due + minute).toISOString());
      expect(overdue).toMatchObject({ verdict: 'due', nominal: true, occurrence: null });
      expect(overdue.text).toMatch(/It has not fired yet\. No replica is scheduling, and there is no record/);
      const coming = await explain(path, new Date(due + 3 * hour).toISOString());
      expect(coming.verdict).toBe('upcoming');
      expect(coming.text).toMatch(/, in 2 h 5[345] min\.$/);
      const { id: agent } = await newAgent(at());
      const young = await newSchedule(at(), agent, { cron_expression: '* * * * *' });
      const before = await explain(`/agents/${agent}/schedules/${young.id}`, '2020-01-01T00:00:00Z');
      expect(before).toMatchObject({
        verdict: 'before_records',
        nominal: false,
        definition: null,
        nearest: { before: null },
      });
      expect(before.text).toMatch(
        /^The schedule did not exist at Wed 1 Jan 2020 00:00 \(UTC\): it was created by/,
      );
    });

    test('what retention has removed is not called missing', async () => {
      const { path } = await made('0 5 * * *');
      await setSettings(at(), { OCCURRENCE_RETENTION_DAYS: 1 });
      const old = await explain(path, '2026-10-21T05:00');
      await setSettings(at(), { OCCURRENCE_RETENTION_DAYS: 0 });
      expect(old.verdict).toBe('before_records');
      expect(old.text).toMatch(/is not known: the records begin on/);
    });

    test('a schedule that cannot fire: since when and from what', async () => {
      const { id, path } = await made('* * * * *');
      const due = Math.floor(Date.now() / minute) * minute - 5 * minute;
      await at()
        .sql`update schedules set next_run_at = ${new Date(due)}, timezone = 'Nowhere/Land' where id = ${id}`;
      await at().test.platform.features.schedules.firing.fireDue();
      const now = new Date(due + 2 * minute).toISOString();
      const stuck = await explain(path, now);
      expect(stuck.verdict).toBe('blocked');
      expect(stuck.text).toMatch(
        /^The schedule has not been able to fire since .*The time zone `Nowhere\/Land` is not known.* It runs again after its definition has been changed\.$/,
      );
      const first = await explain(path, new Date(due).toISOString());
      expect(first).toMatchObject({ verdict: 'skipped', occurrence: { cause: 'blocked' } });
      expectError(await at().app.get(`${path}/explain?at=2026-01-01T00:00`), 422, /must have an offset/);
      await at().sql`update schedule_definitions set timezone = 'Nowhere/Land' where schedule_id = ${id}`;
      expect(await explain(path, now)).toMatchObject({ verdict: 'blocked', nominal: false });
    });

    test('a run by hand is explained with who ran it', async () => {
      const { path } = await made('0 0 1 1 *');
      const item = await ok(at().app.post(`${path}/run`));
      const found = await explain(path, item.created_at);
      expect(found.verdict).toBe('not_nominal');
      expect(found.text).toMatch(/It was run by hand at \d\d:\d\d:\d\d by .+\.$/);
    });

    test('what the Work Item came to is told with it', async () => {
      const { id, path } = await made('0 5 * * *');
      const item = await ok(at().app.post(`${path}/run`));
      await at().sql`delete from occurrences where schedule_id = ${id}`;
      await record(id, '2026-10-21T03:00:00Z', 'fired', { item: item.id });
      const end = (status: string, error: object | null) =>
        at().sql`update work_items set status = ${status}, error = ${error && JSON.stringify(error)}::jsonb,
              started_at = '2026-10-21T03:00:00Z', finished_at = '2026-10-21T03:04:12Z' where id = ${item.id}`;
      await end('COMPLETED', null);
      const done = await explain(path, '2026-10-21T05:00');
      expect(done.work_item).toMatchObject({ id: item.id, status: 'COMPLETED', duration_ms: 252_000 });
      expect(done.text).toMatch(/It fired on time\. Its Work Item was completed in 4 min\.$/);
      await end('ERROR', { code: 'model_timeout', message: 'the model did not reply within 120 s' });
      expect((await explain(path, '2026-10-21T05:00')).text).toMatch(
        /Its Work Item failed: The model did not reply within 120 s\.$/,
      );
      await at().sql`delete from work_items where id = ${item.id}`;
      expect((await explain(path, '2026-10-21T05:00')).text).toMatch(/is no longer kept\.$/);
    });

    test('it is for members; other moments are 422, and unknown schedules 404', async () => {
      const { path } = await made('0 5 * * *');
      const { value } = await newKey(at(), 'member');
      const member = at().as(value, '/app/api');
      await ok(member.get(`${path}/explain?at=2026-10-21T05:00`));
      for (const bad of ['', 'yesterday', '2026-10-21', '2026-13-01T00:00', '2026-10-21T25:00:00Z']) {
        expectError(await member.get(`${path}/explain?at=${bad}`), 422);
      }
      expect(
        Math.abs(Date.parse((await ok(member.get(`${path}/explain`))).data.at) - Date.now()),
      ).toBeLessThan(2 * minute);
      expectError(await member.get(`${path}x/explain?at=2026-10-21T05:00`), 404);
    });

    test('the history says who changed what, newest first, page by page', async () => {
      const { path } = await made('30 1 * * *', { message: 'a' });
      await ok(
        at().api.put(path, { cron_expression: '30 2 * * *', timezone: 'Europe/Berlin', message: 'b' }),
      );
      await ok(
        at().api.put(path, { cron_expression: '30 2 * * *', timezone: 'Europe/Berlin', message: 'b' }),
      );
      await ok(at().app.post(`${path}/pause`, { reason: 'holiday' }));
      await ok(at().app.post(`${path}/resume`));
      const { data } = await ok(at().app.get(`${path}/history`));
      expect(
        data.map(({ action, revision }: { action: string; revision: number }) => [action, revision]),
      ).toEqual([
        ['resume', 5],
        ['pause', 4],
        ['update', 2],
        ['create', 1],
      ]);
      expect(data[1]).toMatchObject({ reason: 'holiday', enabled: false, by: { name: expect.any(String) } });
      expect(data[2]).toMatchObject({ changed: ['cron_expression', 'message'], catch_up: true });
      const name = data[0].by.name;
      expect(data.map(({ text }: { text: string }) => text)).toEqual([
        `Resumed by ${name}.`,
        `Paused by ${name}: “holiday”.`,
        `${name} changed the times from “At 01:30” (30 1 * * *) to “At 02:30” (30 2 * * *) and the message.`,
        `Created by ${name}: “At 01:30” (30 1 * * *).`,
      ]);
      const first = await ok(at().app.get(`${path}/history?limit=2`));
      expect([first.data, first.has_more]).toEqual([data.slice(0, 2), true]);
      const rest = await ok(at().app.get(`${path}/history?limit=2&next=${first.next}`));
      expect(rest).toEqual({ data: data.slice(2), has_more: false, next: '' });
      expectError(await at().app.get(`${path}/history?next=x`), 422);
    });

    test('a page of occurrences says what was changed between them', async () => {
      const day = (n: number, hour = '00') => `2026-10-${n}T${hour}:30:00.000Z`;
      const definition = { cron_expression: '30 3 * * *', timezone: 'Europe/Berlin' };
      const { id, path } = await made('30 2 * * *', {}, [
        [day(12, '08'), (one) => ok(at().app.post(`${one}/pause`, { reason: 'holiday' }))],
        [day(12, '09'), (one) => ok(at().app.post(`${one}/resume`))],
        [day(14, '08'), (one) => ok(at().api.put(one, definition))],
      ]);
      for (const n of [11, 12, 13, 14]) await record(id, day(n), 'fired');
      const list = async (query: string) => {
        const { changes, ...page } = await ok(at().app.get(`${path}/occurrences?${query}`));
        return { ...page, actions: changes.map(({ action }: { action: string }) => action) };
      };
      expect((await list('')).actions).toEqual(['update', 'resume', 'pause', 'create']);
      // Each change is in one page only.
      const first = await list('limit=2');
      expect(first.actions).toEqual(['update']);
      const second = await list(`limit=2&next=${first.next}`);
      expect([second.actions, second.has_more]).toEqual([['resume', 'pause', 'create'], false]);
      expect((await list(`from=${day(12)}&to=${day(13)}`)).actions).toEqual(['resume', 'pause']);
      // What it changed of the one before is said, although that one is in another page.
      const { changes } = await ok(at().app.get(`${path}/occurrences?limit=1`));
      expect(changes[0].text).toMatch(/changed the times from “At 02:30”/);
    });

    test('occurrences are filtered by time and outcome, in the order of their nominal times', async () => {
      const { id, path } = await made('* * * * *');
      const time = (n: number) => `2026-10-20T10:0${n}:00.000Z`;
      await record(id, time(3), 'fired');
      await record(id, time(1), 'fired', { late: 20_000 });
      await record(id, time(4), 'skipped', { reason: 'missed', count: 3, late: 200_000 });
      await record(id, time(7), 'caught_up', { late: 90_000 });
      const list = async (filter: string) =>
        (await ok(at().app.get(`${path}/occurrences?${filter}`))).data.map(
          (row: { scheduled_for: string; status: string }) => [
            Number(row.scheduled_for.slice(15, 16)),
            row.status,
          ],
        );
      expect(await list('')).toEqual([
        [7, 'caught_up'],
        [4, 'skipped'],
        [3, 'on_time'],
        [1, 'late'],
      ]);
      expect(await list('outcome=fired')).toEqual([
        [3, 'on_time'],
        [1, 'late'],
      ]);
      expect(await list('outcome=late')).toEqual([[1, 'late']]);
      expect(await list('outcome=on_time')).toEqual([[3, 'on_time']]);
      expect(await list('outcome=skipped')).toEqual([[4, 'skipped']]);
      // The span begins inside what was skipped together.
      expect(await list(`from=${time(5)}`)).toEqual([
        [7, 'caught_up'],
        [4, 'skipped'],
      ]);
      expect(await list(`from=${time(1)}&to=${time(4)}`)).toEqual([
        [4, 'skipped'],
        [3, 'on_time'],
      ]);
      const page = await ok(at().app.get(`${path}/occurrences?limit=3`));
      const next = await ok(at().app.get(`${path}/occurrences?limit=3&next=${page.next}`));
      expect([page.data.length, page.has_more, next.data.length, next.has_more]).toEqual([3, true, 1, false]);
      expectError(await at().app.get(`${path}/occurrences?outcome=gone`), 422);
      expectError(await at().app.get(`${path}/occurrences?next=x`), 422);
    });
  },
  { ROLES: 'api,delivery' },
);
