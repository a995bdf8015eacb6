import { expect, test } from 'vitest';
import { startLegacyProxy } from '../harness/legacy-proxy.ts';
import { adminKey } from '../harness/process.ts';
import { eras, RawEndpoint, type TestEra } from '../harness/tool-protocol.ts';
import { startToolServer } from '../harness/tool-server.ts';
import { newConversation, newTalker, scripted } from './conversations-fixture.ts';
import { newAgent, ok, onPostgres } from './fixture.ts';

// biome-ignore lint/suspicious/noExplicitAny: JSON, read field by field
type Json = any;

/** What the calls of a run returned, by their tools. They end in any order. */
const resultsOf = (run: Json): Record<string, Json> =>
  Object.fromEntries(
    run.messages
      .flatMap(({ content }: Json) => content)
      .filter(({ type }: Json) => type === 'tool_result')
      .map(({ tool_name, text }: Json) => [tool_name.split('__')[1], JSON.parse(text)]),
  );

onPostgres((at) => {
  let made = 0;

  /** Registers an agent as a tool server, and has `use` with its prefix and id. */
  const withServerOf = async (
    agentId: string,
    era: TestEra,
    use: (server: { id: string; prefix: string }) => Promise<void>,
  ): Promise<void> => {
    const address = `${at().test.origin}/api/v1/agents/${agentId}/mcp`;
    const proxy = era === 'legacy' ? await startLegacyProxy(address) : null;
    try {
      const fields = { name: 'agent', url: proxy?.url ?? address, default_policy: 'allow' };
      const headers = { Authorization: `Bearer ${adminKey}` };
      const prefix = `agent${made++}`;
      const server = await ok(at().api.post('/tool-servers', { ...fields, prefix, headers }));
      const isModern = server.protocol_version === '2026-07-28';
      expect([server.state, isModern]).toEqual(['ok', era === 'modern']);
      await use({ id: server.id, prefix });
    } finally {
      await proxy?.[Symbol.asyncDispose]();
    }
  };

  test.each(eras)('an agent asks another, and gives a third work to do (%s)', async (era) => {
    const talker = await newTalker(at());
    const worker = await newAgent(at());
    await withServerOf(talker.id, era, (asked) =>
      withServerOf(worker.id, era, async (given) => {
        const { id } = await newTalker(at(), { tool_server_ids: [asked.id, given.id] });
        const conversation = await newConversation(at(), { agentId: id });
        const tools = [
          { tool: `${asked.prefix}__ask_agent`, args: { message: 'What time is it?' } },
          { tool: `${given.prefix}__create_work_item`, args: { message: 'File it.', wait_seconds: 30 } },
        ];
        const run = await conversation.send({ content: scripted({ steps: [{ tools }, { text: 'Done.' }] }) });
        expect(run).toMatchObject({ status: 'completed', answer: 'Done.' });
        const { ask_agent: answer, create_work_item: item } = resultsOf(run);
        expect(answer).toMatchObject({ status: 'completed', answer: expect.stringMatching(/What time/) });
        expect(item).toMatchObject({ status: 'COMPLETED', result: expect.stringMatching(/File it/) });
        const depths = await at().sql`select depth from conversation_runs where id = ${answer.run_id}
            union all select depth from work_items where id = ${item.work_item_id}`;
        expect(depths).toEqual([{ depth: 1 }, { depth: 1 }]);
      }),
    );
  });

  test.each(eras)('an agent that calls itself comes to an end (%s)', async (era) => {
    const { id } = await newTalker(at());
    await withServerOf(id, era, async (itself) => {
      await ok(at().api.patch(`/agents/${id}`, { tool_server_ids: [itself.id] }));
      let message = 'Hello';
      for (let i = 0; i < 8; i++) {
        const call = { tool: `${itself.prefix}__ask_agent`, args: { message } };
        message = scripted({ steps: [call, { text: `Level ${i}` }] });
      }
      const conversation = await newConversation(at(), { agentId: id });
      expect(await conversation.send({ content: message })).toMatchObject({
        status: 'completed',
        answer: 'Level 7',
      });
      // Six runs: one that a person began, and five below it.
      const { data } = await ok(at().api.get(`/agents/${id}/conversations`));
      expect(data).toHaveLength(6);
      const last = await ok(at().api.get(`/agents/${id}/conversations/${data[0].id}/messages`));
      const [refused] = last.data.flatMap(({ content }: Json) => content).filter((p: Json) => p.is_error);
      expect(refused.text).toMatch(/^unprocessable_entity: Agent-Platform-Depth: is 6: at most 5 agents/);
    });
  });

  test('the run of the asked agent is cancelled with that of the asking one', async () => {
    const talker = await newTalker(at());
    await withServerOf(talker.id, 'modern', async (asked) => {
      const { id } = await newTalker(at(), { tool_server_ids: [asked.id] });
      const conversation = await newConversation(at(), { agentId: id });
      const args = { message: scripted({ delay_ms: 60_000 }) };
      const content = scripted({ steps: [{ tool: `${asked.prefix}__ask_agent`, args }] });
      await conversation.send({ content, wait_seconds: 0 });
      const status = async () =>
        (await ok(at().api.get(`/agents/${talker.id}/conversations`))).data[0]?.status;
      await expect.poll(status).toBe('running');
      await ok(at().api.post(`${conversation.path}/cancel`));
      await expect.poll(status).toBe('idle');
    });
  });

  test.each(eras)('a message to an agent that waits for approval decides nothing (%s)', async (era) => {
    await using bank = await startToolServer();
    bank.tools = [{ name: 'pay', inputSchema: { type: 'object' } }];
    const server = await ok(
      at().api.post('/tool-servers', { name: 'bank', prefix: `bank${made++}`, url: bank.url }),
    );
    const talker = await newTalker(at(), { tool_server_ids: [server.id] });
    const tools = new RawEndpoint(`${at().test.origin}/api/v1/agents/${talker.id}/mcp`, adminKey);
    const message = scripted({ steps: [{ tool: `${server.prefix}__pay` }, { text: 'Paid.' }] });
    const { conversation_id, run_id, status } = await tools.call('ask_agent', { message }, { era });
    expect(status).toBe('needs_review');
    const again = { conversation_id, message: 'Well?' };
    expect(await tools.refusal('ask_agent', again, { era })).toMatch(
      /^precondition_failed: Tool calls wait for approval: bank\d+__pay\. People decide on them in the platform/,
    );
    expect(await tools.call('get_answer', { conversation_id }, { era })).toMatchObject({ run_id, status });
    const path = `/agents/${talker.id}/conversations/${conversation_id}/messages`;
    const { data } = await ok(at().api.get(path));
    expect(data.map(({ role }: Json) => role)).toEqual(['assistant', 'user']);
    expect(bank.calls).toEqual([]);
    const cancelled = await tools.call('cancel_answer', { conversation_id }, { era });
    expect(cancelled.status).toBe('cancelled');
    expect(await tools.call('ask_agent', again, { era })).toMatchObject({ status: 'completed' });
    expect(bank.calls).toEqual([]);
  });
});
