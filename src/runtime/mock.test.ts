import { describe, expect, it } from 'vitest';
import { firstUserMessage, type Message } from './messages.ts';
import { mockModel } from './mock.ts';
import { builtInTools } from './tools.ts';

const ask = (messages: Message[], signal = new AbortController().signal) =>
  mockModel().step({ messages, tools: builtInTools, signal, maxOutputTokens: null, cacheKey: null });

const scripted = (mock: unknown) => [firstUserMessage('Do it', { mock })];

describe('the mock model', () => {
  it('calls one tool, then replies with a summary; the same conversation gives the same reply', async () => {
    const messages: Message[] = [
      { role: 'system', text: 'Be brief.' },
      firstUserMessage('Report', { week: 3 }),
    ];
    const first = await ask(messages);
    expect(first.toolCalls).toEqual([{ id: 'mock_1_1', name: 'current_time', arguments: {} }]);
    messages.push({ role: 'assistant', text: first.text, tool_calls: first.toolCalls });
    messages.push({
      role: 'tool',
      tool_call_id: 'mock_1_1',
      tool_name: 'current_time',
      text: 'noon',
      is_error: false,
    });
    const second = await ask(messages);
    expect(second).toMatchObject({
      text: "This is the mock model's answer to: Report\ncurrent_time: noon",
      toolCalls: [],
      finishReason: 'stop',
    });
    expect(await ask(messages)).toEqual(second);
    expect(second.usage.input_tokens).toBeGreaterThan(first.usage.input_tokens);
  });

  it('follows the steps of its script one by one', async () => {
    const messages: Message[] = scripted({
      steps: [{ tool: 'request_review', args: { reason: 'sure?' } }, { text: 'Done.' }],
    });
    const first = await ask(messages);
    expect(first.toolCalls).toMatchObject([{ name: 'request_review', arguments: { reason: 'sure?' } }]);
    messages.push({ role: 'assistant', text: '', tool_calls: first.toolCalls });
    expect(await ask(messages)).toMatchObject({ text: 'Done.', toolCalls: [] });
  });

  it('sends its text word by word, and has reasoning that is counted and kept', async () => {
    const words: string[] = [];
    const text = 'All is  well.\n';
    const reply = await mockModel().step({
      messages: scripted({ steps: [{ text, reasoning: 'I looked.', delta_ms: 1 }] }),
      tools: [],
      signal: new AbortController().signal,
      maxOutputTokens: null,
      cacheKey: null,
      onDelta: (word) => void words.push(word),
    });
    expect(words).toEqual(['All ', 'is  ', 'well.\n']);
    expect(reply).toMatchObject({
      text,
      usage: { cached_input_tokens: 0, reasoning_tokens: 3, output_tokens: 7 },
      providerParts: { kind: 'mock', model: 'mock', parts: [{ type: 'reasoning', text: 'I looked.' }] },
    });
  });

  it('fails as its script says, and refuses an invalid script', async () => {
    await expect(ask(scripted({ fail: 'out of order' }))).rejects.toMatchObject({
      message: 'out of order',
      retryable: true,
    });
    await expect(ask(scripted({ steps: 7 }))).rejects.toMatchObject({
      code: 'model_refused',
      retryable: false,
    });
  });

  it('stops waiting when it is aborted', async () => {
    const abort = new AbortController();
    const asking = ask(scripted({ delay_ms: 60_000 }), abort.signal);
    abort.abort();
    await expect(asking).rejects.toThrow();
  });
});
