import { expect, test } from 'vitest';
import {
  expectError,
  faults,
  newAgent,
  newKey,
  newSchedule,
  ok,
  onEachDatabase,
  unknownId,
  uuid,
} from './fixture.ts';

onEachDatabase((at) => {
  let made = 0;
  const fieldsOf = (fields: object) => ({
    name: `budget ${++made}`,
    scope: { kind: 'workspace' },
    unit: 'nano_usd',
    limit: 5_000_000_000,
    period: 'month',
    ...fields,
  });
  const create = (fields: object = {}) => at().api.post('/budgets', fieldsOf(fields));
  const change = (id: string, fields: object) => at().api.patch(`/budgets/${id}`, fields);

  test('a budget has defaults, and its current period from the beginning', async () => {
    const budget = await ok(create({ name: 'defaults' }));
    expect(budget).toEqual({
      id: expect.stringMatching(uuid),
      name: 'defaults',
      scope: { kind: 'workspace', id: null },
      unit: 'nano_usd',
      limit: 5_000_000_000,
      period: 'month',
      timezone: 'UTC',
      action: 'refuse',
      llm_id: null,
      from_percent: 80,
      notify_percent: [50, 80],
      enabled: true,
      effective_from: new Date(Date.parse(budget.created_at) + 2_000).toISOString(),
      created_at: expect.any(String),
      updated_at: budget.created_at,
      subject: null,
      current: {
        starts_at: expect.stringMatching(/^\d{4}-\d\d-01T00:00:00\.000Z$/),
        ends_at: expect.stringMatching(/^\d{4}-\d\d-01T00:00:00\.000Z$/),
        spent: 0,
        assumed: 0,
        reserved: 0,
        extra: 0,
        state: 'ok',
      },
    });
    expect(await ok(at().api.get(`/budgets/${budget.id}`))).toEqual(budget);
    const [listed] = (await ok(at().api.get('/budgets?limit=1'))).data;
    expect(listed).toEqual(budget);
    // What was read can be sent back.
    const same = await ok(change(budget.id, budget));
    expect(same).toEqual({ ...budget, updated_at: expect.any(String) });
    expect(await ok(at().api.get(`/budgets/${budget.id}/periods`))).toEqual({
      data: [],
      has_more: false,
      next: '',
    });
    const total = await ok(create({ period: 'total' }));
    expect(total.current).toMatchObject({ starts_at: total.effective_from, ends_at: null });
    const each = await ok(create({ scope: { kind: 'agent', id: null } }));
    expect(each.current).toBe(null);
  });

  test('a scope names what there is: an agent, a schedule, a person, the first key of a service account, a model', async () => {
    const { api } = at();
    const agent = await newAgent(at());
    const schedule = await newSchedule(at(), agent.id);
    const person = await ok(api.post('/users', { email: 'budget@example.com', role: 'member' }));
    const key = await newKey(at(), 'builder');
    const next = await ok(api.post(`/api-keys/${key.id}/rotate`, {}), 201);
    const llm = await ok(api.post('/llm-configurations', { kind: 'mock', name: 'm', model: 'mock' }));
    const ids = {
      agent: agent.id,
      schedule: schedule.id,
      person: person.id,
      api_key: key.id,
      llm_configuration: llm.id,
    };
    for (const [kind, id] of Object.entries(ids)) {
      const { scope, subject } = await ok(create({ scope: { kind, id: id.toUpperCase() } }));
      expect(scope).toEqual({ kind, id });
      expect(subject).toEqual({ id, name: expect.any(String) });
      expect(faults(await create({ scope: { kind, id: unknownId } }))).toEqual(['scope.id']);
      expect(faults(await create({ scope: { kind, id: 'x' } }))).toEqual(['scope.id']);
    }
    const { scope } = await ok(create({ scope: { kind: 'api_key', id: next.id } }));
    expect(scope).toEqual({ kind: 'api_key', id: key.id });
    expect(faults(await create({ scope: { kind: 'workspace', id: agent.id } }))).toEqual(['scope.id']);
    const account = await ok(api.post('/api-keys', { name: 'p', role: 'builder', owner: 'workspace' }), 201);
    await ok(create({ scope: { kind: 'api_key', id: account.id } }));
  });

  test('fields that do not fit together are refused, on create and on update', async () => {
    const { api } = at();
    const llm = await ok(api.post('/llm-configurations', { kind: 'mock', name: 'cheap', model: 'mock' }));
    expect(faults(await create({ action: 'wait', period: 'total' }))).toEqual(['action']);
    expect(faults(await create({ action: 'cheaper' }))).toEqual(['llm_id']);
    expect(faults(await create({ action: 'refuse', llm_id: llm.id }))).toEqual(['llm_id']);
    expect(faults(await create({ action: 'cheaper', llm_id: unknownId }))).toEqual(['llm_id']);
    expect(faults(await create({ timezone: 'CEST' }))).toEqual(['timezone']);
    expect(faults(await create({ limit: 0 }))).toEqual(['limit']);
    expect(faults(await create({ limit: 9e15 + 1 }))).toEqual(['limit']);
    expect(faults(await create({ notify_percent: [1, 2, 3, 4, 5, 6] }))).toEqual(['notify_percent']);
    const cheaper = await ok(create({ action: 'cheaper', llm_id: llm.id, from_percent: 60 }));
    expect(faults(await change(cheaper.id, { llm_id: null }))).toEqual(['llm_id']);
    expect(faults(await change(cheaper.id, { action: 'refuse' }))).toEqual(['llm_id']);
    const fixed = { scope: { kind: 'agent' }, unit: 'tokens', period: 'day', timezone: 'Europe/Berlin' };
    for (const [name, value] of Object.entries(fixed))
      expect(faults(await change(cheaper.id, { [name]: value }))).toEqual([name]);
    expectError(await api.delete(`/llm-configurations/${llm.id}`), 412, /budget/, {
      llm_id: llm.id,
      budget_id: cheaper.id,
    });
    await ok(change(cheaper.id, { action: 'ask', llm_id: null }));
    await ok(api.delete(`/llm-configurations/${llm.id}`), 204);
    const other = await ok(create());
    expect(faults(await create({ name: other.name }))).toEqual(['name']);
    expect(faults(await change(cheaper.id, { name: other.name }))).toEqual(['name']);
  });

  test('budgets of persons are for administrators', async () => {
    const builder = at().as((await newKey(at(), 'builder')).value);
    const person = await ok(create({ scope: { kind: 'person', id: null } }));
    const shown = await ok(create());
    expectError(await builder.get(`/budgets/${person.id}`), 404);
    expectError(await builder.get(`/budgets/${person.id}/periods`), 404);
    expectError(await builder.patch(`/budgets/${shown.id}`, { limit: 1 }), 403);
    const { data } = await ok(builder.get('/budgets?limit=200'));
    const ids = data.map(({ id }: { id: string }) => id);
    expect(ids).toContain(shown.id);
    expect(ids).not.toContain(person.id);
    await ok(builder.get(`/budgets/${shown.id}/periods?from=2026-01-01T00:00:00Z`));
  });

  test('there are at most MAX_BUDGETS', async () => {
    const { api } = at();
    const { data } = await ok(api.get('/budgets?limit=200'));
    await ok(api.patch('/advanced-settings', { MAX_BUDGETS: data.length }));
    expectError(await create(), 400, /maximum/, { setting: 'MAX_BUDGETS' });
    await ok(api.delete(`/budgets/${data[0].id}`), 204);
    await ok(create());
    await ok(api.patch('/advanced-settings', { MAX_BUDGETS: 200 }));
  });
});
