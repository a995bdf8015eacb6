import { createHash } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import { rfc8785 } from '../../src/lib/rfc8785.ts';
import { startToolServer } from '../harness/tool-server.ts';
import { until } from '../harness/wait.ts';
import { newConversation, scripted } from './conversations-fixture.ts';
import { upload } from './files-fixture.ts';
import { expectError, faults, newAgent, newKey, ok, onEachDatabase, unknownId, uuid } from './fixture.ts';

// biome-ignore lint/suspicious/noExplicitAny: JSON, read field by field
type Json = any;

const hash = (text: string): string => createHash('sha256').update(text).digest('hex');
const text = (value: string) => [{ type: 'text', text: value }];

onEachDatabase((at) => {
  let worker: string;
  let talks: string;
  beforeAll(async () => {
    worker = `/datasets/${(await ok(at().api.post('/datasets', { name: 'worker' }))).id}/cases`;
    const talking = { name: 'conversational', mode: 'conversational' };
    talks = `/datasets/${(await ok(at().api.post('/datasets', talking))).id}/cases`;
  });
  const create = (body: object, path = worker) => at().api.post(path, body);
  const ended = (id: string, statuses = ['COMPLETED', 'ERROR', 'NEEDS_REVIEW']): Promise<Json> =>
    until(async () => {
      const item = await ok(at().api.get(`/work-items/${id}`));
      return statuses.includes(item.status) ? item : undefined;
    });
  const run = async (agentId: string, mock: object | null, fields: object = {}) => {
    const payload = mock ? { mock } : {};
    const item = await ok(
      at().api.post('/work-items', { agent_id: agentId, message: 'Go', payload, ...fields }),
    );
    return ended(item.id);
  };
  const transcript = async (one: Json, path = worker) =>
    (await at().api.get(`${path}/${one.id}/transcript`)).text;

  test('a case has defaults, and a name that follows from its input', async () => {
    const input = { message: 'Hi', payload: { b: 1, a: [9007199254740993n] } };
    const made = await ok(create({ input }));
    expect(made).toEqual({
      id: expect.stringMatching(uuid),
      dataset_id: worker.split('/')[2],
      name: `case-${hash(rfc8785(input)).slice(0, 12)}`,
      input: JSON.parse(JSON.stringify(input)),
      expected: null,
      tags: [],
      graders: [],
      enabled: true,
      has_tape: false,
      tape: null,
      source: null,
      files: [],
      data_frames: [],
      transcript_hash: null,
      revision: 1,
      created_at: expect.any(String),
      updated_at: expect.any(String),
    });
    expect((await at().api.get(`${worker}/${made.id}`)).text).toContain('9007199254740993');
    expect(faults(await create({ input }))).toEqual(['name']);
    expect(await transcript(made)).toBe('[]');
  });

  test('a case has an input or a source, and one that its dataset can have', async () => {
    expectError(await create({}), 400, /input: is required/);
    expect(faults(await create({ run_id: unknownId, input: { message: '' } }))).toEqual(['input']);
    expect(faults(await create({ run_id: unknownId, work_item_id: unknownId }))).toEqual(['run_id']);
    expect(faults(await create({ work_item_id: unknownId }))).toEqual(['work_item_id']);
    expect(faults(await create({ run_id: 'x' }, talks))).toEqual(['run_id']);
    const history = [{ role: 'user', content: 'a' }];
    expect(faults(await create({ input: { message: '', history } }))).toEqual(['input.history']);
    expect(faults(await create({ input: { message: '', payload: { a: 1 } } }, talks))).toEqual([
      'input.payload',
    ]);
    const orphan = [
      { role: 'tool', content: [{ type: 'tool_result', tool_call_id: '1', tool_name: 'a', text: '' }] },
    ];
    expect(faults(await create({ input: { message: '' }, tape: { messages: orphan } }))).toEqual([
      'tape.messages[0].content[0].tool_call_id',
    ]);
    const wrong = [{ role: 'user', content: [{ type: 'tool_call', tool_call_id: '1', tool_name: 'a' }] }];
    expect(faults(await create({ input: { message: '' }, tape: { messages: wrong } }))).toEqual([
      'tape.messages[0].content[0].type',
    ]);
  });

  test('an edit makes a new revision, of which the one before is removed', async () => {
    const input = { message: 'first', payload: { a: 1 } };
    const made = await ok(create({ name: 'edited', input, expected: { x: 1 }, tags: ['a', 'a'] }));
    expect(made.tags).toEqual(['a']);
    const changes = { input: { message: 'second' }, expected: null, graders: [{ type: 'equals' }] };
    const edited = await ok(at().api.patch(`${worker}/${made.id}`, changes));
    expect(edited).toMatchObject({
      revision: 2,
      name: 'edited',
      input: { message: 'second', payload: { a: 1 } },
      expected: null,
      tags: ['a'],
      graders: [{ type: 'equals', name: 'equals' }],
    });
    const contents = await at().sql`select revision from case_contents where case_id = ${made.id}`;
    expect(contents).toEqual([{ revision: 2 }]);
    await ok(at().api.patch('/advanced-settings', { MAX_CASE_SIZE_IN_KB: 1 }));
    const large = await at().api.patch(`${worker}/${made.id}`, { expected: 'x'.repeat(1_024) });
    expectError(large, 400, /2 KB.*maximum is 1/, { setting: 'MAX_CASE_SIZE_IN_KB' });
    await ok(at().api.patch('/advanced-settings', { MAX_CASE_SIZE_IN_KB: 2_048 }));
  });

  test('a tape by hand takes texts for contents, and its transcript has neither ids nor the order of results', async () => {
    const call = (tool_call_id: string, tool_name: string) => ({
      type: 'tool_call',
      tool_call_id,
      tool_name,
      arguments: { b: 1, a: 2 },
    });
    const result = (tool_call_id: string, tool_name: string) => ({
      role: 'tool',
      content: [{ type: 'tool_result', tool_call_id, tool_name, text: tool_name, is_error: false }],
    });
    const messages = [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: [call('1', 'one'), call('2', 'two')] },
      result('2', 'two'),
      { role: 'user', content: 'and' },
      result('1', 'one'),
      { role: 'assistant', content: 'Done' },
    ];
    const made = await ok(create({ name: 'by hand', input: { message: 'Hi' }, tape: { messages } }));
    expect(made.tape.messages[0]).toEqual({ role: 'user', content: text('Hi') });
    expect(made.tape.continuations).toEqual([]);
    const shown = (name: string) =>
      `{"content":[{"is_error":false,"text":"${name}","tool_name":"${name}","type":"tool_result"}],"role":"tool"}`;
    const called = (name: string) => `{"arguments":{"a":2,"b":1},"tool_name":"${name}","type":"tool_call"}`;
    const said = (role: string, words: string) =>
      `{"content":[{"text":"${words}","type":"text"}],"role":"${role}"}`;
    const whole = await transcript(made);
    expect(whole).toBe(
      `[${[
        said('user', 'Hi'),
        `{"content":[${called('one')},${called('two')}],"role":"assistant"}`,
        shown('one'),
        shown('two'),
        said('user', 'and'),
        said('assistant', 'Done'),
      ]}]`,
    );
    expect(made.transcript_hash).toBe(hash(whole));

    const [first, asked, two, , one, last] = messages;
    const both = { role: 'tool', content: [...two!.content, ...one!.content] };
    const tape = { messages: [first, asked, both, last], continuations: [{ after: 3 }] };
    const split = await ok(create({ name: 'both results at once', input: { message: 'Hi' }, tape }));
    expect(split.tape.messages.slice(2, 4)).toEqual([two, one]);
    expect(split.tape.continuations).toMatchObject([{ after: 4 }]);
    const results = JSON.parse(await transcript(split)).filter(({ role }: Json) => role === 'tool');
    expect(results.map(({ content: [{ text }] }: Json) => text)).toEqual(['one', 'two']);
    const history = [first, asked, both];
    const talk = await ok(create({ name: 'history', input: { message: 'Hi', history } }, talks));
    expect(talk.input.history).toHaveLength(4);
  });

  test('lists have filters, and no tapes', async () => {
    const { id } = await ok(at().api.post('/datasets', { name: 'filters' }));
    const path = `/datasets/${id}/cases`;
    const tape = { messages: [] };
    await ok(create({ name: 'One', input: { message: '' }, tags: ['a', 'b'], tape }, path));
    await ok(create({ name: 'two', input: { message: '' }, enabled: false, tags: ['b'] }, path));
    const names = async (query: string) =>
      (await ok(at().api.get(`${path}?${query}`))).data.map(({ name }: Json) => name);
    expect(await names('')).toEqual(['two', 'One']);
    expect(await names('tag=a')).toEqual(['One']);
    expect(await names('tag=b&enabled=false')).toEqual(['two']);
    expect(await names('q=ON')).toEqual(['One']);
    expect(await names('has_tape=true')).toEqual(['One']);
    const [, one] = (await ok(at().api.get(path))).data;
    expect(one).toMatchObject({ name: 'One', has_tape: true });
    expect(one).not.toHaveProperty('tape');
  });

  test('a Work Item becomes a case: messages, decisions, copies and result; secrets are redacted', async () => {
    const secret = 'a-secret-0123456789';
    const { value: key } = await newKey(at(), 'member');
    const almost = `${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}`;
    const tools = [
      {
        name: 'pay',
        inputSchema: { type: 'object' },
        result: () => `paid with ${secret}, ${key} and ${almost}`,
      },
      {
        name: 'look',
        inputSchema: { type: 'object' },
        annotations: { readOnlyHint: true, idempotentHint: true },
      },
    ];
    await using server = await startToolServer({ tools });
    const headers = { authorization: `Bearer ${secret}`, 'x-short': 'account' };
    const { id: tool_server_id } = await ok(
      at().api.post('/tool-servers', { name: 's', prefix: 's', url: server.url, headers }),
    );
    const policies = [
      { tool_server_id, tool: 'pay', policy: 'require_approval' },
      { tool_server_id, tool: 'look', policy: 'allow' },
    ];
    const agent = await newAgent(at(), {
      instructions: 'Work.',
      tool_server_ids: [tool_server_id],
      tool_policies: policies,
    });
    const draft = await ok(
      at().api.post('/work-items', {
        agent_id: agent.id,
        draft: true,
        message: `Pay, ${secret}, of the account`,
        work_item_name: 'The payment',
        payload: {
          [key]: 1,
          mock: {
            steps: [
              {
                tools: [
                  { tool: 's__look', args: { n: 1 } },
                  { tool: 's__pay', args: { amount: 1 } },
                  { tool: 's__pay', args: { amount: 2 } },
                ],
              },
            ],
          },
        },
      }),
    );
    await upload(at().api, `/work-items/${draft.id}`, 'a.csv', 'a,b\n1,2\n');
    await ok(at().api.post(`/work-items/${draft.id}/submit`));
    const asked = await ended(draft.id);
    expect(asked.status, JSON.stringify(asked)).toBe('NEEDS_REVIEW');
    const early = await create({ work_item_id: draft.id });
    expectError(early, 412, /NEEDS_REVIEW/, { status: 'NEEDS_REVIEW' });
    const steps = [
      {
        tool: 'make_data_frame',
        args: { file: 'a.csv', name: 'table_a' },
        reasoning: `I think of ${secret}`,
      },
      {
        tool: 'query_data_frames',
        args: { sql: 'select count(*) as n from table_a', save_as: 'counted' },
      },
      { text: `Done ${secret}` },
    ];
    const said = scripted({ steps }, 'Only one.');
    const [first, second] = asked.pending_approvals;
    await ok(
      at().api.post(`/work-items/${draft.id}/continue`, {
        message: said,
        decisions: [
          { approval_id: first.approval_id, decision: 'deny', reason: 'too much' },
          { approval_id: second.approval_id, decision: 'approve', arguments: { amount: 3 } },
        ],
      }),
    );
    const item = await ended(draft.id, ['COMPLETED', 'ERROR']);
    expect(item.status).toBe('COMPLETED');

    const made = await ok(create({ work_item_id: item.id, tags: ['paid'] }));
    expect(made).toMatchObject({
      name: 'The payment',
      input: {
        message: 'Pay, [redacted], of the account',
        payload: { '[redacted]': 1, mock: expect.anything() },
      },
      expected: 'Done [redacted]',
      tags: ['paid'],
      has_tape: true,
      source: {
        work_item_id: item.id,
        agent_id: agent.id,
        agent_version: 1,
        status: 'COMPLETED',
        error: null,
      },
      files: [{ name: 'a.csv', size_bytes: 8 }],
      data_frames: [
        { name: 'counted', row_count: 1 },
        { name: 'table_a', row_count: 1 },
      ],
    });
    expect(made.source).not.toHaveProperty('run_id');
    const { messages, continuations } = made.tape;
    expect(messages.map(({ role }: Json) => role)).toEqual([
      ...['user', 'assistant', 'tool', 'tool', 'user', 'tool'],
      ...['assistant', 'tool', 'assistant', 'tool', 'assistant'],
    ]);
    expect(messages[3].content[0]).toMatchObject({
      is_error: true,
      text: expect.stringMatching(/refused.*too much/),
    });
    expect(messages[5].content[0]).toMatchObject({
      executed_arguments: { amount: 3 },
      text: `paid with [redacted], [redacted] and ${almost}`,
    });
    const ids = messages[1].content.map((part: Json) => part.tool_call_id);
    expect(continuations).toEqual([
      {
        after: 3,
        stopped: 'needs_review',
        message: said.replace(secret, '[redacted]').replace(secret, '[redacted]'),
        decisions: [
          { tool_call_id: ids[1], tool_name: 's__pay', decision: 'deny', reason: 'too much' },
          { tool_call_id: ids[2], tool_name: 's__pay', decision: 'approve', arguments: { amount: 3 } },
        ],
      },
    ]);
    expect(made.transcript_hash).toBe(hash(await transcript(made)));

    const [content] = await at().sql`select * from case_contents where case_id = ${made.id}`;
    expect(JSON.stringify(content)).not.toMatch(new RegExp(`${secret}|${key}`));
    expect(content.made.map(({ data_frame }: Json) => data_frame)).toEqual(['table_a', 'counted']);
    expect(content.replies).toMatch(/^v1\./);

    // Nothing that becomes of the Work Item touches the case; a second one has a name of its own.
    expect(await ok(create({ work_item_id: item.id, expected: null }))).toMatchObject({
      name: 'The payment-2',
      expected: null,
    });
    expect(faults(await create({ work_item_id: item.id, name: 'The payment' }))).toEqual(['name']);
    expect(faults(await create({ work_item_id: item.id }, talks))).toEqual(['work_item_id']);
    await ok(at().api.delete(`/work-items/${item.id}`), 204);
    expect(await ok(at().api.get(`${worker}/${made.id}`))).toEqual(made);
    const copies = await at().sql`select id from files where case_id = ${made.id}`;
    expect(copies).toHaveLength(1);
    await ok(at().api.delete(`${worker}/${made.id}`), 204);
    expect(
      await at().sql`select id from files where case_id = ${made.id}
      union all select id from data_frames where case_id = ${made.id}`,
    ).toEqual([]);
  });

  test('an edited tape keeps what is known of the replies that did not change', async () => {
    const agent = await newAgent(at());
    const item = await run(agent.id, { steps: [{ tool: 'list_files', reasoning: 'r1' }, { text: 'ok' }] });
    const made = await ok(create({ work_item_id: item.id, name: 'kept' }));
    const messages = structuredClone(made.tape.messages);
    messages[2].content[0].text = 'other files';
    const edited = await ok(at().api.patch(`${worker}/${made.id}`, { tape: { messages } }));
    expect(edited.transcript_hash).not.toBe(made.transcript_hash);
    const [{ replies }] = await at().sql`select replies from case_contents where case_id = ${made.id}`;
    expect(replies).toMatch(/^v1\./);
    expect(await ok(at().api.patch(`${worker}/${made.id}`, { tape: null }))).toMatchObject({
      tape: null,
      has_tape: false,
      transcript_hash: null,
    });
  });

  test('a failed Work Item has no expected result, and the present conversation is that after a restart', async () => {
    const agent = await newAgent(at(), { settings: { max_attempts: 1 } });
    const steps = [{ tool: 'list_files' }, { fail: 'out of order' }];
    const item = await run(agent.id, { steps }, { work_item_name: '' });
    expect(item.status).toBe('ERROR');
    await ok(at().api.post(`/work-items/${item.id}/restart`));
    await until(async () => (await ended(item.id)).status === 'ERROR');
    const made = await ok(create({ work_item_id: item.id }));
    expect(made).toMatchObject({
      name: 'Go',
      expected: null,
      source: { status: 'ERROR', error: { code: 'model_unavailable' } },
    });
    expect(made.tape.messages.map(({ role }: Json) => role)).toEqual(['user', 'assistant', 'tool']);
  });

  test('a run of a conversation becomes a case with its history, and with what a person wrote to it', async () => {
    const talk = await newConversation(at());
    await talk.send({ content: scripted({ steps: [{ text: 'First.' }] }, 'Before') });
    const ask = scripted({ steps: [{ tool: 'request_review', args: { reason: 'Sure?' } }] }, 'x'.repeat(80));
    const asked = await talk.send({ content: [...text(ask.slice(0, 90)), ...text(ask.slice(90))] });
    expect(asked.status).toBe('needs_review');
    const answered = await talk.send({ content: scripted({ steps: [{ text: 'Second.' }] }, 'Yes') });
    expect(answered).toMatchObject({ id: asked.id, status: 'completed' });
    await talk.send({ content: scripted({ steps: [{ text: 'Third.' }] }, 'After') });

    const made = await ok(create({ run_id: asked.id }, talks));
    expect(made).toMatchObject({
      name: 'x'.repeat(60),
      expected: 'Second.',
      source: { run_id: asked.id, status: 'completed', agent_version: 1 },
      input: { message: ask },
    });
    expect(made.input.history.map(({ role }: Json) => role)).toEqual(['user', 'assistant']);
    expect(made.tape.messages.map(({ role }: Json) => role)).toEqual([
      'user',
      'assistant',
      'tool',
      'user',
      'assistant',
    ]);
    expect(made.tape.messages[0].content, 'as the model got it').toEqual(text(ask));
    expect(made.tape.continuations).toEqual([
      { after: 3, stopped: 'needs_review', decisions: [], message: expect.stringMatching(/^Yes/) },
    ]);
    expect(faults(await create({ run_id: asked.id }))).toEqual(['run_id']);
  });

  test('a key that may not read Work Items makes no case of one', async () => {
    const { value } = await newKey(at(), 'builder', { scopes: ['evaluations'] });
    const made = await at().as(value).post(worker, { work_item_id: unknownId });
    expectError(made, 403, /work_items:read/);
  });
});
