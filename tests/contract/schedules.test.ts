import { describe, expect, test } from 'vitest';
import { sql } from '../../src/database/index.ts';
import type { Answer } from '../harness/http.ts';
import { adminKey } from '../harness/process.ts';
import {
  expectError,
  faults,
  newAgent,
  newKey,
  newSchedule,
  ok,
  onEachDatabase,
  query,
  setSettings,
  time,
  unknownId,
  uuid,
  withPlatform,
} from './ground.ts';

const workersOnly = /schedules can only be created for worker agents/i;

describe('schedules', () => {
  onEachDatabase((at) => {
    test('a create answers 200 with the schedule, enabled, its defaults and its first occurrence', async () => {
      const agent = await newAgent(at());
      const answer = await at().api.post(`/agents/${agent.id}/schedules`, {
        cron_expression: ' 0\t9  * * MON-FRI ',
      });
      expect(answer.status).toBe(200);
      expect(answer.headers.get('etag')).toBe('"1"');
      expect(answer.body).toEqual({
        id: expect.stringMatching(uuid),
        agent_id: agent.id,
        cron_expression: ' 0\t9  * * MON-FRI ',
        timezone: 'UTC',
        enabled: true,
        catch_up: true,
        work_item_name: null,
        message: '',
        payload: {},
        metadata: {},
        last_run_at: null,
        next_run_at: expect.stringMatching(/T09:00:00\.000Z$/),
        created_at: expect.stringMatching(time),
        updated_at: answer.body.created_at,
      });
      const next = new Date(answer.body.next_run_at);
      expect(next.getTime()).toBeGreaterThan(Date.now());
      expect([1, 2, 3, 4, 5]).toContain(next.getUTCDay());
      expect(await ok(at().api.get(`/agents/${agent.id}/schedules/${answer.body.id}`))).toEqual(answer.body);
    });

    test('all fields are kept as they were given, and null is the same as leaving one out', async () => {
      const agent = await newAgent(at());
      const fields = {
        cron_expression: '*/5 * * * *',
        timezone: 'Asia/Kolkata',
        catch_up: false,
        work_item_name: 'Büro 😀',
        message: 'do\nit',
        payload: { a: [1, { b: null }], ключ: 'å' },
        metadata: { picker: { kind: 'every', n: 5 } },
      };
      expect(await newSchedule(at(), agent.id, fields)).toMatchObject(fields);
      const none = {
        timezone: null,
        catch_up: null,
        work_item_name: null,
        message: null,
        payload: null,
        metadata: null,
      };
      expect(await newSchedule(at(), agent.id, none)).toMatchObject({
        timezone: 'UTC',
        catch_up: true,
        work_item_name: null,
        message: '',
        payload: {},
        metadata: {},
      });
    });

    test('what a client cannot set is ignored', async () => {
      const agent = await newAgent(at());
      const other = await newAgent(at());
      const made = await newSchedule(at(), agent.id, {
        id: unknownId,
        agent_id: other.id,
        enabled: false,
        next_run_at: '2000-01-01T00:00:00.000Z',
        last_run_at: '2000-01-01T00:00:00.000Z',
        created_at: 'x',
      });
      expect(made).toMatchObject({ agent_id: agent.id, enabled: true, last_run_at: null });
      expect(made.id).not.toBe(unknownId);
    });

    test('the list is one page with all of an agent’s, newest first, and of no other', async () => {
      const [agent, other] = [await newAgent(at()), await newAgent(at())];
      expect(await ok(at().api.get(`/agents/${agent.id}/schedules`))).toEqual({
        data: [],
        has_more: false,
        next: '',
      });
      await setSettings(at(), { MAX_SCHEDULES_PER_AGENT: 60 });
      const made = [];
      for (let n = 0; n < 55; n++) made.push(await newSchedule(at(), agent.id, { message: String(n) }));
      await newSchedule(at(), other.id);
      await setSettings(at(), { MAX_SCHEDULES_PER_AGENT: 20 });
      expect(await ok(at().api.get(`/agents/${agent.id}/schedules`))).toEqual({
        data: made.reverse(),
        has_more: false,
        next: '',
      });
    });

    test('PUT replaces the whole definition: what it leaves out goes back to its default', async () => {
      const agent = await newAgent(at());
      const made = await newSchedule(at(), agent.id, {
        timezone: 'Europe/Berlin',
        catch_up: false,
        work_item_name: 'n',
        message: 'm',
        payload: { a: 1 },
        metadata: { b: 2 },
      });
      const path = `/agents/${agent.id}/schedules/${made.id}`;
      const replaced = await ok(at().api.put(path, { cron_expression: '30 4 1 1 *' }));
      expect(replaced).toEqual({
        ...made,
        cron_expression: '30 4 1 1 *',
        timezone: 'UTC',
        catch_up: true,
        work_item_name: null,
        message: '',
        payload: {},
        metadata: {},
        next_run_at: expect.stringMatching(/-01-01T04:30:00\.000Z$/),
        updated_at: replaced.updated_at,
      });
      expect(replaced.updated_at >= made.updated_at).toBe(true);
      expect(await ok(at().api.get(path))).toEqual(replaced);
      expectError(await at().api.put(path, { message: 'no expression' }), 400, /cron_expression/);
      expectError(await at().api.put(path, {}), 400, /cron_expression/);
      expect(await ok(at().api.get(path))).toEqual(replaced);
    });

    test('what GET gave can be sent back by PUT, and changes nothing but updated_at', async () => {
      const agent = await newAgent(at());
      const made = await newSchedule(at(), agent.id, {
        timezone: 'America/New_York',
        payload: { a: 1 },
        work_item_name: 'n',
      });
      const path = `/agents/${agent.id}/schedules/${made.id}`;
      const read = await ok(at().api.get(path));
      const put = await ok(at().api.put(path, read));
      expect({ ...put, updated_at: '' }).toEqual({ ...read, updated_at: '' });
    });

    test('a schedule is gone after DELETE, 404 the second time, and its Work Items remain', async () => {
      const agent = await newAgent(at());
      const made = await newSchedule(at(), agent.id, { message: 'once' });
      const path = `/agents/${agent.id}/schedules/${made.id}`;
      const item = await ok(at().app.post(`${path}/run`));
      const gone = await at().api.delete(path);
      expect([gone.status, gone.text]).toEqual([204, '']);
      for (const again of [
        at().api.delete(path),
        at().api.get(path),
        at().api.put(path, made),
        at().app.post(`${path}/run`),
      ]) {
        expectError(await again, 404, /schedule/);
      }
      expect(await ok(at().api.get(`/work-items/${item.id}`))).toMatchObject({
        schedule_id: made.id,
        message: 'once',
      });
      expect((await ok(at().api.get(`/work-items?schedule_id=${made.id}`))).total_count).toBe(1);
    });

    test('deleting the agent deletes its schedules', async () => {
      const agent = await newAgent(at());
      const made = await newSchedule(at(), agent.id);
      await ok(at().api.delete(`/agents/${agent.id}`), 204);
      expectError(await at().api.get(`/agents/${agent.id}/schedules/${made.id}`), 404, /agent/);
      expect(await query(at(), sql`select 1 from schedules where id = ${made.id}`)).toEqual([]);
      expect(await query(at(), sql`select 1 from occurrences where schedule_id = ${made.id}`)).toEqual([]);
    });

    const everyEndpoint = (agent: string, schedule: string): [string, () => Promise<Answer>][] => {
      const { api, app } = at();
      const path = `/agents/${agent}/schedules`;
      const one = `${path}/${schedule}`;
      const body = { cron_expression: '0 0 * * *' };
      return [
        ['list', () => api.get(path)],
        ['create', () => api.post(path, body)],
        ['create with a bad body', () => api.post(path, {})],
        ['get', () => api.get(one)],
        ['put', () => api.put(one, body)],
        ['put with a bad body', () => api.put(one, { cron_expression: 'x' })],
        ['delete', () => api.delete(one)],
        ['pause', () => app.post(`${one}/pause`)],
        ['resume', () => app.post(`${one}/resume`)],
        ['run', () => app.post(`${one}/run`)],
        ['occurrences', () => app.get(`${one}/occurrences`)],
      ];
    };

    test('an agent that is no Worker agent is 400 on every endpoint, whatever else is wrong', async () => {
      const talker = await newAgent(at(), { mode: 'conversational' });
      for (const id of [unknownId, 'x']) {
        for (const [name, send] of everyEndpoint(talker.id, id)) {
          const answer = await send();
          expect([name, answer.status]).toEqual([name, 400]);
          expectError(answer, 400, workersOnly);
        }
      }
    });

    test('an unknown or malformed agent id is 404 on every endpoint', async () => {
      const agent = await newAgent(at());
      const made = await newSchedule(at(), agent.id);
      for (const id of [unknownId, 'x', '%00', made.id]) {
        for (const [name, send] of everyEndpoint(id, made.id)) {
          const answer = await send();
          expect([name, answer.status]).toEqual([name, 404]);
          expectError(answer, 404, /agent/);
        }
      }
    });

    test('a schedule that is unknown, malformed or another agent’s is 404', async () => {
      const [agent, other] = [await newAgent(at()), await newAgent(at())];
      const made = await newSchedule(at(), agent.id);
      for (const id of [made.id, unknownId, 'x', '%00', other.id]) {
        for (const [name, send] of everyEndpoint(other.id, id).slice(3)) {
          const answer = await send();
          expect([name, answer.status]).toEqual([name, 404]);
          expectError(answer, 404, /schedule/);
        }
      }
      expect(await ok(at().api.get(`/agents/${agent.id}/schedules/${made.id}`))).toEqual(made);
    });

    test('of 30 creates at once exactly 20 succeed, and a deletion makes room for one', async () => {
      const agent = await newAgent(at());
      const path = `/agents/${agent.id}/schedules`;
      const answers = await Promise.all(
        Array.from({ length: 30 }, () => at().api.post(path, { cron_expression: '0 0 * * *' })),
      );
      expect(answers.filter(({ status }) => status === 200).length).toBe(20);
      for (const answer of answers.filter(({ status }) => status !== 200)) {
        expectError(answer, 400, /20 schedules/, { setting: 'MAX_SCHEDULES_PER_AGENT' });
      }
      const { data } = await ok(at().api.get(path));
      expect(data.length).toBe(20);
      expect((await at().api.put(`${path}/${data[0].id}`, { cron_expression: '1 1 1 1 1' })).status).toBe(
        200,
      );
      await ok(at().api.delete(`${path}/${data[0].id}`), 204);
      await newSchedule(at(), agent.id);
      expectError(await at().api.post(path, { cron_expression: '0 0 * * *' }), 400, /20/, {
        setting: 'MAX_SCHEDULES_PER_AGENT',
      });
      await newSchedule(at(), (await newAgent(at())).id);
    });

    test('exactly 100 KB of payload are accepted, one byte more is 400, on create and on PUT', async () => {
      const agent = await newAgent(at());
      const path = `/agents/${agent.id}/schedules`;
      const frame = Buffer.byteLength('{"t":""}');
      // Two bytes of UTF-8 each; a quote and a line feed take two bytes of JSON each.
      const fits = {
        t: `${'é'.repeat(50_000)}${'"\n'.repeat(300)}${'x'.repeat(102_400 - 100_000 - 1_200 - frame)}`,
      };
      const over = { t: `${fits.t}x` };
      const made = await newSchedule(at(), agent.id, { payload: fits });
      expect(made.payload).toEqual(fits);
      const setting = { setting: 'MAX_WORK_ITEM_PAYLOAD_SIZE_IN_KB' };
      const body = { cron_expression: '0 0 * * *' };
      expectError(
        await at().api.post(path, { ...body, payload: over }),
        400,
        /102,?401|102400|100 KB/,
        setting,
      );
      expectError(
        await at().api.put(`${path}/${made.id}`, { ...body, payload: over }),
        400,
        /payload/,
        setting,
      );
      expect((await at().api.put(`${path}/${made.id}`, { ...body, payload: fits })).status).toBe(200);
      // Blanks of the request do not count, nor the way characters were escaped.
      const text = `{"cron_expression":"0 0 * * *","payload":${' '.repeat(50_000)}${JSON.stringify(fits).replaceAll('é', '\\u00e9')}}`;
      const spaced = await at().api.raw('POST', path, text, {
        headers: { 'content-type': 'application/json' },
      });
      expect(spaced.status).toBe(200);
      // 400 wins over the 422 of another field.
      expectError(
        await at().api.post(path, { ...body, payload: over, catch_up: 'x' }),
        400,
        /payload/,
        setting,
      );
      // Metadata has no limit of its own.
      expect((await at().api.post(path, { ...body, metadata: { t: 'x'.repeat(200_000) } })).status).toBe(200);
    });

    test('10,000 characters of message are accepted, 10,001 are 422; a character is a code point', async () => {
      const agent = await newAgent(at());
      const made = await newSchedule(at(), agent.id, { message: '😀'.repeat(10_000) });
      expect([...made.message].length).toBe(10_000);
      const answer = await at().api.post(`/agents/${agent.id}/schedules`, {
        cron_expression: '0 0 * * *',
        message: '😀'.repeat(10_001),
      });
      expectError(answer, 422, /10,000/);
      expect(faults(answer)).toEqual(['message']);
      expectError(
        await at().api.put(`/agents/${agent.id}/schedules/${made.id}`, {
          cron_expression: '0 0 * * *',
          message: 'x'.repeat(10_001),
        }),
        422,
      );
    });

    test('ETag and If-Match: a change needs the present revision; reads and firings do not raise it', async () => {
      const agent = await newAgent(at());
      const made = await newSchedule(at(), agent.id);
      const path = `/agents/${agent.id}/schedules/${made.id}`;
      const body = { cron_expression: '1 2 3 4 *' };
      const put = (ifMatch: string, sent: object = body) =>
        at().api.put(path, sent, { headers: { 'if-match': ifMatch } });
      expect((await at().api.get(path)).headers.get('etag')).toBe('"1"');
      expect((await put('"1"')).headers.get('etag')).toBe('"2"');
      expectError(await put('"1"'), 412, /If-Match/);
      expectError(await put('W/"2"'), 412);
      expectError(await put('2'), 412);
      expectError(await put('"1"', {}), 400);
      expectError(await put('"1"', { ...body, message: 5 }), 422);
      expect((await put('"0", "2"')).status).toBe(200);
      expect((await put('*')).headers.get('etag')).toBe('"4"');
      await ok(at().app.post(`${path}/run`));
      expect((await at().api.get(path)).headers.get('etag')).toBe('"4"');
      await ok(at().app.post(`${path}/pause`));
      await ok(at().app.post(`${path}/pause`));
      expect((await at().api.get(path)).headers.get('etag')).toBe('"5"');
      expectError(await at().api.delete(path, { headers: { 'if-match': '"4"' } }), 412);
      expect((await at().api.delete(path, { headers: { 'if-match': '"5"' } })).status).toBe(204);
    });

    test('of many changes under one ETag one succeeds', async () => {
      const agent = await newAgent(at());
      const made = await newSchedule(at(), agent.id);
      const path = `/agents/${agent.id}/schedules/${made.id}`;
      const headers = { 'if-match': '"1"' };
      const answers = await Promise.all(
        Array.from({ length: 10 }, (_, n) =>
          at().api.put(path, { cron_expression: `${n} 0 * * *` }, { headers }),
        ),
      );
      expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(9).fill(412)]);
    });

    test('a paused schedule has no next run; PUT leaves it paused; resuming gives the next occurrence', async () => {
      const agent = await newAgent(at());
      const made = await newSchedule(at(), agent.id);
      const path = `/agents/${agent.id}/schedules/${made.id}`;
      const paused = await ok(at().app.post(`${path}/pause`, { reason: 'holiday' }));
      expect(paused).toEqual({ ...made, enabled: false, next_run_at: null, updated_at: paused.updated_at });
      expect(await ok(at().app.post(`${path}/pause`))).toEqual(paused);
      expect(await ok(at().api.get(path))).toEqual(paused);
      const put = await ok(at().api.put(path, { cron_expression: '0 12 * * *', enabled: true }));
      expect(put).toMatchObject({ enabled: false, next_run_at: null, cron_expression: '0 12 * * *' });
      const resumed = await ok(at().app.post(`${path}/resume`));
      expect(resumed).toMatchObject({
        enabled: true,
        next_run_at: expect.stringMatching(/T12:00:00\.000Z$/),
      });
      expect(new Date(resumed.next_run_at).getTime()).toBeGreaterThan(Date.now());
      expect(await ok(at().app.post(`${path}/resume`))).toEqual(resumed);
      expect((await ok(at().app.get(`${path}/occurrences`))).data).toEqual([]);
      expectError(await at().app.post(`${path}/pause`, { reason: 5 }), 422);
      expectError(await at().app.post(`${path}/pause`, []), 422);
      expectError(
        await at().app.raw('POST', `${path}/pause`, '{', { headers: { 'content-type': 'application/json' } }),
        400,
      );
      expect((await at().app.post(`${path}/pause`, {})).status).toBe(200);
    });

    test('run makes a Work Item now, also while paused, once per Idempotency-Key, and moves nothing', async () => {
      const agent = await newAgent(at());
      const fields = { work_item_name: 'by hand', message: 'do it', payload: { a: [1] } };
      const made = await newSchedule(at(), agent.id, fields);
      const path = `/agents/${agent.id}/schedules/${made.id}`;
      const item = await ok(at().app.post(`${path}/run`));
      expect(item).toMatchObject({
        ...fields,
        agent_id: agent.id,
        schedule_id: made.id,
        status: expect.stringMatching(/PENDING|EXECUTING|COMPLETED/),
      });
      expect(await ok(at().api.get(path))).toEqual(made);
      await ok(at().app.post(`${path}/pause`));
      const headers = { 'idempotency-key': `run-${made.id}` };
      const [one, two] = [
        await at().app.post(`${path}/run`, undefined, { headers }),
        await at().app.post(`${path}/run`, undefined, { headers }),
      ];
      expect([one.status, two.body]).toEqual([200, one.body]);
      const { data } = await ok(at().app.get(`${path}/occurrences`));
      expect(data.map((row: { work_item_id: string }) => row.work_item_id)).toEqual([one.body.id, item.id]);
      expect(data[0]).toEqual({
        scheduled_for: expect.stringMatching(time),
        outcome: 'manual',
        work_item_id: one.body.id,
        at: data[0].scheduled_for,
        lateness_ms: 0,
        count: 1,
        reason: null,
      });
      expect((await ok(at().api.get(`/work-items?schedule_id=${made.id}`))).total_count).toBe(2);
      const page = await ok(at().app.get(`${path}/occurrences?limit=1`));
      expect([page.data, page.has_more]).toEqual([[data[0]], true]);
      expect(await ok(at().app.get(`${path}/occurrences?limit=1&next=${page.next}`))).toEqual({
        data: [data[1]],
        has_more: false,
        next: '',
      });
      expectError(await at().app.get(`${path}/occurrences?limit=0`), 422);
    });

    test('pausing and resuming are in the application only', async () => {
      const agent = await newAgent(at());
      const made = await newSchedule(at(), agent.id);
      for (const base of ['/api/v2', '/api/v1'] as const) {
        expectError(
          await at().as(adminKey, base).post(`/agents/${agent.id}/schedules/${made.id}/pause`),
          404,
        );
      }
      const member = (await newKey(at(), 'member')).value;
      expectError(
        await at().as(member, '/app/api').post(`/agents/${agent.id}/schedules/${made.id}/pause`),
        403,
      );
      await ok(at().as(member).get(`/agents/${agent.id}/schedules/${made.id}`));
      expectError(await at().as(member).put(`/agents/${agent.id}/schedules/${made.id}`, made), 403);
    });
  });
});

describe('times of schedules', () =>
  withPlatform('postgres', (at) => {
    const each = async (fields: object, check: (answer: Answer) => void) => {
      const agent = await newAgent(at());
      const made = await newSchedule(at(), agent.id);
      const path = `/agents/${agent.id}/schedules`;
      check(await at().api.post(path, fields));
      check(await at().api.put(`${path}/${made.id}`, fields));
      check(await at().app.post('/schedules/preview', fields));
      await ok(at().api.delete(`/agents/${agent.id}`), 204);
    };

    test.each([
      ['', /five fields/],
      ['   ', /five fields/],
      ['* * * *', /5|five/],
      ['* * * * * *', /five/],
      ['0 0 9 * * MON-FRI', /0 9 \* \* MON-FRI/],
      ['0 9 * * * 2027', /five/],
      ['@daily', /0 0 \* \* \*/],
      ['@reboot', /@/],
      ['@every 5m', /@/],
      ['TZ=UTC 0 0 * * *', /timezone/],
      ['CRON_TZ=Europe/Berlin 0 0 * * *', /timezone/],
      ['60 * * * *', /59/],
      ['* 24 * * *', /23/],
      ['* * 0 * *', /1 to 31/],
      ['* * 32 * *', /31/],
      ['* * * 13 *', /12/],
      ['* * * 0 *', /1 to 12/],
      ['* * * * 8', /7/],
      ['-1 * * * *', /./],
      ['5-1 * * * *', /./],
      ['* * * * FRI-SUN', /FRI-7/],
      ['* * * * 7-1', /./],
      ['* * * * SUNDAY', /SUN/],
      ['* * * FEB-JAN *', /./],
      ['*/0 * * * *', /0/],
      ['*/61 * * * *', /60/],
      ['* */25 * * *', /24/],
      ['* * */32 * *', /31/],
      ['* * * */13 *', /12/],
      ['* * * * */8', /7/],
      ['5/10 * * * *', /5-59\/10/],
      ['1,,2 * * * *', /1,2/],
      [', * * * *', /./],
      ['* * L * *', /L/],
      ['* * 15W * *', /W/],
      ['* * * * 1#2', /#/],
      ['* * ? * *', /\?/],
      ['H * * * *', /H/],
      ['~ * * * *', /~/],
      ['0 0 * * * %x', /./],
      ['001 * * * *', /1/],
      ['1.5 * * * *', /U\+002E/],
      ['* * * * MOΝ', /U\+039D/],
      ['٣ * * * *', /U\+0663/],
      ['*\u00a0* * * *', /U\+00A0/],
      ['0 0 * * *\n', /U\+000A/],
      ['0\n0 * * *', /U\+000A/],
      ['0 0 * * *\u0000', /U\+0000/],
      ['0 0 * * *\ud800', /U\+D800/],
      ['0 0 30 2 *', /./],
      ['0 0 31 2,4,6,9,11 *', /./],
      ['a b c d e', /./],
      ['* * * * *; drop table schedules', /./],
      [`${'1,'.repeat(600)}1 * * * *`, /1,000/],
      [5, /./],
      [null, /./],
      [true, /./],
      [['* * * * *'], /./],
      [{}, /./],
    ])(
      'the expression %j is 400 and says why, on create, replace and preview',
      async (cron_expression, why) => {
        await each({ cron_expression }, (answer) => expectError(answer, 400, why));
      },
    );

    test.each([
      '* * * * *',
      '0-59/1 0-23 1-31 1-12 0-7',
      '*/60 */24 */31 */12 */7',
      '05 07 09 01 00',
      '0 0 29 2 *',
      '0 0 * jan-MAR sun,Mon,tue-FRI',
      '0 0 * * SUN-MON',
      '0 0 * * 5-7',
      '*,5 * * * *',
      '\t0 \t0  *  *  * ',
      '0 0 30 2 1',
    ])('the expression %j is accepted and returned as given', async (cron_expression) => {
      const agent = await newAgent(at());
      const made = await newSchedule(at(), agent.id, { cron_expression });
      expect(made.cron_expression).toBe(cron_expression);
      const { occurrences } = await ok(at().app.post('/schedules/preview', { cron_expression }));
      expect(occurrences[0].at).toBe(made.next_run_at);
    });

    test.each([
      '',
      ' ',
      'PST',
      'EDT',
      'IST',
      '+02:00',
      '+0200',
      'GMT+2',
      'UTC+1',
      'europe/berlin',
      'Europe/berlin',
      'EUROPE/BERLIN',
      'Berlin',
      'Europe/Nowhere',
      ' UTC',
      'UTC ',
      'utc',
      'Z',
      'local',
      '../../etc/passwd',
      'Europe/Berlin\u0000',
      'x'.repeat(10_000),
      5,
      true,
      {},
      ['UTC'],
    ])('the time zone %j is 400', async (timezone) => {
      await each({ cron_expression: '0 0 * * *', timezone }, (answer) =>
        expectError(answer, 400, /timezone|time zone/i),
      );
    });

    test.each([
      'UTC',
      'Etc/UTC',
      'GMT',
      'Etc/GMT-14',
      'Asia/Kolkata',
      'Asia/Calcutta',
      'America/Argentina/Buenos_Aires',
      'EST',
      'US/Pacific',
      'Europe/Kyiv',
      'Australia/Lord_Howe',
      'Pacific/Apia',
    ])('the time zone %s is accepted and returned as given', async (timezone) => {
      const agent = await newAgent(at());
      expect((await newSchedule(at(), agent.id, { timezone })).timezone).toBe(timezone);
    });

    test('400 wins over 422, and wrong types of other fields are 422', async () => {
      const agent = await newAgent(at());
      const path = `/agents/${agent.id}/schedules`;
      const good = { cron_expression: '0 0 * * *' };
      for (const bad of [
        { catch_up: 'yes' },
        { catch_up: 1 },
        { message: 5 },
        { message: {} },
        { work_item_name: 5 },
        { payload: [] },
        { payload: 'x' },
        { metadata: [] },
        { metadata: 5 },
      ]) {
        const answer = await at().api.post(path, { ...good, ...bad });
        expectError(answer, 422);
        expect(faults(answer)).toEqual(Object.keys(bad));
        expectError(await at().api.post(path, { cron_expression: 'x', ...bad }), 400, /cron_expression/);
        expectError(await at().api.post(path, { ...good, timezone: 'PST', ...bad }), 400, /timezone/);
        expectError(await at().api.post(path, { ...good, timezone: 5, ...bad }), 400, /timezone/);
        expectError(await at().api.post(path, bad), 400, /cron_expression/);
      }
    });

    describe('previews', () => {
      const preview = (body: object) => at().app.post('/schedules/preview', body);
      const berlin = (cron_expression: string, after: string, count: number) =>
        ok(preview({ cron_expression, timezone: 'Europe/Berlin', after, count }));

      test('a repeated hour: a fixed schedule fires at the first showing', async () => {
        expect((await berlin('30 2 * * *', '2026-10-24T12:00:00Z', 2)).occurrences).toEqual([
          { at: '2026-10-25T00:30:00.000Z', local: '2026-10-25T02:30:00+02:00', dst: 'overlap' },
          { at: '2026-10-26T01:30:00.000Z', local: '2026-10-26T02:30:00+01:00', dst: null },
        ]);
      });

      test('a repeated hour: an elapsed schedule fires in both', async () => {
        expect((await berlin('30 * * * *', '2026-10-24T23:45:00Z', 4)).occurrences).toEqual([
          { at: '2026-10-25T00:30:00.000Z', local: '2026-10-25T02:30:00+02:00', dst: 'overlap' },
          { at: '2026-10-25T01:30:00.000Z', local: '2026-10-25T02:30:00+01:00', dst: 'overlap' },
          { at: '2026-10-25T02:30:00.000Z', local: '2026-10-25T03:30:00+01:00', dst: null },
          { at: '2026-10-25T03:30:00.000Z', local: '2026-10-25T04:30:00+01:00', dst: null },
        ]);
      });

      test('a skipped hour: a fixed schedule fires once, at the first instant after it', async () => {
        for (const expression of ['30 2 * * *', '*/30 2 * * *', '0,30 2,3 * * *']) {
          const { occurrences } = await berlin(expression, '2027-03-27T12:00:00Z', 2);
          expect(occurrences[0]).toEqual({
            at: '2027-03-28T01:00:00.000Z',
            local: '2027-03-28T03:00:00+02:00',
            dst: 'gap',
          });
          expect(occurrences[1].at > '2027-03-28T01:00:00.000Z').toBe(true);
        }
      });

      test('a skipped hour: an elapsed schedule does not fire in it', async () => {
        expect((await berlin('30 * * * *', '2027-03-28T00:00:00Z', 2)).occurrences).toEqual([
          { at: '2027-03-28T00:30:00.000Z', local: '2027-03-28T01:30:00+01:00', dst: null },
          { at: '2027-03-28T01:30:00.000Z', local: '2027-03-28T03:30:00+02:00', dst: null },
        ]);
      });

      test('the day Samoa left out is skipped altogether', async () => {
        const body = {
          cron_expression: '0 12 * * *',
          timezone: 'Pacific/Apia',
          after: '2011-12-29T12:00:00Z',
          count: 2,
        };
        expect((await ok(preview(body))).occurrences.map(({ local }: { local: string }) => local)).toEqual([
          '2011-12-29T12:00:00-10:00',
          '2011-12-31T12:00:00+14:00',
        ]);
      });

      test('ten by default, one to a hundred, strictly after the instant given, in any offset', async () => {
        const body = { cron_expression: '0 0 * * *' };
        const ten = await ok(preview(body));
        expect(ten.occurrences.length).toBe(10);
        expect(ten.description).toMatch(/00:00/);
        expect((await ok(preview({ ...body, count: 100 }))).occurrences.length).toBe(100);
        expect(
          (await ok(preview({ ...body, count: null, after: null, timezone: null }))).occurrences.length,
        ).toBe(10);
        for (const after of [
          '2027-01-01T00:00:00Z',
          '2027-01-01T02:00:00+02:00',
          '2027-01-01T00:00:00.000Z',
        ]) {
          const { occurrences } = await ok(preview({ ...body, after, count: 1 }));
          expect(occurrences).toEqual([
            { at: '2027-01-02T00:00:00.000Z', local: '2027-01-02T00:00:00+00:00', dst: null },
          ]);
        }
        for (const [bad, path] of [
          [{ count: 0 }, 'count'],
          [{ count: 101 }, 'count'],
          [{ count: 1.5 }, 'count'],
          [{ count: '5' }, 'count'],
          [{ after: 'tomorrow' }, 'after'],
          [{ after: 5 }, 'after'],
          [{ after: '2027-01-01' }, 'after'],
          [{ after: '2027-02-30T00:00:00Z' }, 'after'],
        ] as const) {
          const answer = await preview({ ...body, ...bad });
          expectError(answer, 422);
          expect(faults(answer)).toEqual([path]);
        }
        expectError(await preview({}), 400, /cron_expression/);
        expect((await ok(preview({ ...body, after: '2100-12-30T12:00:00Z' }))).occurrences.length).toBe(1);
        expect((await ok(preview({ ...body, after: '9999-12-31T23:59:59Z' }))).occurrences).toEqual([]);
        expect(
          (await ok(preview({ ...body, after: '0001-01-01T00:00:00Z', count: 1 }))).occurrences.length,
        ).toBe(1);
      });

      test('a member may ask, nobody may not', async () => {
        const member = (await newKey(at(), 'member')).value;
        await ok(at().as(member, '/app/api').post('/schedules/preview', { cron_expression: '* * * * *' }));
        expectError(await at().as(undefined, '/app/api').post('/schedules/preview', {}), 401);
      });
    });
  }));
