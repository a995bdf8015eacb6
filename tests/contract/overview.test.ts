import { afterEach, beforeEach, expect, test } from 'vitest';
import { newId } from '../../src/lib/ids.ts';
import { clearOfNext } from '../harness/wait.ts';
import { describeOnPostgres, expectError, newAgent, newKey, newSchedule, ok, time } from './fixture.ts';

// biome-ignore lint/suspicious/noExplicitAny: JSON, read field by field
type Json = any;

const minute = 60_000;
const hour = 60 * minute;
const iso = (at: number) => new Date(at).toISOString();

describeOnPostgres(
  'the overview',
  (at) => {
    let hours = 20;
    /** A fresh one: what was computed for another number of hours does not count. */
    const overview = (client = at().app): Promise<Json> => {
      hours = hours === 160 ? 20 : hours + 1;
      return ok(client.get(`/overview?hours=${hours}`));
    };
    const lines = async (kind: string): Promise<Json[]> =>
      (await overview()).attention.filter((line: Json) => line.kind === kind);
    const only = async (kind: string): Promise<Json> => {
      const found = await lines(kind);
      expect(found.length, JSON.stringify(found)).toBe(1);
      return found[0];
    };
    const clear = async () => {
      await at().sql`delete from agents`;
      await at().sql`delete from work_items`;
      await at().sql`delete from observability_integrations`;
      await at().sql`delete from telemetry_accounts`;
      await at().sql`delete from scheduling_outages`;
    };
    beforeEach(async () => {
      await clearOfNext(hour);
      await clear();
    });
    afterEach(clear);

    const schedules = async (count: number, fields: object = {}): Promise<Json[]> => {
      const agent = await newAgent(at(), { name: 'Ledger' });
      const made: Json[] = [];
      for (let n = 0; n < count; n++) {
        const body = { cron_expression: '0 * * * *', timezone: 'Europe/Berlin', ...fields };
        made.push(await newSchedule(at(), agent.id, { work_item_name: `Report ${n}`, ...body }));
      }
      return made;
    };
    const record = (
      schedule: Json,
      due: number,
      outcome: string,
      { late = 100, count = 1, reason = null as string | null } = {},
    ) =>
      at().sql`insert into occurrences (id, schedule_id, scheduled_for, outcome, at, count, reason)
            values (${newId()}, ${schedule.id}, ${iso(due)}, ${outcome}, ${iso(due + late)}, ${count}, ${reason})`;
    /** Makes Work Items in a status, as if they had come to it `ago` milliseconds ago. */
    const items = async (agentId: string, count: number, status: string, ago: number, fields: Json = {}) => {
      const { error = null, usage = null, reason = null, notBefore = null } = fields;
      const ended = ['COMPLETED', 'ERROR', 'CANCELLED'].includes(status);
      const when = iso(Date.now() - ago);
      for (let n = 0; n < count; n++) {
        const id = newId();
        await at()
          .sql`insert into work_items (id, conversation_id, agent_id, message, payload, status, created_by, created_at,
                updated_at, finished_at, error, usage, review_reason, not_before, lease_expires_at, work_item_name)
              values (${id}, ${id}, ${agentId}, '', '{}', ${status}, 'x', ${when}, ${when}, ${ended ? when : null},
                ${error && JSON.stringify(error)}::jsonb, ${usage && JSON.stringify(usage)}::jsonb, ${reason}, ${notBefore},
                ${status === 'EXECUTING' ? iso(Date.now() + hour) : null}, ${`Item ${n}`})`;
      }
    };

    test('of a new workspace says that no replica schedules or executes, and what is left to set up', async () => {
      const found = await overview();
      expect(found.attention.map(({ kind, severity, title }: Json) => [kind, severity, title])).toEqual([
        ['no_scheduler', 'error', 'No replica is scheduling'],
        ['no_worker', 'error', 'No replica executes Work Items'],
      ]);
      expect(found.attention[0]).toMatchObject({
        since: null,
        subject: null,
        detail: 'None was ever seen. No schedule fires; what falls due waits.',
        filter: {},
      });
      expect(found.setup).toMatchObject({
        agent: false,
        first_run: false,
        schedule: false,
        tracing_backend: false,
        real_model: false,
      });
      expect(found.work_items).toMatchObject({
        by_status: { PENDING: 0, COMPLETED: 0, ERROR: 0 },
        oldest_pending_at: null,
        slots: 0,
      });
      expect(found.work_items.per_hour.length).toBe(hours + 1);
      expect(found.schedules).toMatchObject({ enabled: 0, paused: 0 });
      expect(found.now).toMatch(time);
      expect([found.integrations, found.spans.queued]).toEqual([[], 0]);
    });

    test('schedules that are due and have not fired: each, or of many the first and their number', async () => {
      const made = await schedules(6);
      const due = iso(Date.now() - 2 * minute);
      await at().sql`update schedules set next_run_at = ${due} where id = ${made[0].id}`;
      expect(await only('schedule_overdue')).toMatchObject({
        severity: 'error',
        count: 1,
        since: due,
        subject: { type: 'schedule', id: made[0].id, name: 'Report 0' },
        title: 'Report 0 is due and has not fired',
        detail: expect.stringMatching(
          /^It has been due since .*\d\d:\d\d.* \(Europe\/Berlin\)\. No replica is scheduling/,
        ),
      });
      await at().sql`update schedules set next_run_at = ${due}`;
      expect(await only('schedule_overdue')).toMatchObject({
        count: 6,
        subject: null,
        title: '6 schedules are due and have not fired',
        filter: { sort: 'next' },
      });
    });

    test('schedules that cannot fire, until they have fired again', async () => {
      const [stuck, poison, healed] = await schedules(3);
      await at().sql`update schedules set next_run_at = null where id = ${stuck.id}`;
      const reason = 'the Work Item could not be made (error 22021)';
      await at().sql`update schedules set last_outcome = 'blocked' where id = ${poison.id}`;
      await at().sql`update schedules set last_outcome = 'on_time' where id = ${healed.id}`;
      const past = Date.now() - hour;
      await record(poison, past, 'skipped', { reason });
      await record(healed, past, 'skipped', { reason });
      await record(healed, past + minute, 'fired');
      const found = await lines('schedule_blocked');
      expect(found.map(({ title }) => title)).toEqual(['Report 0 cannot fire', 'Report 1 cannot fire']);
      expect(found[0].detail).toMatch(
        /^No next time can be computed\..* after its definition has been changed\.$/,
      );
      expect(found[1].detail).toMatch(
        /^The Work Item could not be made \(error 22021\)\. Its last occurrence was skipped at /,
      );
      const more = await schedules(5);
      for (const { id } of more) await at().sql`update schedules set next_run_at = null where id = ${id}`;
      expect(await only('schedule_blocked')).toMatchObject({ count: 7, filter: { state: 'blocked' } });
    });

    test('occurrences that were missed, with what was missing; not those that someone paused', async () => {
      const [one, two] = await schedules(2);
      const due = Math.floor(Date.now() / hour) * hour - 3 * hour;
      await at().sql`insert into scheduling_outages (from_at, to_at, cause)
            values (${iso(due - 10 * minute)}, ${iso(due + 130 * minute)}, 'lost')`;
      await record(one, due, 'skipped', { reason: 'missed', count: 2, late: 130 * minute });
      await record(one, due + 2 * hour, 'fired', { late: 10 * minute });
      await record(two, due, 'skipped', { reason: 'paused' });
      const line = await only('occurrences_skipped');
      expect(line).toMatchObject({
        severity: 'error',
        count: 2,
        since: iso(due),
        subject: { type: 'schedule', id: one.id, name: 'Report 0' },
        title: '2 occurrences of Report 0 did not fire',
        detail: expect.stringMatching(
          /^No replica was scheduling from [^.]*\d\d:50 to [^.]*\d\d:10 \(Europe\/Berlin\): the last one had ended without a stop\./,
        ),
        filter: { outcome: 'skipped', from: iso(due - 1), to: iso(due) },
      });
      // Its filter finds them.
      const { data } = await ok(
        at().app.get(
          `/agents/${one.agent_id}/schedules/${one.id}/occurrences?${new URLSearchParams(line.filter)}`,
        ),
      );
      expect(data.map(({ count }: Json) => count)).toEqual([2]);
      for (const schedule of await schedules(5)) {
        await record(schedule, due, 'skipped', { reason: 'missed', count: 1, late: 130 * minute });
      }
      expect(await only('occurrences_skipped')).toMatchObject({
        count: 7,
        subject: null,
        title: '7 occurrences of 6 schedules did not fire',
        detail: expect.stringMatching(/^Most are of Report 0\. No replica was scheduling from .* \(UTC\)/),
      });
    });

    test('Work Items that failed, by the code of their errors', async () => {
      const [one, two] = [await newAgent(at(), { name: 'Clerk' }), await newAgent(at(), { name: 'Reader' })];
      const slow = { code: 'model_timeout', message: 'the model did not reply within 120 s' };
      await items(one.id, 3, 'ERROR', 10 * minute, { error: slow });
      await items(one.id, 1, 'ERROR', 200 * hour, { error: slow });
      const odd = { code: 'tool_failed', message: 'The tool failed.' };
      await items(one.id, 1, 'ERROR', minute, { error: odd });
      await items(two.id, 1, 'ERROR', minute, { error: odd });
      const found = await lines('work_items_error');
      expect(found.map(({ count, title }) => [count, title])).toEqual([
        [3, 'Clerk failed 3 times'],
        [2, '2 Work Items of 2 agents failed'],
      ]);
      expect(found[0]).toMatchObject({
        severity: 'error',
        subject: { type: 'agent', id: one.id, name: 'Clerk' },
        detail: expect.stringMatching(
          /^The model did not reply within 120 s\. The last one failed at .*\d\d:\d\d \(UTC\)\.$/,
        ),
        filter: {
          status: 'ERROR',
          error_code: 'model_timeout',
          agent_id: one.id,
          finished_from: expect.stringMatching(time),
        },
      });
      expect(found[1].filter).toEqual({
        status: 'ERROR',
        error_code: 'tool_failed',
        finished_from: expect.stringMatching(time),
      });
    });

    test('Work Items that wait for a person, the one that has waited longest first', async () => {
      const agent = await newAgent(at(), { name: 'Clerk' });
      await items(agent.id, 1, 'NEEDS_REVIEW', 72 * minute + 1_000, { reason: 'Pay 12,480.00 EUR?' });
      await items(agent.id, 2, 'NEEDS_REVIEW', minute, {});
      await items(agent.id, 1, 'INDETERMINATE', 2 * minute);
      expect(await only('reviews_waiting')).toMatchObject({
        severity: 'warning',
        count: 3,
        subject: { type: 'work_item', name: 'Item 0' },
        title: '3 Work Items wait for a person',
        detail: 'The oldest is Item 0, which has waited 1 h 12 min: “Pay 12,480.00 EUR?”',
        filter: { status: 'NEEDS_REVIEW' },
      });
      expect(await only('work_items_indeterminate')).toMatchObject({
        severity: 'error',
        count: 1,
        title: 'It is not known whether 1 Work Item was carried out',
      });
    });

    test.each([
      ['no worker', {}, {}, /^No replica executes Work Items\.$/],
      [
        'the slots of the agent',
        { settings: { max_concurrency: 1 } },
        { executing: 1 },
        /^All 1 slots of the agent are in use\.$/,
      ],
      [
        'a retry',
        {},
        { notBefore: iso(Date.now() + hour) },
        /^They wait for their next attempt, the first until .* \(UTC\)\.$/,
      ],
      ['external workers', { execution: 'external' }, {}, /^No external worker has claimed them\.$/],
    ])(
      'Work Items that are pending for long because of %s',
      async (_why, fields, { executing = 0, ...more }: Json, why) => {
        const agent = await newAgent(at(), { name: 'Clerk', ...fields });
        await items(agent.id, 2, 'PENDING', 10 * minute, more);
        await items(agent.id, 1, 'PENDING', minute, more);
        await items(agent.id, executing, 'EXECUTING', minute);
        expect(await only('work_items_pending')).toMatchObject({
          severity: 'warning',
          count: 2,
          subject: { type: 'agent', id: agent.id, name: 'Clerk' },
          title: '2 Work Items of Clerk have been pending for more than 5 min',
          detail: expect.stringMatching(why),
          filter: { status: 'PENDING', agent_id: agent.id },
        });
      },
    );

    test('integrations that are paused, retry, are behind, have dead letters or lost spans', async () => {
      const number = async (description: string): Promise<Json> => {
        const { id } = await ok(
          at().api.post('/observability/integrations', {
            version: '1',
            description,
            settings: { provider: 'otlp_custom_headers', url: 'http://127.0.0.1:9/v1/traces' },
          }),
          201,
        );
        const [row] = await at().sql`select number from observability_integrations where id = ${id}`;
        return { id, number: row.number };
      };
      const report = ({ number: n }: Json, state: string, fields: Json = {}) => {
        const { queued = 0, dead = 0, expired = 0, oldest = null, error = null } = fields;
        return at()
          .sql`insert into telemetry_accounts (replica_id, number, delivered, rejected, dead_lettered, expired, discarded,
                queued, backlog_bytes, oldest_at, state, last_error)
              values (gen_random_uuid(), ${n}, 5, 0, ${dead}, ${expired}, 0, ${queued}, 0, ${oldest}, ${state}, ${error})`;
      };
      const [paused, retrying, behind, lost, fine] = [
        await number('paused'),
        await number('retrying'),
        await number('behind'),
        await number('lost'),
        await number('fine'),
      ];
      const oldest = iso(Date.now() - 6 * minute - 1_000);
      await report(paused, 'paused', { error: 'it responded with 401', queued: 3, oldest });
      await report(retrying, 'retrying', { error: 'it responded with 429', queued: 1, oldest });
      await report(behind, 'delivering', { queued: 18_204, oldest });
      await report(lost, 'delivering', { dead: 2, expired: 7 });
      await report(fine, 'retrying', { error: 'for a moment', queued: 1, oldest: iso(Date.now() - 1_000) });
      const found = await overview();
      const shown = found.attention.filter(({ subject }: Json) => subject?.type === 'integration');
      expect(shown.map(({ kind, severity, title }: Json) => [kind, severity, title])).toEqual([
        ['integration_paused', 'error', 'paused is paused'],
        ['spans_expired', 'error', 'Spans for lost have expired'],
        ['integration_retrying', 'warning', 'retrying is retrying and 6 min behind'],
        ['integration_behind', 'warning', 'behind is behind by 6 min'],
        ['dead_letters', 'warning', 'lost refused 2 spans'],
      ]);
      expect(shown[0].detail).toMatch(/^It responded with 401\. .* 3 spans are queued; nothing is lost\./);
      expect(shown[3].detail).toBe('18,204 spans are queued; nothing is lost.');
      expect(shown[1]).toMatchObject({ count: 7, since: expect.stringMatching(time) });
      expect(found.integrations.find(({ id }: Json) => id === behind.id)).toMatchObject({
        name: 'behind',
        state: 'delivering',
        delivered: 5,
        queued: 18_204,
        backlog_age_seconds: expect.any(Number),
      });
      expect(found.spans.queued).toBe(18_209);
      expect(found.setup.tracing_backend).toBe(true);
    });

    test('a broken audit log, and keys that expire within a week', async () => {
      await at()
        .sql`insert into audit_faults (position, fault) values (12, 'the entry at position 12 was changed')`;
      expect(await only('audit_broken')).toMatchObject({
        severity: 'error',
        title: 'The chain of the audit log is broken',
        detail: expect.stringMatching(/^The entry at position 12 was changed\. It was found at /),
        filter: { position: '12' },
      });
      await at().sql`delete from audit_faults`;
      const soon = await newKey(at(), 'member', {
        name: 'soon',
        expires_at: iso(Date.now() + 3 * 24 * hour + minute),
      });
      await newKey(at(), 'member', { name: 'late', expires_at: iso(Date.now() + 8 * 24 * hour) });
      expect(await only('key_expiring')).toMatchObject({
        subject: { type: 'api_key', id: soon.id, name: 'soon' },
        title: 'The API key soon expires in 3 days',
      });
      await ok(at().api.delete(`/api-keys/${soon.id}`), 204);
    });

    test('the numbers: what is open, what ended and what was handled hour by hour, what is to come', async () => {
      const [one, two] = await schedules(2);
      await ok(at().app.post(`/agents/${two.agent_id}/schedules/${two.id}/pause`));
      const present = Math.floor(Date.now() / hour) * hour;
      const past = Date.now() - 2 * hour;
      await record(one, past, 'fired');
      await record(one, past, 'fired', { late: 10_000 });
      await record(one, past, 'skipped', { reason: 'missed', count: 5, late: 1 });
      await record(one, past, 'manual');
      const usage = { input_tokens: 10, output_tokens: 5 };
      await items(one.agent_id, 2, 'COMPLETED', 2 * hour, { usage });
      await items(one.agent_id, 1, 'ERROR', 2 * hour, { error: { code: 'x', message: 'x' }, usage });
      await items(one.agent_id, 1, 'PENDING', minute);
      await items(one.agent_id, 2, 'EXECUTING', minute);
      const found = await overview();
      expect(found.schedules).toMatchObject({ enabled: 1, paused: 1 });
      const at2 = (list: Json[]) => list.find(({ t }) => t === iso(Math.floor(past / hour) * hour));
      expect(at2(found.schedules.per_hour)).toMatchObject({
        on_time: 1,
        late: 1,
        skipped: 0,
        caught_up: 0,
        missing: 5,
        expected: 0,
      });
      expect(found.schedules.per_hour.find(({ t }: Json) => t === iso(present + 2 * hour))).toMatchObject({
        expected: 1,
        on_time: 0,
      });
      expect(at2(found.work_items.per_hour)).toEqual({
        t: expect.any(String),
        finished: 2,
        failed: 1,
        tokens: 45,
      });
      expect(found.work_items.by_status).toMatchObject({
        PENDING: 1,
        EXECUTING: 2,
        COMPLETED: 2,
        ERROR: 1,
        DRAFT: 0,
      });
      expect(found.work_items.oldest_pending_at).toMatch(time);
      expect(found.setup).toMatchObject({ agent: true, first_run: true, schedule: true });
      await at().sql`update schedules set next_run_at = ${iso(present - hour)} where id = ${one.id}`;
      const late = (await overview()).schedules.per_hour;
      expect(late.find(({ t }: Json) => t === iso(present - hour)).missing).toBe(1);
    });

    test('everyone sees what they may read', async () => {
      const agent = await newAgent(at());
      await items(agent.id, 1, 'NEEDS_REVIEW', minute);
      const app = async (role: string, more: object = {}) =>
        at().as((await newKey(at(), role, more)).value, '/app/api');
      const member = await overview(await app('member'));
      expect([member.integrations, member.spans]).toEqual([null, null]);
      expect(member.work_items.by_status.NEEDS_REVIEW).toBe(1);
      const narrow = await overview(await app('admin', { scopes: ['schedules:read'] }));
      expect([narrow.integrations, narrow.work_items]).toEqual([null, null]);
      expect(narrow.attention.some(({ kind }: Json) => kind === 'reviews_waiting')).toBe(false);
      expectError(await (await app('admin', { scopes: ['agents'] })).get('/overview'), 403);
    });

    test('nothing is sent again while nothing has changed', async () => {
      const first = await at().app.get('/overview?hours=3');
      const headers = { 'if-none-match': first.headers.get('etag')! };
      const again = await at().app.get('/overview?hours=3', { headers });
      // An hour that begins in between is a change.
      if (iso(Date.now()).slice(0, 13) === first.body.now.slice(0, 13)) expect(again.status).toBe(304);
      expectError(await at().app.get('/overview?hours=0'), 422);
      expectError(await at().app.get('/overview?hours=169'), 422);
    });
  },
  { ROLES: 'api,delivery' },
);
