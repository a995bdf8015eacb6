import { expect, test } from 'vitest';
import { expectError, faults, newKey, ok, onPostgres, unknownId, uuid } from './fixture.ts';

interface Named {
  name: string;
  transcript_hash: string | null;
}

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

  test('an import creates, updates by name and leaves alone what is the same, and writes nothing in a dry run', async () => {
    const { id } = await ok(create({ name: 'imported' }));
    const path = `/datasets/${id}`;
    const send = (body: object) => at().api.post(`${path}/import`, body);
    const line = (fields: object) => JSON.stringify(fields);
    const one = { name: 'one', input: { message: 'a', payload: { n: 1 } }, expected: 'x', tags: ['t'] };
    const content = [line(one), '', line({ input: { message: 'b' }, color: 'red' })].join('\n');
    const counts = { format: 'jsonl', created: 2, updated: 0, unchanged: 0 };
    const warnings = [{ line: 3, message: expect.stringMatching(/`color`/) }];
    expect(await ok(send({ content, dry_run: true }))).toEqual({ ...counts, warnings });
    expect(await read(id)).toMatchObject({ case_count: 0, revision: 1 });
    expect(await ok(send({ content }))).toEqual({ ...counts, warnings });
    expect(await read(id)).toMatchObject({ case_count: 2, revision: 2 });
    expect(await ok(send({ content }))).toMatchObject({ created: 0, updated: 0, unchanged: 2 });
    expect(await read(id)).toMatchObject({ revision: 2 });
    // What the file leaves out stays.
    const again = line({ name: 'one', input: { message: 'c' }, enabled: false });
    expect(await ok(send({ content: again }))).toMatchObject({ created: 0, updated: 1, unchanged: 0 });
    const [updated] = (await ok(at().api.get(`${path}/cases?q=one`))).data;
    expect(updated).toMatchObject({
      input: { message: 'c', payload: {} },
      expected: 'x',
      tags: ['t'],
      enabled: false,
      revision: 2,
    });
    const rows = await at().sql`select action from audits where target_id = ${id} order by id`;
    expect(rows.map(({ action }) => action)).toEqual([
      ...['dataset.create', 'dataset.import', 'dataset.import'],
    ]);
  });

  test('an import is all or nothing: each fault is named with its line', async () => {
    const { id } = await ok(create({ name: 'refused' }));
    const send = (body: object) => at().api.post(`/datasets/${id}/import`, body);
    const lines = [
      { input: { message: 'a' } },
      { input: { message: 'b', history: [{ role: 'user', content: 'x' }] } },
      { name: 'c' },
      { name: 'd', input: { message: '' }, graders: [{ type: 'regex', pattern: '(' }] },
      { name: 'e', input: { message: '' } },
      { name: 'e', input: { message: 'other' } },
    ];
    const refused = await send({
      content: lines.map((one) => JSON.stringify(one)).join('\n'),
      format: 'jsonl',
    });
    expect(refused.status).toBe(422);
    expect(faults(refused)).toEqual(['line 2', 'line 3', 'line 4', 'line 6']);
    const judge = { type: 'llm_judge', rubric: 'x', llm_id: unknownId };
    const judged = await send({ content: JSON.stringify({ input: { message: 'a' }, graders: [judge] }) });
    expect(faults(judged)).toEqual(['line 1']);
    expect(faults(await send({ content: ' ' }))).toEqual(['content']);
    expect(await read(id)).toMatchObject({ case_count: 0, revision: 1 });
  });

  test('cases of other products are named by their text, and a second one of a name gets a number', async () => {
    const { id } = await ok(create({ name: 'foreign' }));
    const tests = [
      { description: 'same', vars: { question: 'a' } },
      { description: 'same', vars: { question: 'b' } },
      { description: 'same', vars: { question: 'a' } },
    ];
    const content = JSON.stringify({ tests });
    const send = () => ok(at().api.post(`/datasets/${id}/import`, { content }));
    expect(await send()).toEqual({
      format: 'promptfoo',
      created: 2,
      updated: 0,
      unchanged: 0,
      warnings: [{ line: 1, message: expect.stringMatching(/same as line 1/) }],
    });
    expect(await send()).toMatchObject({ created: 0, unchanged: 2 });
    const names = (await ok(at().api.get(`/datasets/${id}/cases`))).data.map(({ name }: Named) => name);
    expect(names).toEqual(['same-2', 'same']);

    // The longest name that a case may have: the number takes the place of its end, and none is lost.
    const long = ['a', 'b', 'c'].map((x) => JSON.stringify({ vars: { x }, description: 'n'.repeat(200) }));
    const body = { content: long.join('\n'), format: 'promptfoo' };
    expect(await ok(at().api.post(`/datasets/${id}/import`, body))).toMatchObject({ created: 3 });
  });

  test('an export, imported into an empty dataset, gives equal cases', async () => {
    const { id } = await ok(create({ name: 'exported' }));
    const call = { type: 'tool_call', tool_call_id: '1', tool_name: 'pay', arguments: { id: 1 } };
    const result = { type: 'tool_result', tool_call_id: '1', tool_name: 'pay', text: 'ok', is_error: false };
    const messages = [
      { role: 'user', content: 'a' },
      { role: 'assistant', content: [call, { ...call, tool_call_id: '2', tool_name: '' }] },
      { role: 'tool', content: [{ ...result, executed_arguments: { id: 2 } }] },
    ];
    const decision = { tool_call_id: '1', tool_name: 'pay', decision: 'approve', arguments: { id: 2 } };
    const continuations = [{ after: 2, decisions: [decision] }];
    const cases = `/datasets/${id}/cases`;
    const input = { message: 'a', payload: { z: 1, a: [null] } };
    await ok(
      at().api.post(cases, { input, tape: { messages, continuations }, graders: [{ type: 'equals' }] }),
    );
    await ok(
      at().api.post(cases, { name: 'last', input: { message: '' }, expected: { b: 1 }, enabled: false }),
    );
    const exported = await at().api.get(`/datasets/${id}/export`);
    expect(exported.text.split('\n')).toHaveLength(3);
    const copy = await ok(create({ name: 'copy' }));
    const content = exported.text;
    expect(await ok(at().api.post(`/datasets/${copy.id}/import`, { content }))).toMatchObject({
      format: 'jsonl',
      created: 2,
      warnings: [],
    });
    expect((await at().api.get(`/datasets/${copy.id}/export`)).text).toBe(content);
    const hashes = async (path: string) =>
      (await ok(at().api.get(path))).data.map(({ transcript_hash }: Named) => transcript_hash);
    expect(await hashes(`/datasets/${copy.id}/cases`)).toEqual(await hashes(cases));
    const rows = await at()
      .sql`select details from audits where target_id = ${id} and action = 'dataset.export'`;
    expect(rows.map(({ details }) => details)).toMatchObject([{ name: 'exported', cases: 2 }]);
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
