import { expect, test } from 'vitest';
import { adminKey } from '../harness/process.ts';
import { describeOnPostgres, expectError, newAgent, newKey, newSchedule, ok, time } from './fixture.ts';

describeOnPostgres('changing, pausing and running schedules', (at) => {
  test('reads, runs and a second pause do not raise the revision', async () => {
    const agent = await newAgent(at());
    const made = await newSchedule(at(), agent.id);
    const path = `/agents/${agent.id}/schedules/${made.id}`;
    const tag = async () => (await at().api.get(path)).headers.get('etag');
    await ok(at().app.post(`${path}/run`));
    expect(await tag()).toBe('"1"');
    await ok(at().app.post(`${path}/pause`));
    await ok(at().app.post(`${path}/pause`));
    expect(await tag()).toBe('"2"');
    const put = { cron_expression: '1 2 3 4 *' };
    expectError(await at().api.put(path, {}, { headers: { 'if-match': '"1"' } }), 400);
    expectError(await at().api.put(path, put, { headers: { 'if-match': '"1"' } }), 412, /If-Match/);
  });

  test('of many changes under one ETag, one succeeds', async () => {
    const agent = await newAgent(at());
    const made = await newSchedule(at(), agent.id);
    const path = `/agents/${agent.id}/schedules/${made.id}`;
    const headers = { 'if-match': '"1"' };
    const responses = await Promise.all(
      Array.from({ length: 10 }, (_, n) =>
        at().api.put(path, { cron_expression: `${n} 0 * * *` }, { headers }),
      ),
    );
    expect(responses.map(({ status }) => status).sort()).toEqual([200, ...Array(9).fill(412)]);
  });

  test('a paused schedule has no next run; PUT leaves it paused; resuming plans the next occurrence', async () => {
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
    expect(resumed).toMatchObject({ enabled: true, next_run_at: expect.stringMatching(/T12:00:00\.000Z$/) });
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

  test('run makes a Work Item now, also while paused, once per Idempotency-Key, and does not move the next run', async () => {
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
      status: 'manual',
      work_item_id: one.body.id,
      work_item: expect.objectContaining({ id: one.body.id }),
      at: data[0].scheduled_for,
      lateness_ms: 0,
      count: 1,
      cause: null,
      reason: null,
      by: expect.stringMatching(/./),
    });
    expect((await ok(at().api.get(`/work-items?schedule_id=${made.id}`))).total_count).toBe(2);
    const page = await ok(at().app.get(`${path}/occurrences?limit=1`));
    // In the meantime they are executed.
    const still = (n: number) => ({
      ...data[n],
      work_item: expect.objectContaining({ id: data[n].work_item_id }),
    });
    expect([page.data, page.has_more]).toEqual([[still(0)], true]);
    expect(await ok(at().app.get(`${path}/occurrences?limit=1&next=${page.next}`))).toEqual({
      data: [still(1)],
      changes: expect.any(Array),
      has_more: false,
      next: '',
    });
    expectError(await at().app.get(`${path}/occurrences?limit=0`), 422);
  });

  test('pausing and resuming exist in the application API only', async () => {
    const agent = await newAgent(at());
    const made = await newSchedule(at(), agent.id);
    for (const base of ['/api/v2', '/api/v1'] as const) {
      expectError(await at().as(adminKey, base).post(`/agents/${agent.id}/schedules/${made.id}/pause`), 404);
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
