import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { expect, test } from 'vitest';
import { adminKey } from '../harness/process.ts';
import { eras, RawEndpoint } from '../harness/tool-protocol.ts';
import { scripted } from './conversations-fixture.ts';
import { newAgent, newKey, ok, onPostgres, unknownId, uuid } from './fixture.ts';

// biome-ignore lint/suspicious/noExplicitAny: JSON, read field by field
type Json = any;

onPostgres((at) => {
  const endless = scripted({ delay_ms: 60_000 });
  const newEndpoint = async () => {
    const { id } = await newAgent(at(), { mode: 'conversational' });
    return {
      agentId: id as string,
      tools: new RawEndpoint(`${at().test.origin}/api/v1/agents/${id}/mcp`, adminKey),
    };
  };
  const conversations = async (agentId: string): Promise<Json[]> =>
    (await ok(at().api.get(`/agents/${agentId}/conversations`))).data;

  test.each(eras)('ask_agent waits for the reply, and goes on in the conversation (%s)', async (era) => {
    const { agentId, tools } = await newEndpoint();
    const first = await tools.call('ask_agent', { message: 'What time is it?' }, { era });
    expect(first).toEqual({
      conversation_id: expect.stringMatching(uuid),
      run_id: expect.stringMatching(uuid),
      status: 'completed',
      answer: expect.stringMatching(/answer to: What time is it\?/),
      error: null,
    });
    const { conversation_id } = first;
    const second = await tools.call('ask_agent', { message: 'And now?', conversation_id }, { era });
    expect(second).toMatchObject({ conversation_id, status: 'completed' });
    expect(await tools.call('get_answer', { conversation_id }, { era })).toEqual(second);
    const [conversation, ...more] = await conversations(agentId);
    expect([conversation, more]).toEqual([
      expect.objectContaining({ id: conversation_id, name: 'What time is it?', message_count: 8 }),
      [],
    ]);
  });

  test.each(eras)('the official client of the %s era asks', async (era) => {
    const { agentId } = await newEndpoint();
    const mode = era === 'modern' ? { pin: '2026-07-28' } : 'legacy';
    const client = new Client(
      { name: 'test', version: '1' },
      { versionNegotiation: { mode: mode as 'legacy' } },
    );
    const url = new URL(`${at().test.origin}/api/v1/agents/${agentId}/mcp`);
    const headers = { authorization: `Bearer ${adminKey}` };
    await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }));
    try {
      await client.listTools();
      const { structuredContent } = await client.callTool({
        name: 'ask_agent',
        arguments: { message: 'Hi' },
      });
      expect(structuredContent).toMatchObject({ status: 'completed', answer: expect.stringMatching(/Hi/) });
    } finally {
      await client.close();
    }
  });

  test('one run at a time: get_answer looks later, cancel_answer ends it', async () => {
    const { tools } = await newEndpoint();
    const asked = await tools.call('ask_agent', { message: endless, wait_seconds: 0 });
    const { conversation_id } = asked;
    expect(['queued', 'running']).toContain(asked.status);
    const again = await tools.refusal('ask_agent', { message: 'x', conversation_id });
    expect(again).toMatch(/^precondition_failed: A run of this conversation is in progress/);
    const waiting = tools.call('get_answer', { conversation_id, wait_seconds: 30 });
    expect(await tools.call('cancel_answer', { conversation_id })).toMatchObject({ status: 'cancelled' });
    expect((await waiting).status).toBe('cancelled');
    expect(await tools.refusal('cancel_answer', { conversation_id })).toMatch(/^precondition_failed: /);
  });

  test('a conversation that is deleted while someone waits does not exist any more', async () => {
    const { agentId, tools } = await newEndpoint();
    const { conversation_id } = await tools.call('ask_agent', { message: endless, wait_seconds: 0 });
    const waiting = tools.refusal('get_answer', { conversation_id, wait_seconds: 30 });
    await ok(at().api.get(`/agents/${agentId}`));
    await ok(at().api.delete(`/agents/${agentId}/conversations/${conversation_id}`), 204);
    expect(await waiting).toBe('not_found: The conversation does not exist.');
  });

  test('a run that fails is a result with its error', async () => {
    const { tools } = await newEndpoint();
    const failed = await tools.call('ask_agent', { message: scripted({ steps: 'wrong' }) });
    expect(failed).toMatchObject({ status: 'error', answer: null, error: { code: 'model_refused' } });
  });

  test('a conversation without a run is idle', async () => {
    const { agentId, tools } = await newEndpoint();
    const { id } = await ok(at().api.post(`/agents/${agentId}/conversations`, {}));
    expect(await tools.call('get_answer', { conversation_id: id })).toEqual({
      conversation_id: id,
      run_id: null,
      status: 'idle',
      answer: null,
      error: null,
    });
  });

  test('members reach their own conversations alone, and no one those of another agent', async () => {
    const { tools } = await newEndpoint();
    const key = (await newKey(at(), 'member')).value;
    const { conversation_id } = await tools.call('ask_agent', { message: 'Hi' });
    const own = await tools.call('ask_agent', { message: 'Hi' }, { key });
    expect(await tools.call('get_answer', { conversation_id: own.conversation_id }, { key })).toEqual(own);
    const other = (await newEndpoint()).tools;
    for (const [endpoint, id, options] of [
      [tools, conversation_id, { key }],
      [other, conversation_id, {}],
      [tools, unknownId, {}],
      [tools, 'x', {}],
    ] as const) {
      for (const name of ['ask_agent', 'get_answer', 'cancel_answer']) {
        const args = { conversation_id: id, message: 'x' };
        expect(await endpoint.refusal(name, args, options)).toBe(
          'not_found: The conversation does not exist.',
        );
      }
    }
  });

  test('the tools require the scope conversations', async () => {
    const { tools } = await newEndpoint();
    const withScopes = async (...scopes: string[]) =>
      (await newKey(at(), 'member', { scopes: ['agents:read', ...scopes] })).value;
    const read = await withScopes('conversations:read');
    expect(await tools.refusal('ask_agent', { message: 'x' }, { key: read })).toMatch(
      /^forbidden: .*scope conversations,/,
    );
    const key = await withScopes('conversations');
    await tools.call('ask_agent', { message: 'x' }, { key });
  });

  test('the depth of the caller is that of the run', async () => {
    const { tools } = await newEndpoint();
    const headers = { 'agent-platform-depth': '2' };
    const { run_id } = await tools.call('ask_agent', { message: 'Hi' }, { headers });
    expect(await at().sql`select depth from conversation_runs where id = ${run_id}`).toEqual([{ depth: 2 }]);
  });

  test.each(eras)(
    'closing the stream of ask_agent cancels its run in the modern era alone (%s)',
    async (era) => {
      const { agentId, tools } = await newEndpoint();
      const gone = new AbortController();
      const args = { name: 'ask_agent', arguments: { message: endless } };
      const [message, options] = tools.request(era, 'tools/call', args, { signal: gone.signal });
      const response = tools.fetch(message, options).then((one) => one.text());
      response.catch(() => {});
      const status = async () => (await conversations(agentId))[0]?.status;
      await expect.poll(status).toBe('running');
      gone.abort();
      if (era === 'modern') await expect.poll(status).toBe('idle');
      const conversation_id = (await conversations(agentId))[0].id;
      const later = await tools.call('get_answer', { conversation_id, wait_seconds: 1 });
      expect(later.status).toBe(era === 'modern' ? 'cancelled' : 'running');
    },
  );
});
