import { expect, test } from 'vitest';
import { until } from '../harness/wait.ts';
import { describeOnPostgres, expectError, newAgent, newSchedule, ok } from './fixture.ts';

const day = 86_400_000;
const ahead = (milliseconds: number) => new Date(Date.now() + milliseconds).toISOString();

describeOnPostgres('a Work Item with a start', (at) => {
  const create = async (fields: object) => {
    const { id } = await newAgent(at());
    return ok(at().api.post('/work-items', { agent_id: id, ...fields }));
  };
  const shown = (id: string) => ok(at().app.get(`/work-items/${id}`));

  test('waits as PENDING until then, which lists and its page say, and is executed once', async () => {
    const planned = ahead(day);
    const far = await create({ start_at: planned });
    expect(far).toMatchObject({ status: 'PENDING', start_at: planned });
    const waiting = { reason: 'start', until: planned, text: `Waits for its start at ${planned}.` };
    expect(await shown(far.id)).toMatchObject({ start_at: planned, waiting });
    const { data } = await ok(at().app.get(`/work-items?ids=${far.id}`));
    expect(data[0]).toMatchObject({ start_at: planned, waiting });
    const start_at = ahead(500);
    const made = await create({ start_at });
    const done = await until(async () => {
      const item = await ok(at().api.get(`/work-items/${made.id}`));
      return item.status === 'COMPLETED' ? item : undefined;
    });
    expect(done).toMatchObject({ attempts: 1, start_at });
    expect(Date.parse(done.started_at)).toBeGreaterThanOrEqual(Date.parse(start_at));
    expect(await ok(at().api.post(`/work-items/${made.id}/restart`))).toMatchObject({ start_at: null });
  });

  test('starts at once if that has passed; null is none', async () => {
    for (const start_at of [ahead(-day), null]) {
      const { id } = await create({ start_at });
      await until(async () => (await ok(at().api.get(`/work-items/${id}`))).status === 'COMPLETED');
    }
  });

  test('with an offset and at most a year ahead; anything else is 422', async () => {
    const agent = await newAgent(at());
    const body = { agent_id: agent.id };
    expect(
      await ok(at().api.post('/work-items', { ...body, start_at: '2020-01-31T10:00:00+02:00', draft: true })),
    ).toMatchObject({ start_at: '2020-01-31T08:00:00.000Z' });
    await ok(at().api.post('/work-items', { ...body, start_at: ahead(364 * day) }));
    for (const start_at of [ahead(367 * day), '2027-01-31T10:00:00', 'tomorrow', '2027-02-30T10:00:00Z', 1]) {
      const response = await at().api.post('/work-items', { ...body, start_at });
      expectError(response, 422);
      expect(response.body.error.details[0].path).toBe('start_at');
    }
    const { results } = await ok(
      at().api.post('/work-items/bulk', { items: [{ ...body, start_at: ahead(367 * day) }, body] }),
    );
    expect(results[0].error).toMatchObject({ code: 'unprocessable_entity' });
    expect(results[1].work_item).toMatchObject({ status: 'PENDING', start_at: null });
  });

  test('a draft keeps it until it is submitted; a cancel ends the wait', async () => {
    const start_at = ahead(30 * day);
    const made = await create({ start_at, draft: true });
    expect(made).toMatchObject({ status: 'DRAFT', start_at });
    expect((await shown(made.id)).waiting.reason).toBe('draft');
    expect(await ok(at().api.post(`/work-items/${made.id}/submit`))).toMatchObject({
      status: 'PENDING',
      start_at,
    });
    expect((await shown(made.id)).waiting).toMatchObject({ reason: 'start', until: start_at });
    expect(await ok(at().api.post(`/work-items/${made.id}/cancel`))).toMatchObject({ status: 'CANCELLED' });
  });

  test('a schedule is run once at a time, which its ledger has; that is not running until then', async () => {
    const agent = await newAgent(at());
    const schedule = await newSchedule(at(), agent.id, { message: 'hello', overlap: 'skip' });
    const path = `/agents/${agent.id}/schedules/${schedule.id}`;
    const start_at = ahead(day);
    const item = await ok(at().app.post(`${path}/run`, { start_at }));
    expect(item).toMatchObject({ schedule_id: schedule.id, message: 'hello', status: 'PENDING', start_at });
    const [row] = (await ok(at().app.get(`${path}/occurrences`))).data;
    expect(row).toMatchObject({ outcome: 'manual', scheduled_for: start_at, lateness_ms: 0 });
    expectError(await at().app.post(`${path}/run`, { start_at: ahead(367 * day) }), 422);
    const due = new Date(Math.floor(Date.now() / 60_000) * 60_000).toISOString();
    await at().sql`update schedules set next_run_at = ${due} where id = ${schedule.id}`;
    at().test.platform.features.schedules.firing.wake();
    await until(async () => {
      const { data } = await ok(at().app.get(`${path}/occurrences?outcome=fired`));
      return data.length === 1;
    });
  });

  test('an external worker does not get it before', async () => {
    const agent = await newAgent(at(), { execution: 'external' });
    const later = await ok(at().api.post('/work-items', { agent_id: agent.id, start_at: ahead(day) }));
    const soon = await ok(at().api.post('/work-items', { agent_id: agent.id, start_at: ahead(800) }));
    const claim = { agent_ids: [agent.id], wait_seconds: 20, limit: 2 };
    const { records } = await ok(at().api.post('/work-items/claim', claim));
    expect(JSON.stringify(records)).toContain(soon.id);
    expect(JSON.stringify(records)).not.toContain(later.id);
    expect(later.status).toBe('PENDING');
  });
});
