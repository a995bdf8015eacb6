import { afterAll, describe, expect, it } from 'vitest';
import { llmOf } from '../../../tests/harness/providers/fixture.ts';
import { protocols, type Reply, startProvider } from '../../../tests/harness/providers/index.ts';
import { until } from '../../../tests/harness/wait.ts';
import { createEgress } from '../../lib/egress.ts';
import type { Message } from '../messages.ts';
import { ModelError, type StepRequest, type StepResult } from '../step.ts';
import { builtInTools } from '../tools.ts';
import { createModel } from './index.ts';

const egress = createEgress({});
afterAll(() => egress.close());

const hello: Message[] = [
  { role: 'system', text: 'Be brief.' },
  { role: 'user', text: 'What time is it?' },
];
const turn = {
  reasoning: { text: 'The clock will tell.', signature: 'c2lnbmF0dXJlLTEyMw==' },
  text: 'Let me look at the clock.',
  calls: [{ id: 'call_1', name: 'current_time', args: { timezone: 'UTC' } }],
};
const withoutCalls = { text: 'It is noon.' };

const table = Object.entries(protocols).flatMap(([name, protocol]) =>
  (process.env.SMALL_SAMPLES ? [true] : [true, false]).map((streaming) => ({
    name: `${name}, ${streaming ? 'streamed' : 'whole'}`,
    protocol,
    streaming,
  })),
);

describe.each(table)('a model of $name', ({ protocol, streaming }) => {
  /** Chat completions have no signatures. */
  const signs = protocol.signatures !== protocols.openai_compatible!.signatures;
  const ask = (url: string, request: Partial<StepRequest> = {}, more = {}, silenceMs = 60_000) =>
    createModel(llmOf(protocol, url, { streaming, ...more }), { fetch: egress.fetch, silenceMs }).step({
      messages: hello,
      tools: builtInTools,
      signal: new AbortController().signal,
      maxOutputTokens: null,
      cacheKey: 'agent-1',
      ...request,
    });

  const failing = async (reply: Reply, more = {}, silenceMs?: number): Promise<ModelError> => {
    await using provider = await startProvider(protocol, () => reply);
    const error = await ask(provider.url, {}, more, silenceMs).then(
      (result) => result,
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(ModelError);
    return error as ModelError;
  };

  it('asks for JSON without tools of ours, and returns the text as it is, also if it is no JSON', async () => {
    const output = {
      type: 'object',
      properties: { wanted_field: { type: ['string', 'null'] } },
      required: ['wanted_field'],
      additionalProperties: false,
    };
    for (const text of ['{"wanted_field":"x"}', 'It is noon.']) {
      await using provider = await startProvider(protocol, () => ({ text }));
      const reply = await ask(provider.url, { tools: [], output });
      expect([reply.text, reply.toolCalls]).toEqual([text, []]);
      expect(JSON.stringify(provider.requests[0]!.body)).toMatch(/wanted_field|json_object/);
    }
  });

  it('returns text and tool calls, and counts every token', async () => {
    await using provider = await startProvider(protocol, () => turn);
    const deltas: string[] = [];
    const reply = await ask(provider.url, { onDelta: (text) => void deltas.push(text) });
    expect(reply).toMatchObject({
      text: turn.text,
      toolCalls: [{ id: 'call_1', name: 'current_time', arguments: { timezone: 'UTC' } }],
      usage: { input_tokens: 100, cached_input_tokens: 40, output_tokens: 20 },
      finishReason: 'tool-calls',
    });
    // Bedrock does not say how many tokens were for reasoning.
    expect(reply.usage.reasoning_tokens).toBe(protocol.kind === 'bedrock' ? 0 : 8);
    expect(deltas.join('')).toBe(turn.text);
    if (streaming) expect(deltas.length).toBeGreaterThan(1);
    const [request] = provider.requests;
    expect(protocol.isStream(request!)).toBe(streaming);
    expect(protocol.toolNames(request!)).toEqual(['current_time', 'request_review']);
    expect(request!.text).toContain('Be brief.');
    expect(request!.text).toContain('What time is it?');
  });

  it('gets its reasoning back as it was, also after the database; another model does not get it', async () => {
    await using provider = await startProvider(protocol, (_request, n) => (n === 0 ? turn : withoutCalls));
    const { text, toolCalls, providerParts } = await ask(provider.url);
    const stored = JSON.parse(JSON.stringify(providerParts)) as typeof providerParts;
    const continued = (model: string): Message[] => [
      ...hello,
      {
        role: 'assistant',
        text,
        tool_calls: toolCalls,
        ...(stored && { provider_parts: { ...stored, model } }),
      },
      { role: 'tool', tool_call_id: 'call_1', tool_name: 'current_time', text: '12:00', is_error: false },
    ];
    const second = await ask(provider.url, { messages: continued(protocol.model) });
    expect(second).toMatchObject({ text: 'It is noon.', toolCalls: [], finishReason: 'stop' });
    await ask(provider.url, { messages: continued('another') });
    const [, same, other] = provider.requests;
    expect(protocol.signatures(same!)).toEqual(signs ? [turn.reasoning.signature] : []);
    expect(other!.text).not.toContain(turn.reasoning.signature);
    for (const request of [same, other]) {
      expect(request!.text).toContain('12:00');
      expect(request!.text).toContain('Let me look at the clock.');
    }
  });
  it('gives calls distinct ids, also in what is sent back', async () => {
    const calls = ['same', 'same', 'same'].map((id) => ({ id, name: 'current_time', args: {} }));
    await using provider = await startProvider(protocol, (_request, n) =>
      n === 0 ? { ...turn, calls } : withoutCalls,
    );
    const { toolCalls, providerParts, text } = await ask(provider.url);
    const ids = toolCalls.map(({ id }) => id);
    expect(new Set(ids).size).toBe(3);
    const messages: Message[] = [
      ...hello,
      {
        role: 'assistant',
        text,
        tool_calls: toolCalls,
        ...(providerParts && { provider_parts: providerParts }),
      },
      ...ids.map(
        (id): Message => ({
          role: 'tool',
          tool_call_id: id,
          tool_name: 'current_time',
          text: `result of ${id}`,
          is_error: false,
        }),
      ),
    ];
    expect((await ask(provider.url, { messages })).text).toBe('It is noon.');
    for (const id of ids) expect(provider.requests[1]!.text).toContain(`result of ${id}`);
  });

  it('reports arguments that are not JSON as a fault of the call, and can go on', async () => {
    const calls = [{ id: 'call_1', name: 'current_time', args: '{"timezone": ' }];
    await using provider = await startProvider(protocol, (_request, n) =>
      n === 0 ? { ...turn, calls } : withoutCalls,
    );
    const { toolCalls, providerParts, text } = await ask(provider.url);
    // For a provider whose arguments are an object on the wire, text is of the wrong type, which the tool's schema
    // refuses.
    if (toolCalls[0]!.fault !== undefined) {
      expect(toolCalls).toMatchObject([
        { id: 'call_1', arguments: {}, fault: 'the arguments are not valid JSON' },
      ]);
    } else expect(toolCalls).toMatchObject([{ id: 'call_1', arguments: calls[0]!.args }]);
    const messages: Message[] = [
      ...hello,
      {
        role: 'assistant',
        text,
        tool_calls: toolCalls,
        ...(providerParts && { provider_parts: providerParts }),
      },
      { role: 'tool', tool_call_id: 'call_1', tool_name: 'current_time', text: 'not called', is_error: true },
    ];
    expect((await ask(provider.url, { messages })).text).toBe('It is noon.');
  });

  it('says when its reply was cut at the limit of tokens, and when it was withheld', async () => {
    const finished = async (finish: 'length' | 'filter'): Promise<StepResult> => {
      await using provider = await startProvider(protocol, () => ({ text: 'I', finish }));
      return await ask(provider.url);
    };
    expect((await finished('length')).finishReason).toBe('length');
    expect((await finished('filter')).finishReason).toBe('content-filter');
  });

  it('sends no more tokens than the smaller of the two limits', async () => {
    await using provider = await startProvider(protocol, () => withoutCalls);
    await ask(provider.url, { maxOutputTokens: 5_000 }, { max_output_tokens: 3_000 });
    await ask(
      provider.url,
      { maxOutputTokens: 2_000 },
      { max_output_tokens: 3_000, reasoning_effort: 'high' },
    );
    await ask(provider.url, { maxOutputTokens: 100 }, { reasoning_effort: 'low' });
    expect(provider.requests.map((request) => protocol.outputLimit(request))).toEqual([3_000, 2_000, 100]);
  });

  it('is limited with Retry-After, unavailable after a 500, not authorized, and refuses a wrong request', async () => {
    const limited = await failing({ status: 429, headers: { 'retry-after': '7' } });
    expect(limited).toMatchObject({ code: 'model_rate_limited', retryable: true, retryAfterMs: 7_000 });
    for (const status of [500, 503, 529]) {
      expect(await failing({ status })).toMatchObject({ code: 'model_unavailable', retryable: true });
    }
    const later = {
      error: { code: 429, message: 'm', status: 'RESOURCE_EXHAUSTED', details: [{ retryDelay: '37s' }] },
    };
    const delayed = await failing({ status: 429, body: later });
    expect(delayed).toMatchObject({ code: 'model_rate_limited', retryAfterMs: 37_000 });
    const page = await failing({ status: 502, headers: { 'content-type': 'text/html' }, body: '<html>Bad' });
    expect(page).toMatchObject({ code: 'model_unavailable', retryable: true });
    for (const status of [401, 403]) {
      expect(await failing({ status })).toMatchObject({ code: 'model_unauthorized', retryable: false });
    }
    for (const status of [400, 404, 302]) {
      expect(await failing({ status })).toMatchObject({ code: 'model_refused', retryable: false });
    }
  });

  it('shows none of its secrets in a message', async () => {
    const message = `The key ${protocol.secrets.join(' and ')} of team-secret is wrong`;
    const error = await failing({ status: 401, message }, { headers: { 'x-team': 'team-secret' } });
    expect(error.message).toContain('is wrong');
    for (const secret of [...protocol.secrets, 'team-secret']) expect(error.message).not.toContain(secret);
  });

  it('shows no other form of them either', async () => {
    const headers = { 'x-team': 'Bearer team-secret', 'x-base': `Basic ${btoa('user:pass-secret')}` };
    const message = `team-secret ${encodeURIComponent('a/team-secret')} pass-secret is wrong`;
    const error = await failing({ status: 400, message }, { headers });
    expect(error.message).toContain('[redacted] a%2F[redacted] [redacted] is wrong');
  });

  it('says when the conversation is too long for it', async () => {
    expect(await failing({ fail: 'too_long' })).toMatchObject({ code: 'context_too_long', retryable: false });
  });

  it('does not take a page for a reply', async () => {
    expect(await failing({ fail: 'html' })).toMatchObject({ code: 'model_answer_invalid', retryable: true });
  });

  it('cuts off an endless reply', async () => {
    expect(await failing({ fail: 'huge' })).toMatchObject({ code: 'model_answer_invalid', retryable: false });
  });

  it('is unavailable when the connection is cut, or the stream ends or fails before the reply is complete', async () => {
    expect(await failing({ fail: 'cut' })).toMatchObject({ code: 'model_unavailable', retryable: true });
    if (!streaming) return;
    expect(await failing({ fail: 'ended' })).toMatchObject({ code: 'model_unavailable', retryable: true });
    expect(await failing({ fail: 'error' })).toMatchObject({ code: 'model_unavailable', retryable: true });
  });

  it('is unavailable when it sends no token in time, or stops in the middle', async () => {
    const late = await failing({ fail: 'hang' }, { timeout_seconds: 0.1 });
    expect(late).toMatchObject({ code: 'model_unavailable', retryable: true });
    expect(late.message).toContain('timeout_seconds');
    const silent = await failing({ fail: 'silent' }, {}, 200);
    expect(silent).toMatchObject({ code: 'model_unavailable', retryable: true });
    expect(silent.message).toContain('stopped');
  });

  it('is left at once when the call is aborted', async () => {
    for (const fail of ['hang', 'silent'] as const) {
      await using provider = await startProvider(protocol, () => ({ fail }));
      const abort = new AbortController();
      const asking = ask(provider.url, { signal: abort.signal }).catch((error: unknown) => error);
      await until(() => provider.requests.length === 1, 5_000);
      abort.abort(new Error('cancelled'));
      expect(((await asking) as Error).message).toBe('cancelled');
      await until(() => provider.aborted === 1, 2_000);
    }
  });
});
