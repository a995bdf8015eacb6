import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { ApiError, type Client, createClient, each } from '../../clients/typescript/src/index.ts';
import { scripted } from '../contract/conversations-fixture.ts';
import { type FaultyProxy, startFaultyProxy } from '../harness/faulty-proxy.ts';
import { startTestPlatform, type TestPlatform } from '../harness/platform.ts';
import { adminKey } from '../harness/process.ts';

describe('the TypeScript client', () => {
  let platform: TestPlatform;
  let proxy: FaultyProxy;
  let client: Client;
  beforeAll(async () => {
    platform = await startTestPlatform();
    proxy = await startFaultyProxy(platform.origin);
    client = createClient({ url: `${proxy.origin}/`, key: adminKey });
  });
  beforeEach(() => {
    proxy.faults.length = 0;
    proxy.seen.length = 0;
  });
  afterAll(async () => {
    await proxy?.[Symbol.asyncDispose]();
    await platform?.stop();
  });

  const newAgent = (name: string, mode: 'worker' | 'conversational' = 'worker') =>
    client.createAgent({ body: { name, mode } });
  const namedAgents = async (name: string): Promise<number> => {
    let found = 0;
    for await (const agent of each(client.listAgents)) if (agent.name === name) found++;
    return found;
  };

  test('creates, reads, changes with an ETag, and deletes', async () => {
    const agent = await newAgent('Clerk');
    expect(await client.getAgent({ path: { agent_id: agent.id } })).toEqual(agent);
    const response = await client.fetch('getAgent', { path: { agent_id: agent.id } });
    const etag = response.headers.get('etag')!;
    const changed = {
      path: { agent_id: agent.id },
      headers: { 'If-Match': etag },
      body: { name: 'Day clerk' },
    };
    expect((await client.updateAgent(changed)).name).toBe('Day clerk');
    await expect(client.updateAgent(changed)).rejects.toMatchObject({
      status: 412,
      code: 'precondition_failed',
    });
    expect(await client.deleteAgent({ path: { agent_id: agent.id } })).toBeUndefined();
  });

  test('throws what the platform says, with every fault', async () => {
    const error = await client.createAgent({ body: { name: '', mode: 'worker' } }).catch((thrown) => thrown);
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({ status: 422, code: 'unprocessable_entity', details: [{ path: 'name' }] });
    expect(error.errorId).toMatch(/^[0-9a-f-]{36}$/);
    expect(error.message).toContain('\nname: ');
  });

  test('throws what a server between them says', async () => {
    proxy.faults.push({ status: 400 });
    const error = await client.listAgents().catch((thrown) => thrown);
    expect(error).toMatchObject({ status: 400, code: 'unknown', message: '400: <h1>Bad gateway</h1>' });
  });

  test('names a part of the address that is missing, and sends nothing', async () => {
    // @ts-expect-error: a program without types
    await expect(client.getAgent({})).rejects.toThrow('getAgent needs path.agent_id.');
    expect(proxy.seen).toEqual([]);
  });

  test('sends a creation whose response was lost again, and makes one', async () => {
    proxy.faults.push('lose the response', { status: 503, retryAfter: '0' });
    const agent = await newAgent('Only one');
    expect(agent.name).toBe('Only one');
    expect(new Set(proxy.seen.map(({ headers }) => headers['idempotency-key'])).size).toBe(1);
    expect(proxy.seen).toHaveLength(3);
    expect(await namedAgents('Only one')).toBe(1);
  });

  test('sends nothing twice that could happen twice', async () => {
    const agent = await newAgent('Changed');
    proxy.faults.push('lose the response');
    const change = { path: { agent_id: agent.id }, body: { name: 'Changed' } };
    await expect(client.updateAgent(change)).rejects.toThrow();
    proxy.faults.push({ status: 503, retryAfter: '0' });
    await expect(client.updateAgent(change)).rejects.toMatchObject({ status: 503 });
    proxy.faults.push({ status: 429, retryAfter: '0' });
    expect((await client.updateAgent(change)).name).toBe('Changed');
  });

  test('gives up after its tries', async () => {
    const impatient = createClient({ url: proxy.origin, key: adminKey, tries: 2 });
    proxy.faults.push({ status: 502, retryAfter: '0' }, { status: 502, retryAfter: '0' });
    await expect(impatient.listAgents()).rejects.toMatchObject({ status: 502 });
    expect(proxy.seen).toHaveLength(2);
  });

  test('ends with its signal while it waits for the next try', async () => {
    const ending = new AbortController();
    proxy.faults.push({ status: 503, retryAfter: '50' });
    const listed = client.listAgents({ signal: ending.signal });
    await expect.poll(() => proxy.seen.length).toBe(1);
    ending.abort(new Error('enough'));
    await expect(listed).rejects.toThrow(/enough|aborted/);
  });

  test('goes through lists of both shapes, page by page', async () => {
    const agent = await newAgent('Busy');
    for (const name of ['a', 'b', 'c'])
      await client.createWorkItem({ body: { agent_id: agent.id, message: name, work_item_name: name } });
    const names: string[] = [];
    for await (const item of each(client.listWorkItems, { query: { agent_id: agent.id, limit: 2 } }))
      names.push(item.work_item_name!);
    expect(names.sort()).toEqual(['a', 'b', 'c']);
    await newAgent('Another');
    proxy.seen.length = 0;
    let agents = 0;
    for await (const _ of each(client.listAgents, { query: { limit: 1 } })) agents++;
    expect(agents).toBeGreaterThan(2);
    expect(proxy.seen).toHaveLength(agents);
  });

  test('goes on with a stream that was cut, without a gap and without an event twice', async () => {
    const agent = await newAgent('Talker', 'conversational');
    const conversation = await client.createConversation({ path: { agent_id: agent.id }, body: {} });
    const path = { agent_id: agent.id, conversation_id: conversation.id };
    const content = scripted({ steps: [{ text: 'one two three' }] });
    proxy.faults.push({ cutBehind: 'run.started' }, { cutBehind: 'message' });
    const events = [];
    for await (const event of client.streamMessage({ path, body: { content } })) events.push(event);
    expect(events.map(({ id }) => Number(id))).toEqual(events.map((_, n) => n + 1));
    expect(events.at(-1)!.event).toBe('run.completed');
    expect(proxy.seen.filter(({ headers }) => headers['last-event-id'] !== undefined)).toHaveLength(2);
  });

  test('sends a file as a form, and gets its bytes back', async () => {
    const agent = await newAgent('Reader', 'conversational');
    const conversation = await client.createConversation({ path: { agent_id: agent.id }, body: {} });
    const path = { agent_id: agent.id, conversation_id: conversation.id };
    const file = new File(['month,total\nMay,12'], 'ledger.csv', { type: 'text/csv' });
    const stored = await client.createConversationFile({ path, body: { file } });
    expect(stored.name).toBe('ledger.csv');
    const content = await client.downloadConversationFile({ path: { ...path, file_id: stored.id } });
    expect(await content.text()).toBe('month,total\nMay,12');
  });
});
