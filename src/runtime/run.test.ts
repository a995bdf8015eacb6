import { beforeEach, describe, expect, test, vi } from 'vitest';
import { testActor } from '../../tests/harness/api.ts';
import { onPostgres } from '../../tests/harness/database.ts';
import { completion, startEndpoint, wireCall } from '../../tests/harness/llm-endpoint.ts';
import {
  becomes,
  conversationOf,
  endPause,
  fakeTool,
  historyOf,
  makeAgent,
  makeItem,
  makeLlm,
  newRuntime,
  type TestRuntime,
} from '../../tests/harness/runtime.ts';
import type { Settings } from '../settings/index.ts';
import { workItemCalls } from '../work-items/index.ts';
import { act } from '../work-items/work-items.ts';

const actor = testActor;

onPostgres((_name, open) => {
  let runtime: TestRuntime;
  let flushed: string[];
  let settings: Partial<Settings>;
  const runs: { args: unknown; signal: AbortSignal }[] = [];
  /** A tool that must not be called twice; its arguments make it hang or fail. */
  const pay = fakeTool('pay', (args, { signal }) => {
    runs.push({ args, signal });
    const { hang, fail } = args;
    if (hang) return new Promise(() => {});
    if (fail) return Promise.reject(new Error('password=hunter2'));
    return Promise.resolve({ text: 'paid' });
  });

  beforeEach(async () => {
    flushed = [];
    settings = {};
    runs.length = 0;
    const started = await newRuntime(open(), {
      tools: [pay],
      settings,
      flush: async () => {
        const ended = runtime.tracing.spans.filter((span) => span.ended);
        flushed = ended.map((span) => span.name);
      },
    });
    runtime = started;
    runtime.start();
    return () => started.stop();
  });

  const item = async (mock?: unknown, agent = {}) => makeItem(open(), await makeAgent(open(), agent), mock);
  const ends = async (status: 'COMPLETED' | 'NEEDS_REVIEW' | 'ERROR', mock?: unknown, agent = {}) =>
    becomes(open(), (await item(mock, agent)).id, status);
  const continued = async (id: string, action: 'continue' | 'restart', message?: string) =>
    open().tx(async (tx) => act(tx, await workItemCalls.get(tx, id), action, actor, { message }));

  describe('a Work Item', () => {
    test('goes from PENDING to COMPLETED, its messages stored and its tokens counted', async () => {
      const done = await ends('COMPLETED');
      expect(done).toMatchObject({ attempts: 1, error: null, started_at: expect.any(Date) });
      expect(done.result).toMatch(/^This is the mock model's answer to: Write the report\ncurrent_time: /);
      expect(done.usage!.input_tokens).toBeGreaterThan(0);
      expect(done.usage!.output_tokens).toBeGreaterThan(0);
      expect(await historyOf(open(), done.id)).toEqual([
        'create→PENDING',
        'claim→EXECUTING',
        'finish→COMPLETED',
      ]);
      expect(await conversationOf(open(), done)).toEqual([
        'system: Be brief.',
        'user: Write the report',
        'assistant: Let me look at the clock. →current_time',
        expect.stringMatching(/^tool: \d{4}-.*\[UTC\]$/),
        `assistant: ${done.result}`,
      ]);
      await expect.poll(() => runtime.finished).toEqual(['COMPLETED']);
    });

    test('waits for a person if a tool requests it, makes no further call, and resumes when continued', async () => {
      const reviewed = await ends('NEEDS_REVIEW', {
        steps: [
          {
            tools: [
              { tool: 'request_review', args: { reason: 'sure?' } },
              { tool: 'pay', args: {} },
            ],
          },
          { text: 'never said' },
        ],
      });
      expect(runs).toEqual([]);
      expect((await conversationOf(open(), reviewed)).slice(-2)).toEqual([
        'tool: A person was asked to review this.',
        'tool: The tool was not called: a person was asked to review first.',
      ]);
      await continued(reviewed.id, 'continue', 'Yes, go on');
      const done = await becomes(open(), reviewed.id, 'COMPLETED');
      expect(done.result).toMatch(/answer to: Yes, go on/);
      expect(done.trace_id).not.toBe(reviewed.trace_id);
      expect(done.usage!.input_tokens).toBeGreaterThan(reviewed.usage!.input_tokens);
    });

    test('begins a new conversation and a new trace when restarted', async () => {
      const first = await ends('COMPLETED');
      await continued(first.id, 'restart');
      const again = await becomes(open(), first.id, 'COMPLETED');
      expect(again.trace_id).not.toBe(first.trace_id);
      expect((await conversationOf(open(), again)).length).toBe(5);
    });

    test('reports to the model that a tool does not exist or failed, and shows no one why it failed', async () => {
      const done = await ends('COMPLETED', {
        steps: [
          { tool: 'no_such', args: {} },
          { tool: 'pay', args: { fail: true } },
          { tool: 'current_time', args: { timezone: 'PST' } },
          { text: 'ok' },
        ],
      });
      const tools = (await conversationOf(open(), done)).filter((line) => line.startsWith('tool:'));
      expect(tools).toEqual([
        'tool: There is no tool no_such. The tools are: current_time, pay, request_review.',
        'tool: The tool failed.',
        expect.stringContaining('IANA name of a time zone'),
      ]);
    });
  });

  test('a reply that was cut off is an ERROR, and a person can continue it without a message', async () => {
    await using endpoint = await startEndpoint((_asked, n) => ({
      body: n === 0 ? completion({ content: 'The long' }, 'length') : completion({ content: 'The end.' }),
    }));
    const llm_id = await makeLlm(open(), endpoint.url, 'key');
    const failed = await ends('ERROR', undefined, { llm_id });
    expect(failed).toMatchObject({ attempts: 1, error: { code: 'model_answer_truncated' } });
    await continued(failed.id, 'continue');
    const done = await becomes(open(), failed.id, 'COMPLETED');
    expect(await conversationOf(open(), done)).toEqual([
      'system: Be brief.',
      'user: Write the report',
      'assistant: The long',
      'user: Continue.',
      'assistant: The end.',
    ]);
  });

  describe('the limits of an agent', () => {
    test('end a Work Item that takes too many steps', async () => {
      const steps = Array.from({ length: 9 }, () => ({ tool: 'current_time' }));
      const failed = await ends('ERROR', { steps }, { max_steps: 3 });
      expect(failed).toMatchObject({ attempts: 1, error: { code: 'max_steps' } });
      expect(
        (await conversationOf(open(), failed)).filter((line) => line.startsWith('assistant')),
      ).toHaveLength(3);
    });

    test('end a Work Item that takes too long, in a model call and in a tool that does not listen', async () => {
      const [slow, stuck] = await Promise.all([
        ends('ERROR', { delay_ms: 60_000 }, { timeout_seconds: 1 }),
        ends('ERROR', { steps: [{ tool: 'pay', args: { hang: true } }] }, { timeout_seconds: 1 }),
      ]);
      expect(slow.error).toMatchObject({ code: 'timeout', message: expect.stringContaining('1 seconds') });
      expect(stuck.error).toMatchObject({ code: 'timeout' });
      expect(runs[0]!.signal.aborted).toBe(true);
      // A person continues it: the call that must not be repeated is not made again.
      await continued(stuck.id, 'continue');
      await becomes(open(), stuck.id, 'COMPLETED');
      expect(runs).toHaveLength(1);
      expect((await conversationOf(open(), stuck)).join()).toContain('whether it took effect is not known');
    });
  });

  describe('a failure', () => {
    test('of the model is tried again after a pause while attempts are left, then it is an ERROR', async () => {
      const { id } = await item({ fail: 'out of order' }, { max_attempts: 2 });
      await expect.poll(async () => (await historyOf(open(), id)).at(-1)).toBe('retry→PENDING');
      await endPause(open(), id);
      const failed = await becomes(open(), id, 'ERROR');
      expect(failed).toMatchObject({
        attempts: 2,
        error: { code: 'model_unavailable', message: 'out of order' },
      });
      // The second attempt went on with the conversation of the first.
      expect(await conversationOf(open(), failed)).toHaveLength(2);
    });

    test('that a retry cannot fix is an ERROR at once', async () => {
      const failed = await ends('ERROR', { steps: 'wrong' });
      expect(failed).toMatchObject({ attempts: 1, error: { code: 'model_refused' } });
    });
  });

  describe('cancel', () => {
    test('ends an executing Work Item within seconds, also in a tool that does not listen', async () => {
      const slow = await item({ delay_ms: 60_000 });
      const stuck = await item({ steps: [{ tool: 'pay', args: { hang: true } }] });
      await expect.poll(() => runs.length).toBe(1);
      for (const { id } of [await becomes(open(), slow.id, 'EXECUTING'), stuck]) {
        await open().tx(async (tx) => act(tx, await workItemCalls.get(tx, id), 'cancel', actor));
        // Without the notification the next heartbeat finds it, after up to 10 s.
        await becomes(open(), id, 'CANCELLED', 3_000);
      }
    });
  });

  test('a step with a tool call costs two transactions', async () => {
    const counted = async (steps: number): Promise<number> => {
      const pays = Array.from({ length: steps }, () => ({ tool: 'pay' }));
      let transactions = 0;
      const { tx } = open();
      const counting = vi.spyOn(open(), 'tx').mockImplementation((fn) => {
        transactions++;
        return tx(fn);
      });
      try {
        const { id } = await item({ steps: [...pays, { text: 'done' }] }, { max_steps: 20 });
        await becomes(open(), id, 'COMPLETED');
      } finally {
        counting.mockRestore();
      }
      return transactions;
    };
    // The worker looks for work now and then, which costs a few in either case.
    const [few, many] = [await counted(1), await counted(11)];
    expect(many - few).toBeGreaterThan(15);
    expect(many - few).toBeLessThan(30);
  });

  describe('a trace', () => {
    test('is one for each attempt, has the spans of the GenAI conventions, and is durable before the end', async () => {
      const done = await ends('COMPLETED');
      const spans = runtime.tracing.of(done.trace_id);
      expect(spans.map((span) => span.name)).toEqual([
        'invoke_agent Reporter',
        'chat mock',
        'execute_tool current_time',
        'chat mock',
      ]);
      expect(flushed.filter((name) => name.startsWith('invoke_agent'))).toHaveLength(1);
      const [invoke, chat, tool] = spans;
      expect(invoke).toMatchObject({ parent: null, failed: false, options: { agentId: done.agent_id } });
      expect(invoke!.attributes).toMatchObject({
        'gen_ai.operation.name': 'invoke_agent',
        'gen_ai.agent.id': done.agent_id,
        'gen_ai.agent.name': 'Reporter',
        'gen_ai.conversation.id': done.conversation_id,
        'gen_ai.usage.input_tokens': done.usage!.input_tokens,
        'agent_platform.work_item.id': done.id,
      });
      expect(chat!.parent).toBe(invoke);
      expect(chat!.attributes).toMatchObject({
        'gen_ai.operation.name': 'chat',
        'gen_ai.provider.name': 'mock',
        'gen_ai.request.model': 'mock',
        'gen_ai.response.model': 'mock',
        'gen_ai.response.finish_reasons': ['tool-calls'],
      });
      expect(tool!.attributes).toMatchObject({
        'gen_ai.tool.name': 'current_time',
        'gen_ai.tool.call.id': 'mock_1_1',
      });
      expect(JSON.stringify(spans.map((span) => span.attributes))).not.toContain('Write the report');
    });

    test('says what failed', async () => {
      const failed = await ends('ERROR', { steps: 'wrong' });
      const [invoke, chat] = runtime.tracing.of(failed.trace_id);
      expect(invoke).toMatchObject({ failed: true, attributes: { 'error.type': 'model_refused' } });
      expect(chat).toMatchObject({ failed: true, attributes: { 'error.type': 'model_refused' } });
    });

    test('holds prompts and replies only if the setting says so', async () => {
      settings.CAPTURE_MESSAGE_CONTENT = true;
      const done = await ends('COMPLETED');
      const [, chat, tool] = runtime.tracing.of(done.trace_id);
      expect(JSON.parse(String(chat!.attributes['gen_ai.input.messages']))).toEqual([
        { role: 'user', parts: [{ type: 'text', content: 'Write the report' }] },
      ]);
      expect(chat!.attributes['gen_ai.system_instructions']).toContain('Be brief.');
      expect(JSON.parse(String(chat!.attributes['gen_ai.output.messages']))[0]).toMatchObject({
        role: 'assistant',
        finish_reason: 'tool-calls',
      });
      expect(tool!.attributes['gen_ai.tool.call.result']).toContain('[UTC]');
    });
  });

  test('a model over HTTP completes a Work Item with a tool, and its key is shown nowhere', async () => {
    await using endpoint = await startEndpoint((_asked, n) =>
      n === 0
        ? { body: completion({ tool_calls: [wireCall('c1', 'pay', { amount: 3 })] }, 'tool_calls') }
        : { body: completion({ content: 'Paid.' }) },
    );
    const llm_id = await makeLlm(open(), endpoint.url, 'sk-secret-1');
    const done = await ends('COMPLETED', undefined, { llm_id });
    expect(done).toMatchObject({ result: 'Paid.', usage: { input_tokens: 42, output_tokens: 14 } });
    expect(runs[0]!.args).toEqual({ amount: 3 });
    expect(endpoint.requests[0]!.headers.authorization).toBe('Bearer sk-secret-1');
    expect(JSON.stringify(runtime.tracing.spans.map((span) => span.attributes))).not.toContain('sk-secret');
  });
});
