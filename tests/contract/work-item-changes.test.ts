import { expect, test } from 'vitest';
import { sql } from '../../src/database/index.ts';
import { until } from '../harness/wait.ts';
import { describeOnPostgres, expectError, newAgent, newKey, newSchedule, ok, unknownId } from './fixture.ts';

describeOnPostgres('changing a draft', (at) => {
  const draft = async (fields: object = {}) => {
    const { id } = await newAgent(at());
    return ok(at().api.post('/work-items', { agent_id: id, draft: true, message: 'old', ...fields }));
  };
  const pathOf = ({ id }: { id: string }) => `/work-items/${id}`;

  test('PATCH changes what it names, keeps the rest, raises the ETag and is audited', async () => {
    const made = await draft({ payload: { a: 1 }, work_item_name: 'n' });
    const before = await at().api.get(pathOf(made));
    const headers = { 'If-Match': before.headers.get('etag')! };
    const start_at = new Date(Date.now() + 60_000).toISOString();
    const change = { message: 'new', payload: { b: [2] }, work_item_name: null, start_at };
    const after = await at().api.patch(pathOf(made), change, { headers });
    expect(after.status).toBe(200);
    expect(after.body).toEqual({ ...made, ...change, updated_at: after.body.updated_at });
    expect(after.headers.get('etag')).not.toBe(headers['If-Match']);
    const read = await at().api.get(pathOf(made));
    expect(read.headers.get('etag')).toBe(after.headers.get('etag'));
    expect(read.body).toEqual(after.body);
    const { data } = await ok(at().api.get(`/audits?target_id=${made.id}&action=work_item.update`));
    expect(data[0].details).toMatchObject({ changed: ['message', 'payload', 'work_item_name', 'start_at'] });
    const stale = await at().api.patch(pathOf(made), { message: 'x' }, { headers });
    expectError(stale, 412, /If-Match/, { status: 'DRAFT', allowed_actions: ['submit', 'cancel'] });
    expect((await ok(at().api.patch(pathOf(made), { message: 'x' }))).message).toBe('x');
    expect((await ok(at().api.patch(pathOf(made), { start_at: null }))).start_at).toBeNull();
  });

  test('PATCH replaces its callbacks: those that are named stay, others end, and only the present ones are notified', async () => {
    const keep = { url: 'https://one.example/a', headers: { 'X-Team': 'night' } };
    const made = await draft({ callbacks: [keep, { url: 'https://two.example/' }] });
    const [kept] = made.callbacks;
    const events = ['work_item.cancelled'];
    const callbacks = [
      { id: kept.id, url: keep.url, events },
      { url: 'https://three.example/', events },
    ];
    const after = await at().api.patch(pathOf(made), { callbacks });
    expect(after.status).toBe(200);
    const [first, third] = after.body.callbacks;
    expect(first).toEqual({ id: kept.id, url: keep.url, events, header_names: ['X-Team'], secret_set: true });
    expect(third).toMatchObject({ url: 'https://three.example/', secret: expect.stringMatching(/^whsec_/) });
    const { secret: _, ...shown } = third;
    const read = await at().api.get(pathOf(made));
    expect(read.body.callbacks).toEqual([first, shown]);
    expect(read.headers.get('etag')).toBe(after.headers.get('etag'));
    const { data } = await ok(at().api.get(`/audits?target_id=${made.id}&action=work_item.update`));
    expect(data[0].details.changed).toEqual(['callbacks']);
    expect(JSON.stringify(data)).not.toContain(third.secret);
    const same = await ok(at().api.patch(pathOf(made), { callbacks: read.body.callbacks }));
    expect(same).toEqual(read.body);
    await ok(at().api.post(`${pathOf(made)}/cancel`));
    const deliveries = await ok(at().api.get(`${pathOf(made)}/callbacks`));
    expect(deliveries.data.map(({ url }: { url: string }) => url).sort()).toEqual([
      keep.url,
      'https://three.example/',
    ]);
    const none = await draft({ callbacks: [keep] });
    expect((await ok(at().api.patch(pathOf(none), { callbacks: [] }))).callbacks).toEqual([]);
    expect(await at().sql`select 1 from callbacks where work_item_id = ${none.id}`).toEqual([]);
  });

  test('a callback of a draft moves with its secrets only, and a member gives no private address', async () => {
    const made = await draft({ callbacks: [{ url: 'http://127.0.0.1:9/', headers: { a: 'b' } }] });
    const [{ id }] = made.callbacks;
    const patch = (callbacks: object[], api = at().api) => api.patch(pathOf(made), { callbacks });
    expectError(await patch([{ id, url: 'https://else.example/' }]), 422, /headers.*secret/);
    expectError(await patch([{ id: unknownId, url: 'https://else.example/' }]), 422, /callbacks\[0\]\.id/);
    const member = at().test.as((await newKey(at(), 'member')).value);
    const events = ['work_item.error'];
    const stays = await patch([{ id, url: 'http://127.0.0.1:9/', events }], member);
    expect([stays.status, stays.body.callbacks[0].events]).toEqual([200, events]);
    for (const refused of [
      { id, url: 'http://127.0.0.1:9/', headers: { a: 'c' } },
      { id, url: 'http://127.0.0.1:9/other', headers: {} },
      { url: 'http://10.0.0.1/' },
    ])
      expectError(await patch([refused], member), 422, /EGRESS_MEMBERS_ALLOW/);
  });

  test('what does not change writes nothing', async () => {
    const made = await draft();
    const same = { agent_id: made.agent_id, message: 'old', unknown: 1 };
    expect(await ok(at().api.patch(pathOf(made), same))).toEqual(made);
    expect((await ok(at().api.get(`/audits?target_id=${made.id}&action=work_item.update`))).data).toEqual([]);
  });

  test.each([
    [{ message: 'x'.repeat(10_001) }, 422],
    [{ payload: { a: 'x'.repeat(110_000) } }, 400],
    [{ agent_id: unknownId }, 422],
  ])('a bad body is refused: %#', async (body, status) => {
    const made = await draft();
    const response = await at().api.patch(pathOf(made), body);
    expect(response.status).toBe(status);
    expect(await ok(at().api.get(pathOf(made)))).toEqual(made);
  });

  test('what is no draft any more is 412 with its status and actions', async () => {
    const made = await draft();
    await ok(at().api.post(`${pathOf(made)}/cancel`));
    expectError(await at().api.patch(pathOf(made), { message: 'x' }), 412, /CANCELLED/, {
      status: 'CANCELLED',
      allowed_actions: ['restart'],
    });
  });
});

describeOnPostgres('deleting a Work Item', (at) => {
  const finished = async (fields: object = {}) => {
    const { id } = await newAgent(at());
    const body = { agent_id: id, message: 'secret', payload: { person: 'secret' }, ...fields };
    const made = await ok(at().api.post('/work-items', body));
    await until(async () => (await ok(at().api.get(`/work-items/${made.id}`))).status === 'COMPLETED');
    return made;
  };

  test('everything that it has is gone at once; the second time is 404', async () => {
    const made = await finished({ callbacks: [{ url: 'http://127.0.0.1:9/' }] });
    const response = await at().api.delete(`/work-items/${made.id}`);
    expect([response.status, response.text]).toEqual([204, '']);
    expectError(await at().api.delete(`/work-items/${made.id}`), 404);
    for (const more of ['', '/events', '/messages', '/trace', '/callbacks', '/files']) {
      expectError(await at().api.get(`/work-items/${made.id}${more}`), 404);
    }
    const tables = ['messages', 'events', 'steps'].map((name) => `work_item_${name}`);
    for (const table of [...tables, 'callbacks', 'callback_deliveries', 'files', 'data_frames']) {
      const rows = await at().sql`select from ${sql.table(table)} where work_item_id = ${made.id}`;
      expect([table, rows.length]).toEqual([table, 0]);
    }
    const { data } = await ok(at().api.get(`/audits?target_id=${made.id}`));
    expect(data[0]).toMatchObject({
      action: 'work_item.delete',
      details: { agent_id: made.agent_id, status: 'COMPLETED' },
    });
    expect(JSON.stringify(data)).not.toContain('secret');
  });

  test('the ledger of its schedule keeps its id and the fact', async () => {
    const agent = await newAgent(at());
    const schedule = await newSchedule(at(), agent.id);
    const path = `/agents/${agent.id}/schedules/${schedule.id}`;
    const { id } = await ok(at().app.post(`${path}/run`));
    await until(async () => (await ok(at().api.get(`/work-items/${id}`))).status === 'COMPLETED');
    expect((await at().api.delete(`/work-items/${id}`)).status).toBe(204);
    const [row] = (await ok(at().app.get(`${path}/occurrences`))).data;
    expect(row).toMatchObject({ outcome: 'manual', work_item_id: id, work_item: null });
  });

  test('what is not finished is 412 with its status and actions', async () => {
    const { id } = await newAgent(at(), { execution: 'external' });
    for (const draft of [true, false]) {
      const made = await ok(at().api.post('/work-items', { agent_id: id, draft }));
      const status = draft ? 'DRAFT' : 'PENDING';
      expectError(await at().api.delete(`/work-items/${made.id}`), 412, new RegExp(status), {
        status,
        allowed_actions: draft ? ['submit', 'cancel'] : ['cancel'],
      });
      await ok(at().api.post(`/work-items/${made.id}/cancel`));
      const headers = { 'If-Match': '"1"' };
      expectError(await at().api.delete(`/work-items/${made.id}`, { headers }), 412, /If-Match/, {
        status: 'CANCELLED',
        allowed_actions: ['restart'],
      });
      expect((await at().api.delete(`/work-items/${made.id}`)).status).toBe(204);
    }
  });
});
