import { afterAll, describe, expect, it } from 'vitest';
import { completion, type Reply, startEndpoint, wireCall } from '../../../tests/harness/llm-endpoint.ts';
import { until } from '../../../tests/harness/wait.ts';
import { Secret } from '../../lib/crypto.ts';
import { createEgress } from '../../lib/egress.ts';
import { noTokens } from '../../lib/tokens.ts';
import type { ResolvedLlm } from '../../llm-configurations/index.ts';
import type { Message } from '../messages.ts';
import { ModelError } from '../step.ts';
import { builtInTools } from '../tools.ts';
import { createModel } from './index.ts';

const egress = createEgress({});
afterAll(() => egress.close());

const apiKey = 'sk-very-secret-0123456789';
const llmAt = (url: string): ResolvedLlm => ({
  id: '01980000-0000-7000-8000-0000000000ff',
  kind: 'openai_compatible',
  model: 'model-1',
  base_url: url,
  max_output_tokens: null,
  temperature: null,
  reasoning_effort: null,
  context_tokens: 128_000,
  timeout_seconds: 120,
  streaming: true,
  prompt_caching: true,
  price_as: null,
  apiKey: new Secret(apiKey),
  headers: { 'x-team': new Secret('team-secret') },
});

const hello: Message[] = [
  { role: 'system', text: 'Be brief.' },
  { role: 'user', text: 'Hello' },
];
const never = new AbortController().signal;
const ask = (url: string, messages = hello, signal = never) =>
  createModel(llmAt(url), { fetch: egress.fetch }).step({
    messages,
    tools: builtInTools,
    signal,
    maxOutputTokens: null,
    cacheKey: null,
  });

const failing = async (reply: Reply): Promise<ModelError> => {
  await using endpoint = await startEndpoint(() => reply);
  const error = await ask(endpoint.url).then(
    () => null,
    (thrown) => thrown,
  );
  expect(error).toBeInstanceOf(ModelError);
  expect(error.message).not.toContain('secret');
  return error;
};

describe('a model behind an OpenAI-compatible endpoint', () => {
  it.each([
    [12.4, 0],
    [-3, 0],
    [1e300, 0],
  ])('a count of %d tokens is reported as %d, a whole number', async (said, counted) => {
    const usage = { prompt_tokens: said, completion_tokens: 7, total_tokens: 7 };
    await using endpoint = await startEndpoint(() => ({ body: { ...completion({ content: 'Hi' }), usage } }));
    expect((await ask(endpoint.url)).usage).toMatchObject({ input_tokens: counted, output_tokens: 7 });
  });

  it('sends instructions, conversation, tools, key and headers in the wire format, and reads the reply', async () => {
    await using endpoint = await startEndpoint(() => ({ body: completion({ content: 'Hi there' }) }));
    const result = await ask(endpoint.url);
    expect(result).toEqual({
      text: 'Hi there',
      toolCalls: [],
      usage: { input_tokens: 21, output_tokens: 7, cached_input_tokens: 0, reasoning_tokens: 0 },
      tokens: { tokens: { ...noTokens, input: 21, output: 7 }, unreconciled: false },
      finishReason: 'stop',
      responseModel: 'model-1-2026-01-01',
      responseId: 'chatcmpl-1',
      providerParts: null,
    });
    const [asked] = endpoint.requests;
    expect(asked!.path).toBe('/v1/chat/completions');
    expect(asked!.headers).toMatchObject({ authorization: `Bearer ${apiKey}`, 'x-team': 'team-secret' });
    expect(asked!.body).toMatchObject({
      model: 'model-1',
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Hello' },
      ],
    });
    expect(asked!.body.tools.map((t: { function: { name: string } }) => t.function.name)).toEqual([
      'current_time',
      'request_review',
    ]);
  });

  it('returns tool calls without making them, and sends their results with the next step', async () => {
    await using endpoint = await startEndpoint((_asked, n) =>
      n === 0
        ? {
            body: completion(
              {
                tool_calls: [
                  wireCall('c1', 'current_time', { timezone: 'UTC' }),
                  wireCall('c2', 'absent', {}),
                ],
              },
              'tool_calls',
            ),
          }
        : { body: completion({ content: 'Done' }) },
    );
    const first = await ask(endpoint.url);
    expect(first.finishReason).toBe('tool-calls');
    expect(first.toolCalls).toEqual([
      { id: 'c1', name: 'current_time', arguments: { timezone: 'UTC' } },
      { id: 'c2', name: 'absent', arguments: {} },
    ]);
    await ask(endpoint.url, [
      ...hello,
      { role: 'assistant', text: '', tool_calls: first.toolCalls },
      { role: 'tool', tool_call_id: 'c1', tool_name: 'current_time', text: '12:00', is_error: false },
      { role: 'tool', tool_call_id: 'c2', tool_name: 'absent', text: 'no such tool', is_error: true },
    ]);
    expect(endpoint.requests[1]!.body.messages.slice(2)).toMatchObject([
      { role: 'assistant', tool_calls: [{ id: 'c1', type: 'function' }, { id: 'c2' }] },
      { role: 'tool', tool_call_id: 'c1', content: '12:00' },
      { role: 'tool', tool_call_id: 'c2', content: 'no such tool' },
    ]);
  });

  it('reports arguments that are not JSON as a fault of the call, and removes what the database cannot hold', async () => {
    await using endpoint = await startEndpoint(() => ({
      body: completion(
        {
          content: 'a\u0000b\ud800',
          tool_calls: [
            wireCall('c1', 'current_time', '{"timezone": '),
            wireCall('c2', 'current_time', { timezone: 'x\u0000' }),
          ],
        },
        'tool_calls',
      ),
    }));
    const { text, toolCalls } = await ask(endpoint.url);
    expect(text).toBe('ab\ufffd');
    expect(toolCalls[0]).toMatchObject({ arguments: {}, fault: 'the arguments are not valid JSON' });
    expect(toolCalls[1]).toMatchObject({ arguments: { timezone: 'x' } });
  });

  it('gives distinct ids to calls to which the endpoint gave the same id', async () => {
    const calls = ['', '', 'c', 'c'].map((id) => wireCall(id, 'current_time', {}));
    await using endpoint = await startEndpoint(() => ({
      body: completion({ tool_calls: calls }, 'tool_calls'),
    }));
    const ids = (await ask(endpoint.url)).toolCalls.map((call) => call.id);
    expect(new Set(ids).size).toBe(4);
    expect(ids).not.toContain('');
  });

  it('is not retried with a refused key, and shows neither key nor header', async () => {
    const message = `Incorrect API key provided: ${apiKey}, or sk-ve******6789 of team-secret`;
    const error = await failing({ status: 401, body: { error: { message } } });
    expect(error).toMatchObject({ code: 'model_unauthorized', retryable: false });
    expect(error.message).toContain('401: Incorrect API key provided');
    expect(error.message).not.toContain('6789');
  });

  it('shows neither in the name of the model that replied, which is not longer than others', async () => {
    await using endpoint = await startEndpoint(() => ({
      body: { ...completion({ content: 'hi' }), model: `${apiKey} ${'x'.repeat(10_000)}` },
    }));
    const { responseModel } = await ask(endpoint.url);
    expect(responseModel).toMatch(/^\[redacted\] x+$/);
    expect(responseModel).toHaveLength(500);
  });

  it('is retried after 429 when the endpoint says so, and after 500 and nonsense', async () => {
    const limited = await failing({
      status: 429,
      headers: { 'retry-after': '7' },
      body: { error: { message: 'slow down' } },
    });
    expect(limited).toMatchObject({ code: 'model_rate_limited', retryable: true, retryAfterMs: 7_000 });
    const broken = await failing({ status: 500, body: 'oops' });
    expect(broken).toMatchObject({ code: 'model_unavailable', retryable: true, retryAfterMs: null });
    const nonsense = await failing({ body: '<html>' });
    expect(nonsense).toMatchObject({ code: 'model_answer_invalid', retryable: true });
  });

  it.each([
    [{ error: { message: 'a quota' } }, 'model_answer_invalid', 'a quota'],
    [{ detail: 'a reason' }, 'model_answer_invalid', 'a reason'],
    [{ errors: [{ message: 'in a list' }] }, 'model_answer_invalid', 'in a list'],
    [
      {
        choices: [
          {
            index: 0,
            message: { role: 'assistant', content: '' },
            finish_reason: 'error',
            error: { message: 'upstream', code: 502 },
          },
        ],
      },
      'model_unavailable',
      '502: upstream',
    ],
  ])('keeps the text of an error in a response of status 200: %j', async (body, code, text) => {
    expect(await failing({ body })).toMatchObject({ code, message: expect.stringContaining(text) });
  });

  const chunkWith = (delta: object, more: object = {}) => ({
    ...completion({}),
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta, ...more }],
  });
  const streamOf = (...chunks: object[]): Reply => ({
    headers: { 'content-type': 'text/event-stream' },
    body: `${chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('')}data: [DONE]\n\n`,
  });

  it('keeps the text of an error in a stream, and what had arrived is no reply', async () => {
    const error = { message: 'it is full' };
    expect(await failing(streamOf({ error }))).toMatchObject({
      code: 'model_unavailable',
      message: 'The model endpoint returned an error: it is full',
    });
    const begun = chunkWith({ content: 'The "error": {' });
    expect(await failing(streamOf(begun, { error }))).toMatchObject({
      code: 'model_unavailable',
      message: expect.stringContaining('it is full'),
    });
    const ended = chunkWith({ content: '' }, { finish_reason: 'error' });
    const coded = { ...ended, error: { message: 'it is gone', code: 502 } };
    expect(await failing(streamOf(begun, coded))).toMatchObject({ code: 'model_unavailable' });
    expect(await failing(streamOf(begun, ended))).toMatchObject({ code: 'model_unavailable' });
  });

  it.each([[{}], [[]], [null], [undefined]])('reads %j as no arguments of a call', async (none) => {
    const call = { id: 'c', type: 'function', function: { name: 'current_time', arguments: none } };
    await using endpoint = await startEndpoint(() => ({
      body: completion({ tool_calls: [call] }, 'tool_calls'),
    }));
    expect((await ask(endpoint.url)).toolCalls).toEqual([{ id: 'c', name: 'current_time', arguments: {} }]);
  });

  it('does not follow a redirect and is not retried with an invalid request', async () => {
    expect(
      await failing({ status: 302, headers: { location: 'http://127.0.0.1:1/' }, body: '' }),
    ).toMatchObject({ code: 'model_refused', retryable: false });
    expect(await failing({ status: 404, body: { error: { message: 'no such model' } } })).toMatchObject({
      code: 'model_refused',
      retryable: false,
      message: expect.stringContaining('no such model'),
    });
  });

  it('cuts off an endless reply', async () => {
    const error = await failing({ body: `"${'x'.repeat(17 * 1024 * 1024)}"` });
    expect(error).toMatchObject({ code: 'model_answer_invalid', retryable: false });
  });

  it('says that no one listens, and that an address is not permitted', async () => {
    const away = await ask('http://127.0.0.1:1/v1').catch((error) => error);
    expect(away).toMatchObject({ code: 'model_unavailable', retryable: true });
    const denied = await ask('http://169.254.169.254/v1').catch((error) => error);
    expect(denied).toMatchObject({ code: 'model_unavailable', retryable: false });
    expect(denied.message).toContain('EGRESS_DENY');
  });

  it('closes the connection at once when the call is aborted', async () => {
    await using endpoint = await startEndpoint(() => 'hang');
    const abort = new AbortController();
    const asking = ask(endpoint.url, hello, abort.signal).catch((error) => error);
    await endpoint.waitForRequests(1);
    abort.abort(new Error('cancelled'));
    expect((await asking).message).toBe('cancelled');
    await until(() => endpoint.aborted, 2_000);
  });
});
