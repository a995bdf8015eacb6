import { expect, test } from 'vitest';
import { expectError, faults, newKey, ok, onPostgres, unknownId, uuid } from './fixture.ts';

onPostgres((at) => {
  const create = (fields: object) => at().api.post('/datasets', fields);
  const read = (id: string) => ok(at().api.get(`/datasets/${id}`));

  test('a dataset has defaults, and its graders have all their fields', async () => {
    const made = await ok(create({ name: 'defaults', graders: [{ type: 'steps', max_steps: 3 }] }));
    expect(made).toEqual({
      id: expect.stringMatching(uuid),
      name: 'defaults',
      description: null,
      mode: 'worker',
      graders: [{ type: 'steps', name: 'steps', threshold: 1, negate: false, max_steps: 3 }],
      case_count: 0,
      revision: 1,
      created_at: expect.any(String),
      updated_at: expect.any(String),
    });
    expect(await read(made.id)).toEqual(made);
  });

  test('a name is that of one dataset, also after a rename', async () => {
    const one = await ok(create({ name: 'unique' }));
    const other = await ok(create({ name: 'other' }));
    expect(faults(await create({ name: 'unique' }))).toEqual(['name']);
    expect(faults(await at().api.patch(`/datasets/${other.id}`, { name: 'unique' }))).toEqual(['name']);
    expect(await ok(at().api.patch(`/datasets/${one.id}`, { name: 'unique' }))).toMatchObject({
      revision: 2,
    });
  });

  test('the mode never changes, and a judge names an LLM configuration', async () => {
    const { id } = await ok(create({ name: 'fixed' }));
    expect(faults(await at().api.patch(`/datasets/${id}`, { mode: 'conversational' }))).toEqual(['mode']);
    await ok(at().api.patch(`/datasets/${id}`, { mode: 'worker' }));
    const judge = { type: 'llm_judge', rubric: 'Polite.', llm_id: unknownId };
    const graders = [{ type: 'equals' }, judge];
    expect(faults(await at().api.patch(`/datasets/${id}`, { graders }))).toEqual(['graders[1].llm_id']);
    expect(faults(await create({ name: 'judged', graders }))).toEqual(['graders[1].llm_id']);
  });

  test('a change of its cases raises its revision, and counts them', async () => {
    const { id } = await ok(create({ name: 'counted' }));
    const cases = `/datasets/${id}/cases`;
    const one = await ok(at().api.post(cases, { input: { message: 'a' } }));
    await ok(at().api.post(cases, { input: { message: 'b' } }));
    expect(await read(id)).toMatchObject({ case_count: 2, revision: 3 });
    await ok(at().api.patch(`${cases}/${one.id}`, { enabled: false }));
    await ok(at().api.delete(`${cases}/${one.id}`), 204);
    expect(await read(id)).toMatchObject({ case_count: 1, revision: 5 });
    await ok(at().api.delete(`/datasets/${id}`), 204);
    expectError(await at().api.get(`/datasets/${id}`), 404);
    expect(await at().sql`select id from case_contents where case_id = ${one.id}`).toEqual([]);
  });

  test('over MAX_DATASETS and MAX_CASES_PER_DATASET is 400 with the setting', async () => {
    const { id } = await ok(create({ name: 'limits' }));
    const { length } = (await ok(at().api.get('/datasets?limit=200'))).data;
    await ok(at().api.patch('/advanced-settings', { MAX_DATASETS: length, MAX_CASES_PER_DATASET: 0 }));
    expectError(await create({ name: 'one more' }), 400, /maximum/, { setting: 'MAX_DATASETS' });
    const made = await at().api.post(`/datasets/${id}/cases`, { input: { message: 'a' } });
    expectError(made, 400, /maximum/, { setting: 'MAX_CASES_PER_DATASET' });
    await ok(at().api.patch('/advanced-settings', { MAX_DATASETS: 200, MAX_CASES_PER_DATASET: 5_000 }));
  });

  test('reading them takes a builder, and a key with the scope of the group', async () => {
    const member = await newKey(at(), 'member');
    expectError(await at().as(member.value).get('/datasets'), 403);
    const scoped = await newKey(at(), 'builder', { scopes: ['evaluations:read'] });
    await ok(at().as(scoped.value).get('/datasets'));
    expectError(await at().as(scoped.value).post('/datasets', { name: 'scoped' }), 403);
    expect((await at().as(scoped.value, '/api/v1').get('/datasets')).status).toBe(404);
  });
});
