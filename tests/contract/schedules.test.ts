import { expect, test } from 'vitest';
import {
  describeOnPostgres,
  expectError,
  faults,
  newAgent,
  newSchedule,
  ok,
  setSettings,
  time,
  unknownId,
  uuid,
} from './fixture.ts';

describeOnPostgres('schedules', (at) => {
  test('create responds with 200 and the schedule: enabled, with its defaults and its first occurrence', async () => {
    const agent = await newAgent(at());
    const response = await at().api.post(`/agents/${agent.id}/schedules`, {
      cron_expression: ' 0\t9  * * MON-FRI ',
    });
    expect(response.status).toBe(200);
    expect(response.headers.get('etag')).toBe('"1"');
    expect(response.body).toEqual({
      id: expect.stringMatching(uuid),
      agent_id: agent.id,
      cron_expression: ' 0\t9  * * MON-FRI ',
      timezone: 'UTC',
      enabled: true,
      catch_up: true,
      overlap: 'queue',
      work_item_name: null,
      message: '',
      payload: {},
      metadata: {},
      last_run_at: null,
      next_run_at: expect.stringMatching(/T09:00:00\.000Z$/),
      created_at: expect.stringMatching(time),
      updated_at: response.body.created_at,
    });
    const next = new Date(response.body.next_run_at);
    expect(next.getTime()).toBeGreaterThan(Date.now());
    expect([1, 2, 3, 4, 5]).toContain(next.getUTCDay());
    expect(await ok(at().api.get(`/agents/${agent.id}/schedules/${response.body.id}`))).toEqual(
      response.body,
    );
  });

  test('all fields are kept as they were sent, and null is the same as leaving one out', async () => {
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

  test('the list is one page of all schedules of the agent, newest first, and of no other agent', async () => {
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

  test('PUT replaces the whole definition and resets to the default what it leaves out', async () => {
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

  test('PUT accepts what GET returned, and changes nothing but updated_at', async () => {
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

  test('DELETE removes a schedule, and keeps its Work Items', async () => {
    const agent = await newAgent(at());
    const made = await newSchedule(at(), agent.id, { message: 'once' });
    const path = `/agents/${agent.id}/schedules/${made.id}`;
    const item = await ok(at().app.post(`${path}/run`));
    expect((await at().api.delete(path)).text).toBe('');
    expectError(await at().api.get(path), 404, /schedule/);
    const kept = { schedule_id: made.id, message: 'once' };
    expect(await ok(at().api.get(`/work-items/${item.id}`))).toMatchObject(kept);
    expect((await ok(at().api.get(`/work-items?schedule_id=${made.id}`))).total_count).toBe(1);
  });

  test('deleting the agent deletes its schedules', async () => {
    const agent = await newAgent(at());
    const made = await newSchedule(at(), agent.id);
    await ok(at().api.delete(`/agents/${agent.id}`), 204);
    expectError(await at().api.get(`/agents/${agent.id}/schedules/${made.id}`), 404, /agent/);
    expect(await at().sql`select 1 from schedules where id = ${made.id}`).toEqual([]);
    expect(await at().sql`select 1 from occurrences where schedule_id = ${made.id}`).toEqual([]);
  });

  test('of 30 creates at once exactly 20 succeed, and a deletion makes room for one more', async () => {
    const agent = await newAgent(at());
    const path = `/agents/${agent.id}/schedules`;
    const responses = await Promise.all(
      Array.from({ length: 30 }, () => at().api.post(path, { cron_expression: '0 0 * * *' })),
    );
    expect(responses.filter(({ status }) => status === 200).length).toBe(20);
    for (const response of responses.filter(({ status }) => status !== 200)) {
      expectError(response, 400, /20 schedules/, { setting: 'MAX_SCHEDULES_PER_AGENT' });
    }
    const { data } = await ok(at().api.get(path));
    expect(data.length).toBe(20);
    expect((await at().api.put(`${path}/${data[0].id}`, { cron_expression: '1 1 1 1 1' })).status).toBe(200);
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
    // Spaces in the request do not count, nor does the way that characters are escaped.
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
    // Metadata has no separate limit.
    expect((await at().api.post(path, { ...body, metadata: { t: 'x'.repeat(200_000) } })).status).toBe(200);
  });

  test('10,000 characters of message are accepted, 10,001 are 422; a character is a code point', async () => {
    const agent = await newAgent(at());
    const made = await newSchedule(at(), agent.id, { message: '😀'.repeat(10_000) });
    expect([...made.message].length).toBe(10_000);
    const response = await at().api.post(`/agents/${agent.id}/schedules`, {
      cron_expression: '0 0 * * *',
      message: '😀'.repeat(10_001),
    });
    expectError(response, 422, /10,000/);
    expect(faults(response)).toEqual(['message']);
    expectError(
      await at().api.put(`/agents/${agent.id}/schedules/${made.id}`, {
        cron_expression: '0 0 * * *',
        message: 'x'.repeat(10_001),
      }),
      422,
    );
  });
});
