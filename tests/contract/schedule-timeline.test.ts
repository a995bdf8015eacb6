import { afterEach, beforeEach, expect, test } from 'vitest';
import { newId } from '../../src/lib/ids.ts';
import { clearOfNext } from '../harness/wait.ts';
import {
  describeOnPostgres,
  expectError,
  faults,
  newAgent,
  newKey,
  newSchedule,
  ok,
  setSettings,
} from './fixture.ts';

// biome-ignore lint/suspicious/noExplicitAny: JSON, read field by field
type Json = any;

const minute = 60_000;
const hour = 60 * minute;
const iso = (at: number) => new Date(at).toISOString();

describeOnPostgres(
  'the timeline of schedules',
  (at) => {
    beforeEach(() => clearOfNext(hour));
    afterEach(async () => {
      await at().sql`delete from agents`;
    });
    /** Makes an hourly schedule that has existed for a week, and returns it with the last full hour. */
    const hourly = async (agentId: string, fields: object = {}): Promise<Json> => {
      const schedule = await newSchedule(at(), agentId, { cron_expression: '0 * * * *', ...fields });
      await at()
        .sql`update schedule_definitions set from_at = now() - interval '7 days' where schedule_id = ${schedule.id}`;
      return schedule;
    };
    const last = () => Math.floor(Date.now() / hour) * hour;
    const record = (schedule: Json, due: number, outcome: string, { late = 100, count = 1 } = {}) =>
      at().sql`insert into occurrences (id, schedule_id, scheduled_for, outcome, at, count, reason)
            values (${newId()}, ${schedule.id}, ${iso(due)}, ${outcome}, ${iso(due + late)}, ${count},
              ${outcome === 'skipped' ? 'missed' : null})`;
    const get = (filter: string): Promise<Json> => ok(at().app.get(`/schedules/timeline?${filter}`));
    const span = (from: number, to: number, buckets: number) =>
      `from=${iso(from)}&to=${iso(to)}&buckets=${buckets}`;
    /** `{hour: {outcome: count}}` of the buckets of a row, hours from `from` on. */
    const shown = (row: Json, from: number): Json =>
      Object.fromEntries(
        row.buckets.map(({ t, events: _, ...counts }: Json) => [
          (Date.parse(t) - from) / hour,
          Object.fromEntries(Object.entries(counts).filter(([, n]) => n !== 0)),
        ]),
      );

    test('has the records of the past and the expression’s future, each in the bucket of its nominal time', async () => {
      const agent = await newAgent(at(), { name: 'Ledger' });
      const schedule = await hourly(agent.id, { work_item_name: 'Close' });
      const now = last();
      await record(schedule, now - 8 * hour, 'fired');
      await record(schedule, now - 7 * hour, 'fired', { late: 20_000 });
      await record(schedule, now - 6 * hour, 'skipped', { count: 3, late: 3 * hour });
      await record(schedule, now - 3 * hour, 'caught_up', { late: 10 * minute });
      await record(schedule, now - 2.5 * hour, 'manual');
      // Nothing is recorded of the hour before the last; the last one is due.
      await at().sql`update schedules set next_run_at = ${iso(now)} where id = ${schedule.id}`;
      await record(schedule, now - 2 * hour, 'fired');
      const from = now - 8 * hour;
      const found = await get(span(from, now + 4 * hour, 12));
      expect(found).toMatchObject({
        has_more: false,
        next: '',
        bucket_ms: hour,
        from: iso(from),
        to: iso(now + 4 * hour),
        changes: [],
        zone_transitions: [],
      });
      expect(found.data.length).toBe(1);
      const [row] = found.data;
      expect(row).toMatchObject({
        type: 'schedule',
        id: schedule.id,
        name: 'Close',
        agent: { id: agent.id, name: 'Ledger' },
        zone: 'UTC',
        schedules: 1,
      });
      expect(shown(row, from)).toEqual({
        0: { on_time: 1 },
        1: { late: 1 },
        2: { missing: 1 },
        3: { missing: 1 },
        4: { missing: 1 },
        5: { caught_up: 1, manual: 1 },
        6: { on_time: 1 },
        7: { missing: 1 },
        8: { due: 1 },
        9: { expected: 1 },
        10: { expected: 1 },
        11: { expected: 1 },
      });
      // It agrees with the reconciliation, which looks at each, and for which what was missed is recorded as skipped.
      const { data } = await ok(
        at().app.get(`/agents/${agent.id}/schedules/${schedule.id}/audit?from=${iso(from - 1)}`),
      );
      const sums = Map.groupBy(data, ({ status }: Json) => status);
      expect(Object.fromEntries([...sums].map(([status, all]) => [status, all.length]))).toEqual({
        on_time: 2,
        late: 1,
        skipped: 3,
        caught_up: 1,
        missing: 1,
        due: 1,
      });
      // A group of several that begins before the span is cut.
      expect(shown((await get(span(now - 5 * hour, now - 3 * hour, 2))).data[0], now - 5 * hour)).toEqual({
        0: { missing: 1 },
        1: { missing: 1 },
      });
    });

    test('with agents as rows their schedules are added up', async () => {
      const [busy, idle] = [await newAgent(at(), { name: 'busy' }), await newAgent(at(), { name: 'idle' })];
      await newAgent(at(), { name: 'none' });
      const one = await hourly(busy.id);
      const two = await hourly(busy.id, { timezone: 'Asia/Tokyo' });
      await hourly(idle.id);
      const now = last();
      for (const schedule of [one, two]) await record(schedule, now - hour, 'fired');
      await record(two, now, 'fired', { late: 6_000 });
      await record(one, now, 'fired');
      const found = await get(`rows=agents&${span(now - hour, now + 2 * hour, 3)}`);
      expect(
        found.data.map(({ name, type, zone, schedules }: Json) => [name, type, zone, schedules]),
      ).toEqual([
        ['busy', 'agent', null, 2],
        ['idle', 'agent', 'UTC', 1],
      ]);
      expect(shown(found.data[0], now - hour)).toEqual({
        0: { on_time: 2 },
        1: { on_time: 1, late: 1 },
        2: { expected: 2 },
      });
      const only = await get(`rows=agents&agent_id=${idle.id}`);
      expect(only.data.map(({ name }: Json) => name)).toEqual(['idle']);
    });

    test('pages by name, and is narrowed to an agent or a schedule', async () => {
      const agent = await newAgent(at(), { name: 'A' });
      const other = await newAgent(at(), { name: 'B' });
      for (const work_item_name of ['c', 'a', 'b']) await hourly(agent.id, { work_item_name });
      const alone = await hourly(other.id);
      const walked: string[] = [];
      for (let next = ''; ; ) {
        const page = await get(`limit=2&next=${next}`);
        walked.push(...page.data.map(({ name }: Json) => name));
        next = page.next;
        if (!page.has_more) break;
      }
      expect(walked).toEqual(['a', 'b', 'B', 'c']);
      expect((await get(`agent_id=${agent.id}`)).data.length).toBe(3);
      expect((await get(`schedule_id=${alone.id}`)).data.map(({ id }: Json) => id)).toEqual([alone.id]);
      expect((await get('schedule_id=x')).data).toEqual([]);
      const agents = await get('rows=agents&limit=1');
      expect([agents.data.length, agents.has_more]).toEqual([1, true]);
      expect((await get(`rows=agents&limit=1&next=${agents.next}`)).data[0].name).toBe('B');
      expectError(await at().app.get(`/schedules/timeline?next=${agents.next}`), 422, /next/);
    });

    test('changes and pauses are listed with who made them, and a pause has no occurrences', async () => {
      const agent = await newAgent(at());
      const schedule = await hourly(agent.id);
      const path = `/agents/${agent.id}/schedules/${schedule.id}`;
      const now = last();
      await ok(at().app.post(`${path}/pause`, { reason: 'quiet' }));
      await at().sql`update schedule_definitions set from_at = ${iso(now - 3.5 * hour)}
            where schedule_id = ${schedule.id} and revision = 2`;
      await ok(at().app.post(`${path}/resume`));
      await at().sql`update schedule_definitions set from_at = ${iso(now - 1.5 * hour)}
            where schedule_id = ${schedule.id} and revision = 3`;
      for (const ago of [4, 1, 0]) await record(schedule, now - ago * hour, 'fired');
      const found = await get(span(now - 4 * hour, now + hour, 5));
      expect(shown(found.data[0], now - 4 * hour)).toEqual({
        0: { on_time: 1 },
        3: { on_time: 1 },
        4: { on_time: 1 },
      });
      expect(found.changes).toEqual([
        {
          at: iso(now - 3.5 * hour),
          schedule_id: schedule.id,
          action: 'pause',
          by: expect.any(String),
          text: expect.stringMatching(/^Paused by .+: “quiet”\.$/),
        },
        expect.objectContaining({ action: 'resume' }),
      ]);
    });

    test('changes of the clocks are drawn for the zones of the schedules and the one it is read in', async () => {
      const agent = await newAgent(at());
      await hourly(agent.id, { timezone: 'Europe/Berlin', cron_expression: '30 2 * * *' });
      const night = 'from=2027-03-27T00:00:00Z&to=2027-03-29T00:00:00Z&buckets=2';
      const found = await get(night);
      expect(found.zone_transitions).toEqual([
        {
          at: '2027-03-28T01:00:00.000Z',
          zone: 'Europe/Berlin',
          kind: 'gap',
          offset_before: '+01:00',
          offset_after: '+02:00',
          text: 'On Sun 28 Mar 2027 the clock in Europe/Berlin goes from 02:00 to 03:00: the times between do not exist.',
        },
      ]);
      expect((await get(`${night}&zone=Europe/Madrid`)).zone_transitions.length).toBe(2);
      expect((await get(`${night}&zone=Nowhere`)).zone_transitions.length).toBe(1);
      const autumn = await get('from=2027-10-30T00:00:00Z&to=2027-11-01T00:00:00Z');
      expect(autumn.zone_transitions[0].text).toBe(
        'On Sun 31 Oct 2027 the clock in Europe/Berlin goes back from 03:00 to 02:00: the times between come twice.',
      );
    });

    test('what retention has removed is not missing; a schedule without a next time expects nothing', async () => {
      const agent = await newAgent(at());
      const schedule = await hourly(agent.id);
      const now = last();
      await setSettings(at(), { OCCURRENCE_RETENTION_DAYS: 1 });
      await at().sql`update schedules set next_run_at = null where id = ${schedule.id}`;
      const row = (await get(span(now - 48 * hour, now + 2 * hour, 50))).data[0];
      await setSettings(at(), { OCCURRENCE_RETENTION_DAYS: 90 });
      const found = shown(row, now - 48 * hour);
      expect(Object.keys(found).every((k) => Number(k) >= 24)).toBe(true);
      expect(found[49]).toBeUndefined();
      expect(found[30]).toEqual({ missing: 1 });
    });

    test('spans that make no sense are 422; members may read it; nothing new is 304', async () => {
      const day = 24 * hour;
      const now = last();
      for (const [bad, path] of [
        [span(now, now, 5), 'to'],
        [span(now, now - 1, 5), 'to'],
        [span(now, now + 32 * day, 5), 'to'],
        ['from=yesterday', 'from'],
        ['buckets=201', 'buckets'],
        ['limit=101', 'limit'],
        ['rows=zones', 'rows'],
      ] as const) {
        const response = await at().app.get(`/schedules/timeline?${bad}`);
        expectError(response, 422);
        expect(faults(response)).toEqual([path]);
      }
      const { value } = await newKey(at(), 'member');
      const url = `/schedules/timeline?${span(now - day, now - hour, 24)}`;
      const first = await at().as(value, '/app/api').get(url);
      expect(first.status).toBe(200);
      const headers = { 'if-none-match': first.headers.get('etag')! };
      expect((await at().app.get(url, { headers })).status).toBe(304);
    });
  },
  { ROLES: 'api,delivery' },
);
