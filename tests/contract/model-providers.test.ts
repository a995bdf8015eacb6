import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { completion, startEndpoint } from '../harness/llm-endpoint.ts';
import {
  type FakeProvider,
  type Protocol,
  protocols,
  servers,
  startProvider,
  type Turn,
} from '../harness/providers/index.ts';
import { startToolServer } from '../harness/tool-server.ts';
import { until } from '../harness/wait.ts';
import { newConversation } from './conversations-fixture.ts';
import { expectError, faults, newAgent, ok, onPostgres } from './fixture.ts';
import { changed, exported, plan } from './workspace-fixture.ts';

// biome-ignore lint/suspicious/noExplicitAny: JSON, read field by field
type Json = any;

const allTools = [
  'current_time',
  'extract_from_file',
  'list_data_frames',
  'list_files',
  'make_data_frame',
  'query_data_frames',
  'read_file',
  'request_review',
];

onPostgres((at) => {
  const newLlm = async ({ kind, model, settings }: Protocol, { url }: FakeProvider, more: object = {}) =>
    (
      await ok(
        at().api.post('/llm-configurations', {
          kind,
          name: randomUUID(),
          model,
          base_url: url,
          ...settings,
          ...more,
        }),
      )
    ).id as string;
  const run = async (agent: object, item: object = {}): Promise<Json> => {
    const { id: agent_id } = await newAgent(at(), {
      name: randomUUID(),
      settings: { max_attempts: 1 },
      ...agent,
    });
    const { id } = await ok(at().api.post('/work-items', { agent_id, message: 'Hi', ...item }));
    return until(async () => {
      const found = await ok(at().api.get(`/work-items/${id}`));
      return ['COMPLETED', 'ERROR'].includes(found.status) && found;
    }, 15_000);
  };
  const notesOf = async (item: Json): Promise<string[][]> => {
    const { data } = await ok(at().app.get(`/work-items/${item.id}/steps`));
    return data.filter(({ kind }: Json) => kind === 'model').map(({ notes }: Json) => notes);
  };

  test('odd tools of a tool server break no agent; those that no model can get are named', async () => {
    const object = { type: 'object' };
    await using tools = await startToolServer({
      tools: [
        { name: 'open', inputSchema: object },
        { name: 'list', inputSchema: { ...object, properties: { a: { type: 'array' } } } },
        {
          name: 'draft',
          inputSchema: {
            ...object,
            properties: { a: { type: 'number', minimum: 0, exclusiveMinimum: true } },
          },
        },
        {
          name: 'either',
          inputSchema: { ...object, anyOf: [{ properties: { a: {} } }, { required: ['b'] }] },
        },
        { name: 'names', inputSchema: { ...object, properties: { 'filter[id]': { type: 'string' } } } },
      ],
    });
    const server = await ok(
      at().api.post('/tool-servers', { name: 'Odd', prefix: 'odd', url: tools.url, default_policy: 'allow' }),
    );
    expect(server).toMatchObject({ state: 'ok', tool_count: 5 });
    const { data } = await ok(at().api.get(`/tool-servers/${server.id}/tools`));
    const message = expect.stringMatching(/"filter\[id\]"/);
    expect(Object.fromEntries(data.map(({ name, model_warnings }: Json) => [name, model_warnings]))).toEqual({
      open: [],
      list: [],
      draft: [],
      either: [],
      names: [
        { kind: 'anthropic', message },
        { kind: 'bedrock', message },
      ],
    });
    for (const protocol of Object.values(protocols)) {
      await using provider = await startProvider(protocol, (_request, n) =>
        n === 0 ? { calls: [{ id: 'c1', name: 'odd__list', args: { a: [1] } }] } : { text: 'Done.' },
      );
      const agent = { llm_id: await newLlm(protocol, provider), tool_server_ids: [server.id] };
      const item = await run(agent);
      expect([protocol.kind, item.status, item.result]).toEqual([protocol.kind, 'COMPLETED', 'Done.']);
      const isAnthropic = ['anthropic', 'bedrock'].includes(protocol.kind);
      const names = protocol.toolNames(provider.requests[0]!);
      expect(names.includes('odd__names')).toBe(!isAnthropic);
      expect(names).toEqual(expect.arrayContaining(['odd__open', 'odd__draft', 'odd__either', ...allTools]));
      const noted = isAnthropic ? [expect.stringMatching(/odd__names.*"filter\[id\]"/)] : [];
      expect(await notesOf(item)).toEqual([noted, []]);
    }
  });

  describe('a model without tools', () => {
    const { refuses: _, ...compatible } = protocols.openai_compatible!;

    test('works, is asked with them once in an attempt, and its test says so', async () => {
      const protocol = { ...compatible, refuses: servers.vllm };
      const replies: Turn[] = [{ text: 'Hello.' }];
      await using provider = await startProvider(protocol, () => replies[0]!);
      const llm_id = await newLlm(protocol, provider);
      const item = await run({ llm_id });
      expect(item).toMatchObject({ status: 'COMPLETED', result: 'Hello.' });
      expect(provider.requests.map((request) => protocol.toolNames(request).length)).toEqual([8, 0]);
      expect(await notesOf(item)).toEqual([
        [expect.stringMatching(/takes no tools.*--enable-auto-tool-choice/)],
      ]);

      const tested = await ok(at().api.post(`/llm-configurations/${llm_id}/test`));
      expect(tested).toMatchObject({
        ok: false,
        detail: expect.stringMatching(/takes no tools: agents .* work/),
      });
      expect(tested.steps.at(-1)).toMatchObject({ step: 'tool_call', ok: false });
    });

    test('gives a result by schema in its text', async () => {
      const protocol = { ...compatible, refuses: servers.ollama };
      const replies = ['Seven.', '{"n": 7}'];
      await using provider = await startProvider(protocol, () => ({ text: replies.shift()! }));
      const result_schema = { properties: { n: { type: 'integer' } }, required: ['n'] };
      const item = await run({ llm_id: await newLlm(protocol, provider), result_schema });
      expect(item).toMatchObject({ status: 'COMPLETED', result: { n: 7 } });
      // The refused request, the reply without JSON, and the one with it.
      expect(provider.requests).toHaveLength(3);
    });
  });

  describe('settings.builtin_tools', () => {
    test('says which tools of the platform an agent has, all by default', async () => {
      const agent = await newAgent(at(), { name: 'With few tools' });
      expect(agent.settings.builtin_tools).toEqual(allTools);
      const path = `/agents/${agent.id}`;
      const set = async (builtin_tools: unknown) =>
        (await ok(at().api.patch(path, { settings: { builtin_tools } }))).settings.builtin_tools;
      expect(await set(['read_file', 'list_files', 'read_file'])).toEqual(['read_file', 'list_files']);
      expect(await set([])).toEqual([]);
      expect((await ok(at().api.get(path))).settings.builtin_tools).toEqual([]);
      const { data } = await ok(at().api.get('/audits?action=agent.update&limit=1'));
      expect(data[0].details.changed).toEqual(['settings']);
      const named = { name: agent.name, mode: agent.mode };
      const planned = async (more: object) =>
        changed(await ok(plan(at(), { version: 1, agents: [{ ...named, ...more }] })));
      expect(await planned({ settings: { builtin_tools: [] } })).toEqual([]);
      expect(await planned({})).toEqual([`update agent ${agent.name}`]);
      expect(await exported(at())).toMatch(/builtin_tools: \[\]/);
      expect(await set(null)).toEqual(allTools);
      expect(await planned({})).toEqual([]);

      const protocol = protocols['openai, responses']!;
      await using provider = await startProvider(protocol, () => ({ text: 'Hi.' }));
      const llm_id = await newLlm(protocol, provider);
      for (const builtin_tools of [[], ['current_time']]) {
        const item = await run({ llm_id, settings: { max_attempts: 1, builtin_tools } });
        expect(item.status).toBe('COMPLETED');
        const { body } = provider.requests.at(-1)!;
        expect((body.tools ?? []).map(({ name }: Json) => name)).toEqual(builtin_tools);
      }
    });

    test('has only names of such tools', async () => {
      const refused = await at().api.post('/agents', {
        name: 'A',
        mode: 'worker',
        settings: { builtin_tools: ['current_time', 'shell'] },
      });
      expectError(refused, 422);
      expect(faults(refused)).toEqual(['settings.builtin_tools[1]']);
      const wrong = await at().api.post('/agents', {
        name: 'A',
        mode: 'worker',
        settings: { builtin_tools: 'x' },
      });
      expect([wrong.status, faults(wrong)]).toEqual([422, ['settings.builtin_tools']]);
    });
  });

  describe('reasoning in the text of a reply', () => {
    const protocol = protocols.openai_compatible!;
    const withReply = async (text: string, use: (llmId: string) => Promise<void>) => {
      await using provider = await startProvider(protocol, () => ({ text }));
      await use(await newLlm(protocol, provider));
    };

    test.each([
      ['<think>secret plan</think>The answer is 4.', 'The answer is 4.'],
      ['secret plan</think>\n\nThe answer is 4.', 'The answer is 4.'],
      ['<thinking>secret plan', ''],
    ])('is never the result, and never stored: %j', (text, result) =>
      withReply(text, async (llm_id) => {
        const item = await run({ llm_id });
        expect(item).toMatchObject({ status: 'COMPLETED', result });
        const { text: stored } = await at().api.get(`/work-items/${item.id}/messages`);
        expect(stored).not.toContain('secret');
      }),
    );

    test('is in no event of a stream', () =>
      withReply('<think>a secret plan of many words</think>\nThe answer is 4.', async (llm_id) => {
        const agent = await newAgent(at(), { mode: 'conversational', llm_id });
        const talk = await newConversation(at(), { agentId: agent.id });
        const stream = await talk.stream({ content: 'Hi' });
        await stream.ended;
        expect(JSON.stringify(stream.events)).not.toMatch(/secret|think/);
        expect(stream.events.at(-1)!.data.run.answer).toBe('The answer is 4.');
      }));

    test('before a lone closing tag is not in the last event', () =>
      withReply('a secret plan</think>The answer is 4.', async (llm_id) => {
        const agent = await newAgent(at(), { mode: 'conversational', llm_id });
        const talk = await newConversation(at(), { agentId: agent.id });
        const stream = await talk.stream({ content: 'Hi' });
        await stream.ended;
        for (const { event, data } of stream.events) {
          if (event === 'message.completed' || event === 'run.completed') {
            expect(JSON.stringify(data)).not.toContain('secret');
          }
        }
        expect(stream.events.at(-1)!.data.run.answer).toBe('The answer is 4.');
      }));
  });

  test('an error in a response of status 200 keeps its text, and arguments may be an object', async () => {
    const call = {
      id: 'c1',
      type: 'function',
      function: { name: 'current_time', arguments: { timezone: 'UTC' } },
    };
    const bodies: Json[] = [
      { error: { message: 'Model overloaded at noon.' } },
      { error: 'No such model here.' },
      { error: { code: 429, message: 'Slow down.' } },
      completion({ tool_calls: [call] }, 'tool_calls'),
      completion({ content: 'It is noon.' }),
    ];
    for (const streaming of [false, true]) {
      const left = [...bodies];
      await using endpoint = await startEndpoint(() => ({ body: left.shift() }));
      const llm = { kind: 'openai_compatible', name: 'E', model: 'm', base_url: endpoint.url, streaming };
      const { id: llm_id } = await ok(at().api.post('/llm-configurations', llm));
      expect((await run({ llm_id })).error).toEqual({
        code: 'model_answer_invalid',
        message: 'The model endpoint returned an error: Model overloaded at noon.',
      });
      expect((await run({ llm_id })).error.message).toContain('No such model here.');
      expect((await run({ llm_id })).error.code).toBe('model_rate_limited');
      const item = await run({ llm_id });
      expect(item).toMatchObject({ status: 'COMPLETED', result: 'It is noon.' });
      const sent = endpoint.requests.at(-1)!.body.messages.find(({ role }: Json) => role === 'tool');
      expect(sent.content).toMatch(/\[UTC\]/);
    }
  });

  test('addresses of Azure by deployment have chat completions and a date, or are refused', async () => {
    const base = {
      kind: 'azure',
      name: 'D',
      model: 'dep',
      api_key: 'k',
      base_url: 'https://r.openai.azure.com/openai',
    };
    const create = (more: object) =>
      at().api.post('/llm-configurations', { ...base, deployment_urls: true, ...more });
    const made = await ok(create({}));
    expect(made).toMatchObject({ api: 'chat_completions', api_version: '2024-10-21', deployment_urls: true });
    const again = await ok(at().api.patch(`/llm-configurations/${made.id}`, made));
    expect(again).toEqual({ ...made, updated_at: again.updated_at });
    for (const [field, value] of [
      ['api', 'responses'],
      ['api_version', 'v1'],
      ['api_version', 'preview'],
    ]) {
      const refused = await create({ [field!]: value });
      expectError(refused, 422);
      expect(faults(refused)).toEqual([field]);
      const changed = await at().api.patch(`/llm-configurations/${made.id}`, { [field!]: value });
      expect([changed.status, faults(changed)]).toEqual([422, [field]]);
    }
    const plain = await ok(create({ deployment_urls: false }));
    expect(plain).toMatchObject({ api: 'responses', api_version: 'v1' });
    const moved = await ok(at().api.patch(`/llm-configurations/${plain.id}`, { deployment_urls: true }));
    expect(moved).toMatchObject({ api: 'chat_completions', api_version: '2024-10-21' });
  });
});
