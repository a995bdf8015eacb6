import { expect, test } from 'vitest';
import { expectError, newAgent, newKey, newSchedule, ok, onEachDatabase } from './fixture.ts';

/** Idempotency keys on both databases. That every operation repeats its response is in audit-coverage.test.ts. */
onEachDatabase((at) => {
  let n = 0;
  const keyed = (key = `key-${n++}`) => ({ headers: { 'idempotency-key': key } });

  test('the order of the fields makes no difference, and the response is stored encrypted', async () => {
    const options = keyed();
    const body = { name: 'secret-name', role: 'member' };
    const first = await at().api.post('/api-keys', body, options);
    const turned = Object.fromEntries(Object.entries(body).reverse());
    expect((await at().api.post('/api-keys', turned, options)).body).toEqual(first.body);
    expect((await at().api.post('/api-keys', body, keyed())).body.id).not.toBe(first.body.id);
    const rows = await at().sql`select answer from idempotency_keys`;
    expect(rows).toHaveLength(2);
    expect(JSON.stringify(rows)).not.toMatch(/secret-name|created_at/);
  });

  test('of 30 equal requests at once one makes the resource, and all get its response', async () => {
    const agent = await newAgent(at());
    const options = keyed();
    const responses = await Promise.all(
      Array.from({ length: 30 }, () =>
        at().api.post(`/agents/${agent.id}/schedules`, { cron_expression: '1 1 1 1 *' }, options),
      ),
    );
    expect(responses.map(({ status }) => status)).toEqual(Array(30).fill(200));
    expect(new Set(responses.map(({ text }) => text)).size).toBe(1);
    expect(responses.filter(({ headers }) => headers.get('idempotency-replayed') === null).length).toBe(1);
    expect((await ok(at().api.get(`/agents/${agent.id}/schedules`))).data.length).toBe(1);
    const { data } = await ok(at().api.get(`/audits?target_id=${responses[0]!.body.id}`));
    expect(data).toHaveLength(1);
  });

  test('another operation, path or body under the same key gets 422', async () => {
    const [agent, other] = [await newAgent(at()), await newAgent(at())];
    const options = keyed();
    const body = { cron_expression: '0 0 * * *' };
    const made = await newSchedule(at(), agent.id, body, options);
    expectError(await at().api.post(`/agents/${other.id}/schedules`, body, options), 422, /used before/);
    expectError(await at().api.post('/agents', { name: 'x', mode: 'worker' }, options), 422, /used before/);
    expectError(
      await at().app.post(`/agents/${agent.id}/schedules/${made.id}/run`, undefined, options),
      422,
      /used before/,
    );
    // Faults of the body come first.
    expectError(await at().api.post(`/agents/${agent.id}/schedules`, {}, options), 400);
  });

  test('two principals can use the same key', async () => {
    const options = keyed();
    const make = async () => {
      const { value } = await newKey(at(), 'builder');
      return ok(at().as(value).post('/agents', { name: 'mine', mode: 'worker' }, options));
    };
    expect((await make()).id).not.toBe((await make()).id);
  });

  test('a failed request does not use up its key', async () => {
    const agent = await newAgent(at());
    const path = `/agents/${agent.id}/schedules`;
    const options = keyed();
    expectError(await at().api.post(path, { cron_expression: 'x' }, options), 400);
    expectError(await at().api.post(path, { cron_expression: '* * * * *', message: 5 }, options), 422);
    const full = [];
    for (let i = 0; i < 20; i++) full.push(await newSchedule(at(), agent.id));
    const body = { cron_expression: '0 0 * * *' };
    expectError(await at().api.post(path, body, options), 400, /20/, {
      setting: 'MAX_SCHEDULES_PER_AGENT',
    });
    await ok(at().api.delete(`${path}/${full[0].id}`), 204);
    const made = await ok(at().api.post(path, body, options));
    // Now it succeeded: the agent is full again, and the response is still the first.
    expect(await ok(at().api.post(path, body, options))).toEqual(made);
    await ok(at().api.delete(`${path}/${made.id}`), 204);
    expect(await ok(at().api.post(path, body, options))).toEqual(made);
  });

  test('a key is free again after 24 hours', async () => {
    const options = keyed('daily');
    const body = { name: 'daily', mode: 'worker' };
    const first = await ok(at().api.post('/agents', body, options));
    await at()
      .sql`update idempotency_keys set created_at = created_at - interval '23 hours 59 minutes' where key = 'daily'`;
    expect((await ok(at().api.post('/agents', body, options))).id).toBe(first.id);
    await at()
      .sql`update idempotency_keys set created_at = created_at - interval '2 minutes' where key = 'daily'`;
    expect((await ok(at().api.post('/agents', { ...body, name: 'other' }, options))).id).not.toBe(first.id);
  });

  test('Work Items are paged by offset, with the count of all that match', async () => {
    const agent = await newAgent(at());
    const ids: string[] = [];
    for (let i = 0; i < 5; i++) {
      ids.unshift((await ok(at().api.post('/work-items', { agent_id: agent.id, draft: true }))).id);
    }
    const page = async (query: string) => {
      const { records, ...rest } = await ok(at().api.get(`/work-items?agent_id=${agent.id}&${query}`));
      return { ids: records.map(({ id }: { id: string }) => id), ...rest };
    };
    for (const [query, shown, next_offset] of [
      ['', ids, null],
      ['limit=2', ids.slice(0, 2), 2],
      ['limit=2&offset=2', ids.slice(2, 4), 4],
      ['limit=2&offset=4', ids.slice(4), null],
      ['limit=5', ids, null],
      ['offset=5', [], null],
      ['offset=999999999', [], null],
    ] as const) {
      expect(await page(query)).toEqual({ ids: shown, total_count: 5, next_offset });
    }
    expect(await page('status=DRAFT&limit=1')).toMatchObject({ total_count: 5, next_offset: 1 });
    expect(await page('status=COMPLETED')).toEqual({ ids: [], total_count: 0, next_offset: null });
  });
});
