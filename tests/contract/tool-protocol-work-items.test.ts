import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterEach, describe, expect, test } from 'vitest';
import { adminKey } from '../harness/process.ts';
import { eras, eventsIn, RawEndpoint, type TestEra } from '../harness/tool-protocol.ts';
import { newAgent, newKey, ok, onPostgres, unknownId, uuid, withPlatform } from './fixture.ts';

// biome-ignore lint/suspicious/noExplicitAny: JSON, read field by field
type Json = any;

const fields = ['work_item_id', 'status', 'allowed_actions', 'result', 'error', 'review_reason'];

onPostgres((at) => {
  const endpoint = (agent: Json) =>
    new RawEndpoint(`${at().test.origin}/api/v1/agents/${agent.id}/mcp`, adminKey);
  /** Its Work Items stay PENDING until a test claims them. */
  const external = () => newAgent(at(), { execution: 'external' });
  const count = async (agent: Json): Promise<number> =>
    (await ok(at().api.get(`/work-items?agent_id=${agent.id}`))).total_count;
  const claim = async (agent: Json): Promise<Json> =>
    (await ok(at().api.post('/work-items/claim', { agent_ids: [agent.id] }))).records[0];
  const finish = async (agent: Json, outcome: object): Promise<Json> => {
    const { work_item, lease_token } = await claim(agent);
    return ok(at().api.post(`/work-items/${work_item.id}/finish`, { lease_token, ...outcome }));
  };

  const clients: Client[] = [];
  afterEach(async () => {
    for (const client of clients.splice(0)) await client.close();
  });

  describe('the tools of a Worker agent', () => {
    test.each(eras)('serve the official client of the %s era', async (era) => {
      const agent = await newAgent(at(), { name: 'Clerk', description: 'It files.' });
      const mode = era === 'modern' ? { pin: '2026-07-28' } : 'legacy';
      const client = new Client(
        { name: 'test', version: '1' },
        { versionNegotiation: { mode: mode as 'legacy' } },
      );
      clients.push(client);
      const url = new URL(`${at().test.origin}/api/v1/agents/${agent.id}/mcp`);
      const headers = { authorization: `Bearer ${adminKey}` };
      await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }));
      expect(client.getInstructions()).toBe('It files.');
      expect(client.getServerVersion()).toMatchObject({ name: 'agent-platform', title: 'Clerk' });
      const { tools } = await client.listTools();
      expect(tools.map(({ name }) => name)).toEqual([
        'cancel_work_item',
        'continue_work_item',
        'create_work_item',
        'get_work_item',
        'list_work_items',
      ]);
      // The client checks the structured content by the output schema.
      const made = await client.callTool({
        name: 'create_work_item',
        arguments: { message: 'add', wait_seconds: 20 },
      });
      expect(made.structuredContent).toMatchObject({ status: 'COMPLETED', result: expect.any(String) });
    });

    test('are described with schemas and annotations', async () => {
      const { body } = await endpoint(await external()).rpc('modern', 'tools/list');
      const tools = new Map<string, Json>(body.result.tools.map((tool: Json) => [tool.name, tool]));
      const ajv = new Ajv2020({ strict: false, formats: { uuid: true } });
      for (const { inputSchema, outputSchema, title, description } of tools.values()) {
        expect([inputSchema.type, outputSchema.type]).toEqual(['object', 'object']);
        ajv.compile(inputSchema);
        ajv.compile(outputSchema);
        expect([title, description]).toEqual([expect.stringMatching(/./), expect.stringMatching(/./)]);
      }
      for (const name of ['get_work_item', 'list_work_items']) {
        expect(tools.get(name).annotations.readOnlyHint).toBe(true);
      }
      expect(tools.get('cancel_work_item').annotations).toMatchObject({
        destructiveHint: true,
        idempotentHint: true,
      });
      const { properties, required } = tools.get('create_work_item').inputSchema;
      expect([Object.keys(properties).sort(), required]).toEqual([
        ['idempotency_key', 'message', 'payload', 'wait_seconds', 'work_item_name'],
        undefined,
      ]);
      expect(properties.wait_seconds).toMatchObject({ default: 0 });
    });

    test.each(eras)('create, get, list, cancel and continue Work Items in the %s era', async (era) => {
      const agent = await external();
      const tools = endpoint(agent);
      const args = { message: 'm', payload: { a: [1] }, work_item_name: 'N' };
      const made = await tools.call('create_work_item', args, { era });
      expect(made).toEqual({
        work_item_id: expect.stringMatching(uuid),
        status: 'PENDING',
        allowed_actions: ['cancel'],
        result: null,
        error: null,
        review_reason: null,
      });
      const { work_item_id } = made;
      const item = await ok(at().api.get(`/work-items/${work_item_id}`));
      expect(item).toMatchObject({ ...args, agent_id: agent.id, schedule_id: null });
      expect(await tools.call('get_work_item', { work_item_id }, { era })).toEqual(made);
      const review = { reason: 'Which year?' };
      await finish(agent, { outcome: 'NEEDS_REVIEW', review });
      expect(await tools.call('get_work_item', { work_item_id }, { era })).toMatchObject({
        status: 'NEEDS_REVIEW',
        review_reason: 'Which year?',
      });
      const continued = { work_item_id, message: 'This one.' };
      expect(await tools.call('continue_work_item', continued, { era })).toMatchObject({ status: 'PENDING' });
      await finish(agent, { outcome: 'COMPLETED', result: { sum: 3 } });
      const done = await tools.call('get_work_item', { work_item_id }, { era });
      expect(done).toMatchObject({ status: 'COMPLETED', result: { sum: 3 } });
      const second = await tools.call('create_work_item', {}, { era });
      const cancelled = await tools.call('cancel_work_item', { work_item_id: second.work_item_id }, { era });
      expect(cancelled).toMatchObject({ status: 'CANCELLED' });
      expect(await tools.call('list_work_items', {}, { era })).toEqual({
        work_items: [cancelled, done],
        total_count: 2,
      });
      expect(await tools.call('list_work_items', { status: 'COMPLETED', limit: 1 }, { era })).toEqual({
        work_items: [done],
        total_count: 1,
      });
      expect(Object.keys(done)).toEqual(fields);
    });

    test('create exactly one Work Item for an idempotency_key, also at once, and for the API as well', async () => {
      const agent = await external();
      const tools = endpoint(agent);
      const args = { message: 'once', idempotency_key: `key-${agent.id}` };
      const made = await Promise.all([1, 2, 3].map(() => tools.call('create_work_item', args)));
      made.push(await tools.call('create_work_item', { ...args, wait_seconds: 0 }, { era: 'legacy' }));
      expect(new Set(made.map(({ work_item_id }) => work_item_id)).size).toBe(1);
      expect(await count(agent)).toBe(1);
      const other = await tools.refusal('create_work_item', { ...args, message: 'twice' });
      expect(other).toMatch(/^unprocessable_entity: .*was used before for another request/);
      const headers = { 'idempotency-key': args.idempotency_key };
      const byApi = await at().api.post('/work-items', { agent_id: agent.id, message: 'once' }, { headers });
      expect(byApi.status).toBe(422);
      expect(await tools.refusal('create_work_item', { idempotency_key: 'with space' })).toMatch(
        /^unprocessable_entity: idempotency_key/,
      );
      // Of someone else the same key is another one.
      const key = (await newKey(at(), 'member')).value;
      await tools.call('create_work_item', args, { key });
      expect(await count(agent)).toBe(2);
    });

    test('refuse with code and message what the API refuses', async () => {
      const agent = await external();
      const tools = endpoint(agent);
      const { work_item_id } = await tools.call('create_work_item');
      const others = (await endpoint(await external()).call('create_work_item')).work_item_id;
      const big = { payload: { b: 'x'.repeat(102_400) } };
      for (const [name, args, text] of [
        ['get_work_item', {}, /^bad_request: work_item_id: is required$/],
        ['get_work_item', { work_item_id: 5 }, /^unprocessable_entity: work_item_id: /],
        ['get_work_item', { work_item_id: 'x' }, /^not_found: The Work Item does not exist\.$/],
        ['get_work_item', { work_item_id: unknownId }, /^not_found: /],
        ['get_work_item', { work_item_id: others }, /^not_found: /],
        ['continue_work_item', { work_item_id: others, message: 'x' }, /^not_found: /],
        ['cancel_work_item', { work_item_id: others }, /^not_found: /],
        ['continue_work_item', { work_item_id }, /^bad_request: message: is required$/],
        [
          'continue_work_item',
          { work_item_id, message: 'x' },
          /^precondition_failed: A Work Item that is PENDING/,
        ],
        ['create_work_item', { message: 'x'.repeat(10_001) }, /^unprocessable_entity: message: .*10,000/],
        ['create_work_item', { message: 'a\u0000' }, /^unprocessable_entity: message: .*NUL/],
        ['create_work_item', { wait_seconds: 601 }, /^unprocessable_entity: wait_seconds: /],
        ['create_work_item', { wait_seconds: 1.5 }, /^unprocessable_entity: wait_seconds: /],
        ['create_work_item', { payload: [] }, /^unprocessable_entity: payload: /],
        ['create_work_item', big, /^bad_request: payload: .*100 KB/],
        ['list_work_items', { limit: 51 }, /^unprocessable_entity: limit: /],
        ['list_work_items', { limit: 0 }, /^unprocessable_entity: limit: /],
        ['list_work_items', { status: 'x' }, /^unprocessable_entity: status: /],
      ] as const) {
        for (const era of eras) expect(await tools.refusal(name, args, { era }), name).toMatch(text);
      }
      expect(await count(agent)).toBe(1);
    });

    test.each(eras)('never decide on approvals, not even by a message that denies them (%s)', async (era) => {
      const agent = await external();
      const tools = endpoint(agent);
      const { work_item_id } = await tools.call('create_work_item');
      const approval = {
        approval_id: 'a1',
        kind: 'tool_call',
        tool_name: 'pay',
        arguments: {},
        input_schema: { type: 'object' },
      };
      await finish(agent, { outcome: 'NEEDS_REVIEW', review: { reason: 'Pay?', approvals: [approval] } });
      const decisions = [{ approval_id: 'a1', decision: 'approve' }];
      const args = { work_item_id, message: 'Go on.', decisions };
      expect(await tools.refusal('continue_work_item', args, { era })).toMatch(
        /^precondition_failed: Tool calls wait for approval: pay\. People decide on them in the platform/,
      );
      const path = `/work-items/${work_item_id}`;
      const item = await ok(at().api.get(path));
      expect(item).toMatchObject({ status: 'NEEDS_REVIEW', pending_approvals: [approval] });
      await ok(at().api.post(`${path}/continue`, { decisions }));
      const record = await claim(agent);
      expect(record.decisions).toEqual([expect.objectContaining({ approval_id: 'a1', decision: 'approve' })]);
    });

    test('wait for the end, and hold no connection to the database while they do', async () => {
      const agent = await external();
      const tools = endpoint(agent);
      const { work_item_id } = await tools.call('create_work_item');
      const started = performance.now();
      const waiting = Array.from({ length: 40 }, (_, i) =>
        tools.call('get_work_item', { work_item_id, wait_seconds: 25 }, { era: eras[i % 2] as TestEra }),
      );
      await ok(at().api.get('/agents'));
      await finish(agent, { outcome: 'COMPLETED', result: 1 });
      for (const one of await Promise.all(waiting)) {
        expect(one).toMatchObject({ status: 'COMPLETED', result: 1 });
      }
      expect(performance.now() - started).toBeLessThan(20_000);
      const short = await tools.call('create_work_item', { wait_seconds: 1 });
      expect(short.status).toBe('PENDING');
    });

    test('notice an end that no worker was notified of', async () => {
      const agent = await external();
      const tools = endpoint(agent);
      const { work_item_id } = await tools.call('create_work_item');
      const waiting = tools.call('get_work_item', { work_item_id, wait_seconds: 25 });
      await tools.call('cancel_work_item', { work_item_id });
      expect((await waiting).status).toBe('CANCELLED');
    });

    test('stop waiting when the client leaves, and cancel nothing', async () => {
      const agent = await external();
      const tools = endpoint(agent);
      for (const era of eras) {
        const gone = new AbortController();
        const args = { name: 'create_work_item', arguments: { wait_seconds: 600 } };
        const [message, options] = tools.request(era, 'tools/call', args, { signal: gone.signal });
        const response = tools.fetch(message, options).catch((error) => error);
        await expect.poll(() => count(agent)).toBe(era === 'legacy' ? 1 : 2);
        gone.abort();
        await response;
      }
      const { work_items } = await tools.call('list_work_items');
      expect(work_items.map(({ status }: Json) => status)).toEqual(['PENDING', 'PENDING']);
    });

    test('pass the depth on to the run, and refuse more than 5 levels', async () => {
      const agent = await external();
      const tools = endpoint(agent);
      const depthOf = async (headers: Record<string, string>) => {
        const { work_item_id } = await tools.call('create_work_item', {}, { headers });
        return (await at().sql`select depth from work_items where id = ${work_item_id}`)[0].depth;
      };
      expect(await depthOf({})).toBe(0);
      expect(await depthOf({ 'agent-platform-depth': '5' })).toBe(5);
      for (const depth of ['6', '999999', '-1', 'x', '1, 1']) {
        for (const era of eras) {
          const headers = { 'agent-platform-depth': depth };
          expect(await tools.refusal('list_work_items', {}, { era, headers })).toMatch(
            /^unprocessable_entity: Agent-Platform-Depth/,
          );
        }
      }
    });

    test('require the scope of what they do', async () => {
      const agent = await external();
      const tools = endpoint(agent);
      const { work_item_id } = await tools.call('create_work_item');
      const withScopes = async (...scopes: string[]) =>
        (await newKey(at(), 'member', { scopes: ['agents:read', ...scopes] })).value;
      const none = await withScopes();
      const read = await withScopes('work_items:read');
      const all = await withScopes('work_items');
      for (const key of [none, read, all]) {
        expect((await tools.rpc('modern', 'tools/list', {}, { key })).status).toBe(200);
      }
      expect(await tools.refusal('get_work_item', { work_item_id }, { key: none })).toMatch(
        /^forbidden: .*work_items:read/,
      );
      await tools.call('get_work_item', { work_item_id }, { key: read });
      for (const name of ['create_work_item', 'continue_work_item', 'cancel_work_item']) {
        const args = { work_item_id, message: 'x' };
        expect(await tools.refusal(name, args, { key: read })).toMatch(/^forbidden: .*scope work_items,/);
      }
      await tools.call('create_work_item', {}, { key: all });
    });

    test('are tools of a tool server for other agents', async () => {
      const agent = await external();
      const url = `${at().test.origin}/api/v1/agents/${agent.id}/mcp`;
      const headers = { authorization: `Bearer ${adminKey}` };
      const server = await ok(at().api.post('/tool-servers', { name: `Agent ${agent.id}`, url, headers }));
      expect(server).toMatchObject({ state: 'ok', tool_count: 5, protocol_version: '2026-07-28' });
    });

    test('audit what they do like the API', async () => {
      const agent = await external();
      const { work_item_id } = await endpoint(agent).call('create_work_item');
      await endpoint(agent).call('cancel_work_item', { work_item_id });
      const { data } = await ok(at().api.get(`/audits?target_id=${work_item_id}`));
      expect(data.map(({ action }: Json) => action)).toEqual(['work_item.cancel', 'work_item.create']);
    });
  });
});

describe('a call that waits', () =>
  withPlatform('postgres', (at) => {
    test('reports rising progress every 5 s, to a caller that asked for it and takes events', async () => {
      const agent = await newAgent(at(), { execution: 'external' });
      const tools = new RawEndpoint(`${at().test.origin}/api/v1/agents/${agent.id}/mcp`, adminKey);
      const args = { name: 'create_work_item', arguments: { wait_seconds: 11 } };
      const events = 'application/json, text/event-stream';
      const check = async (era: TestEra) => {
        const send = (accept: string, meta?: object) =>
          tools.rpc(era, 'tools/call', args, { headers: { accept }, ...(meta ? { meta } : {}) });
        const [asked, silent, json] = await Promise.all([
          send(events, { progressToken: 'p' }),
          send(events),
          send('application/json', { progressToken: 'p' }),
        ]);
        expect(asked.headers.get('content-type')).toBe('text/event-stream');
        const [first, second, last, ...more] = eventsIn(asked.text);
        const progress = (n: number) => ({
          jsonrpc: '2.0',
          method: 'notifications/progress',
          params: { progressToken: 'p', progress: n },
        });
        expect([first, second, more]).toEqual([progress(5), progress(10), []]);
        expect(last).toMatchObject({ id: 1, result: { structuredContent: { status: 'PENDING' } } });
        expect(silent.text).not.toContain('progress');
        expect(json.body.result.structuredContent.status).toBe('PENDING');
      };
      await Promise.all(eras.map(check));
    });
  }));
