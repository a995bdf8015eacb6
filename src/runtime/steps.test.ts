import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { memoryRun, scriptedModel } from '../../tests/harness/memory-run.ts';
import { fakeTool } from '../../tests/harness/runtime.ts';
import type { Message } from './messages.ts';
import { submitResultTool } from './result.ts';
import { ModelError } from './step.ts';
import { runSteps } from './steps.ts';

const unavailable = (retryAfterMs: number | null = null) =>
  new ModelError('model_unavailable', 'out of order', { retryable: true, retryAfterMs });
const refuses = (error: ModelError) => () => {
  throw error;
};
const call = (id: string, name: string, args: unknown = {}) => ({ id, name, arguments: args });

describe('tool calls of one step', () => {
  test('run side by side up to the limit, and each result is stored as it comes', async () => {
    let now = 0;
    let most = 0;
    const wait = fakeTool('wait', async ({ ms }) => {
      most = Math.max(most, ++now);
      await sleep(Number(ms));
      now--;
      return { text: `waited ${ms}` };
    });
    const tools = [80, 10, 40, 1].map((ms) => ({ tool: 'wait', args: { ms } }));
    const { attempt, saved } = memoryRun({
      mock: { steps: [{ tools }] },
      tools: [wait],
      limits: { max_steps: 5, tool_concurrency: 2, max_tokens: null, max_output_tokens: null },
    });
    expect(await runSteps(attempt)).toMatchObject({ status: 'COMPLETED' });
    expect(most).toBe(2);
    const texts = saved.flatMap(({ messages }) => messages.map(({ role, text }) => `${role}: ${text}`));
    expect(texts[0]).toBe('assistant: ');
    expect(texts.slice(1).sort()).toEqual([1, 10, 40, 80].map((ms) => `tool: waited ${ms}`).sort());
    expect(texts[1]).toBe('tool: waited 10');
    // All are marked from the reply on, until the last one has its result.
    expect(saved.map(({ unsafeCalls }) => unsafeCalls?.length)).toEqual([4, 3, 2, 1, 0]);
    expect(attempt.usage).toMatchObject({ model_calls: 2, tool_calls: 4 });
  });

  test('a step with one call is two transactions', async () => {
    const { attempt, saved } = memoryRun({
      mock: { steps: [{ tool: 'pay' }] },
      tools: [fakeTool('pay', async () => ({ text: 'paid' }))],
    });
    await runSteps(attempt);
    expect(saved.map(({ messages }) => messages.length)).toEqual([1, 1]);
  });
});

describe('a budget', () => {
  const limits = (max_tokens: number | null, max_output_tokens: number | null = null) => ({
    max_steps: 9,
    tool_concurrency: 1,
    max_tokens,
    max_output_tokens,
  });
  const looping = () => scriptedModel('m', (n) => ({ toolCalls: [call(`c${n}`, 'current_time')] }));

  test('clamps the output to what is left, and ends the run when fewer than 16 tokens are', async () => {
    const model = looping();
    const { attempt } = memoryRun({ candidates: [model], limits: limits(235) });
    expect(await runSteps(attempt)).toMatchObject({ status: 'ERROR', error: { code: 'max_tokens' } });
    // 235, then 235 - 110, then 15: no call.
    expect(model.requests.map(({ maxOutputTokens }) => maxOutputTokens)).toEqual([235, 125]);
    expect(attempt.usage).toEqual({
      input_tokens: 200,
      output_tokens: 20,
      cached_input_tokens: 10,
      reasoning_tokens: 4,
      model_calls: 2,
      tool_calls: 2,
    });
  });

  test('begins after what was used before', async () => {
    const model = looping();
    const used = { input_tokens: 1_000, output_tokens: 0, cached_input_tokens: 0, reasoning_tokens: 0 };
    const { attempt } = memoryRun({
      candidates: [model],
      limits: limits(150, 40),
      usage: { ...used, model_calls: 1, tool_calls: 0 },
      start: { approved: [], interrupted: [], tokensBefore: 1_000 },
    });
    expect(await runSteps(attempt)).toMatchObject({ error: { code: 'max_tokens' } });
    expect(model.requests.map(({ maxOutputTokens }) => maxOutputTokens)).toEqual([40, 40]);
  });

  test('that cuts a reply off is used up', async () => {
    const model = scriptedModel('m', () => ({ finishReason: 'length' }));
    const spent = memoryRun({ candidates: [model], limits: limits(500) });
    expect(await runSteps(spent.attempt)).toMatchObject({ error: { code: 'max_tokens' } });
    const cut = memoryRun({ candidates: [model], limits: limits(500, 100) });
    expect(await runSteps(cut.attempt)).toMatchObject({ error: { code: 'model_answer_truncated' } });
  });
});

describe('a result by schema', () => {
  const submit = submitResultTool({ properties: { n: { type: 'integer' } }, required: ['n'] });
  const run = (mock: unknown) =>
    memoryRun({ mock, tools: [submit], resultCheck: (args) => submit.check(args) });

  test('is JSON in the text of a model that does not get the tool', async () => {
    const replies = ['It is seven.', 'Here: ```json\n{"n": 7}\n```'];
    const model = scriptedModel('m', (n) => ({ text: replies[n]!, leftOut: ['submit_result'] }));
    const { attempt } = memoryRun({
      candidates: [model],
      tools: [submit],
      resultCheck: (args) => submit.check(args),
    });
    expect(await runSteps(attempt)).toMatchObject({ status: 'COMPLETED', result: { n: 7 } });
    expect(model.requests[1]!.messages.at(-1)!.text).toContain('"n":{"type":"integer"}');
    const never = memoryRun({
      candidates: [scriptedModel('m', () => ({ text: '{"n": "x"}', leftOut: ['submit_result'] }))],
      tools: [submit],
      resultCheck: (args) => submit.check(args),
    });
    expect(await runSteps(never.attempt)).toMatchObject({ error: { code: 'result_invalid' } });
  });

  test('is the arguments of submit_result; wrong ones are corrected by the model', async () => {
    const { attempt } = run({
      steps: [
        { tool: 'submit_result', args: { n: 'x' } },
        { tool: 'submit_result', args: { n: 7 } },
      ],
    });
    expect(await runSteps(attempt)).toMatchObject({ status: 'COMPLETED', result: { n: 7 } });
    expect(attempt.messages.filter(({ role }) => role === 'tool')).toMatchObject([{ is_error: true }]);
  });

  test('is asked for once more, then it is an ERROR', async () => {
    const late = run({ steps: [{ text: 'There.' }, { tool: 'submit_result', args: { n: 1 } }] });
    expect(await runSteps(late.attempt)).toMatchObject({ status: 'COMPLETED', result: { n: 1 } });
    const never = run({ steps: [{ text: 'There.' }, { text: 'I said it.' }] });
    expect(await runSteps(never.attempt)).toMatchObject({ error: { code: 'result_invalid' } });
    expect(never.attempt.usage.model_calls).toBe(2);
  });
});

describe('fallback', () => {
  test('passes the same step on at once, and the next step begins with the first again', async () => {
    const first = scriptedModel('first', (n) => {
      if (n === 0) throw unavailable();
      return { text: 'first again' };
    });
    const second = scriptedModel('second', () => ({ toolCalls: [call('c', 'current_time')] }));
    const { attempt } = memoryRun({ candidates: [first, second] });
    expect(await runSteps(attempt)).toMatchObject({ result: 'first again' });
    expect([first.requests.length, second.requests.length]).toEqual([2, 1]);
    expect(second.requests[0]!.messages).toEqual(first.requests[0]!.messages);
    expect(attempt.usage.model_calls).toBe(2);
    expect(attempt.model).toBe('first');
  });

  test('does not follow a refusal, a truncated or a filtered reply', async () => {
    const second = scriptedModel('second', () => ({ text: 'never' }));
    const refusal = new ModelError('model_refused', 'no', { retryable: false });
    const refused = memoryRun({ candidates: [scriptedModel('a', refuses(refusal)), second] });
    await expect(runSteps(refused.attempt)).rejects.toBe(refusal);
    for (const finishReason of ['length', 'content-filter']) {
      const { attempt } = memoryRun({ candidates: [scriptedModel('a', () => ({ finishReason })), second] });
      expect(await runSteps(attempt)).toMatchObject({ status: 'ERROR' });
    }
    expect(second.requests).toEqual([]);
  });

  test('waits the shortest time that all of them ask for', async () => {
    const limited = (ms: number) =>
      new ModelError('model_rate_limited', 'slow', { retryable: true, retryAfterMs: ms });
    const unauthorized = new ModelError('model_unauthorized', 'key', { retryable: false });
    const errors = [unauthorized, limited(60_000), limited(5_000)];
    const { attempt } = memoryRun({ candidates: errors.map((error) => scriptedModel('m', refuses(error))) });
    await expect(runSteps(attempt)).rejects.toMatchObject({
      code: 'model_rate_limited',
      retryable: true,
      retryAfterMs: 5_000,
    });
    const { attempt: other } = memoryRun({ candidates: [scriptedModel('m', refuses(unauthorized))] });
    await expect(runSteps(other)).rejects.toBe(unauthorized);
  });
});

describe('a conversation that is too long', () => {
  const tooLong = new ModelError('context_too_long', 'too long', { retryable: false });
  /** 20 steps, each with a long result. */
  const conversation = (): Message[] => [
    { role: 'user', text: 'Begin' },
    ...Array.from({ length: 20 }, (_, i): Message[] => [
      { role: 'assistant', text: '', tool_calls: [call(`c${i}`, 'read')] },
      { role: 'tool', tool_call_id: `c${i}`, tool_name: 'read', text: 'x'.repeat(400), is_error: false },
    ]).flat(),
  ];
  const lengthOf = (messages: readonly Message[]) => messages.reduce((sum, { text }) => sum + text.length, 0);

  test('is cut after a call that read 75 % of the context, and the cut is stored', async () => {
    const model = scriptedModel('m', (n) => ({
      usage: { input_tokens: 800, output_tokens: 1, cached_input_tokens: 0, reasoning_tokens: 0 },
      ...(n === 0 ? { toolCalls: [call('new', 'current_time')] } : {}),
    }));
    const { attempt, saved } = memoryRun({ candidates: [model], messages: conversation() });
    await runSteps(attempt);
    const [before, after] = model.requests.map(({ messages }) => messages);
    expect(lengthOf(after!)).toBeLessThan(lengthOf(before!) * 0.6);
    // Only old results are replaced; calls and results stay together.
    expect(after!.length).toBe(before!.length + 2);
    expect(after!.slice(-10)).toEqual(attempt.messages.slice(-10));
    expect(after![2]!.text).toContain('This result was removed');
    expect(saved[0]!.context.lastInputTokens).toBe(800);
    expect(attempt.context.resultsBefore).toBeGreaterThan(10);
  });

  test('is cut further while the provider says so, in whole turns; the first user message stays', async () => {
    const model = scriptedModel('m', (_n, { messages }) => {
      if (lengthOf(messages) > 1_000) throw tooLong;
      return { text: 'It fits.' };
    });
    const { attempt } = memoryRun({ candidates: [model], messages: conversation() });
    expect(await runSteps(attempt)).toMatchObject({ result: 'It fits.' });
    const sent = model.requests.at(-1)!.messages;
    expect(sent[0]).toEqual({ role: 'user', text: 'Begin' });
    const calls = sent.flatMap((m) => (m.role === 'assistant' ? m.tool_calls.map(({ id }) => id) : []));
    const results = sent.flatMap((m) => (m.role === 'tool' ? [m.tool_call_id] : []));
    expect(results).toEqual(calls);
    expect(calls.at(-1)).toBe('c19');
  });

  test('that cannot be cut further is an error', async () => {
    const { attempt } = memoryRun({
      candidates: [scriptedModel('m', refuses(tooLong))],
      messages: conversation(),
    });
    await expect(runSteps(attempt)).rejects.toBe(tooLong);
  });
});
