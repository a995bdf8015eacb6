import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, it, test } from 'vitest';
import { llmOf } from '../../../tests/harness/providers/fixture.ts';
import { protocols, startProvider, type Turn } from '../../../tests/harness/providers/index.ts';
import { createEgress } from '../../lib/egress.ts';
import type { Message } from '../messages.ts';
import type { StepRequest } from '../step.ts';
import { builtInTools } from '../tools.ts';
import { createModel, type ModelDeps } from './index.ts';

const egress = createEgress({});
afterAll(() => egress.close());

const hello: Message[] = [
  { role: 'system', text: 'Be brief.' },
  { role: 'user', text: 'Hello' },
];

/** The request that the provider receives. */
const sent = async (
  name: string,
  more: Record<string, unknown> = {},
  {
    request = {},
    deps = {},
    reply = { text: 'Hi' },
  }: {
    request?: Partial<StepRequest>;
    deps?: Partial<ModelDeps>;
    reply?: Turn;
  } = {},
) => {
  const protocol = protocols[name]!;
  await using provider = await startProvider(protocol, () => reply);
  const model = createModel(llmOf(protocol, provider.url, more), { fetch: egress.fetch, ...deps });
  await model.step({
    messages: hello,
    tools: builtInTools,
    signal: new AbortController().signal,
    maxOutputTokens: null,
    cacheKey: 'agent-1',
    ...request,
  });
  return provider.requests[0]!;
};
const bodyOf = async (...args: Parameters<typeof sent>) => (await sent(...args)).body;

describe('reasoning_effort', () => {
  it('is the option of each provider', async () => {
    const high = { reasoning_effort: 'high' };
    expect((await bodyOf('openai_compatible', high)).reasoning_effort).toBe('high');
    expect((await bodyOf('openai, responses', high)).reasoning).toEqual({ effort: 'high' });
    expect((await bodyOf('openai, chat completions', high)).reasoning_effort).toBe('high');
    // The name of a deployment does not tell that its model reasons.
    expect((await bodyOf('azure, responses', high)).reasoning).toEqual({ effort: 'high' });
    expect((await bodyOf('azure, chat completions by deployment', high)).reasoning_effort).toBe('high');
    expect((await bodyOf('anthropic', high)).thinking).toMatchObject({ type: 'enabled' });
    expect((await bodyOf('google', high)).generationConfig.thinkingConfig).toEqual({ thinkingLevel: 'high' });
    const { additionalModelRequestFields } = await bodyOf('bedrock', high);
    expect(additionalModelRequestFields.thinking).toMatchObject({ type: 'enabled' });
  });

  it('is left out if it is null, and for models that do not reason', async () => {
    for (const name of Object.keys(protocols)) {
      expect((await sent(name)).text).not.toMatch(/effort|thinking/i);
    }
    const plain = await bodyOf(
      'openai, responses',
      { reasoning_effort: 'high' },
      { deps: { name: 'gpt-4o' } },
    );
    expect(plain.reasoning).toBeUndefined();
  });
});

test('temperature is sent, and left out for models that do not take it', async () => {
  const warm = { temperature: 0.5 };
  expect((await bodyOf('openai_compatible', warm)).temperature).toBe(0.5);
  expect((await bodyOf('anthropic', warm)).temperature).toBe(0.5);
  expect((await bodyOf('google', warm)).generationConfig.temperature).toBe(0.5);
  expect((await bodyOf('bedrock', warm)).inferenceConfig.temperature).toBe(0.5);
  expect((await bodyOf('openai, responses', warm)).temperature).toBeUndefined();
  expect((await bodyOf('openai, responses', warm, { deps: { name: 'gpt-4o' } })).temperature).toBe(0.5);
});

describe('prompt caching', () => {
  it('marks the instructions and the last message for Anthropic and Bedrock', async () => {
    const mark = { cache_control: { type: 'ephemeral' } };
    const anthropic = await bodyOf('anthropic');
    expect(anthropic.system).toMatchObject([{ text: 'Be brief.', ...mark }]);
    expect(anthropic.messages.at(-1).content).toMatchObject([{ text: 'Hello', ...mark }]);
    const point = { cachePoint: { type: 'default' } };
    const bedrock = await bodyOf('bedrock');
    expect(bedrock.system).toEqual([{ text: 'Be brief.' }, point]);
    expect(bedrock.messages.at(-1).content).toEqual([{ text: 'Hello' }, point]);
  });

  it('marks the last of several results', async () => {
    const messages: Message[] = [
      ...hello,
      {
        role: 'assistant',
        text: '',
        tool_calls: ['a', 'b'].map((id) => ({ id, name: 'current_time', arguments: {} })),
      },
      ...['a', 'b'].map(
        (id): Message => ({
          role: 'tool',
          tool_call_id: id,
          tool_name: 'current_time',
          text: id,
          is_error: false,
        }),
      ),
    ];
    const { content } = (await bodyOf('anthropic', {}, { request: { messages } })).messages.at(-1);
    expect(content.map((part: { cache_control?: unknown }) => part.cache_control !== undefined)).toEqual([
      false,
      true,
    ]);
  });

  it('gives OpenAI and Azure the key of the agent', async () => {
    for (const name of Object.keys(protocols).filter((key) => /^(openai|azure),/.test(key))) {
      expect((await bodyOf(name)).prompt_cache_key).toBe('agent-1');
    }
  });

  it('is off if the configuration says so, and for models on Bedrock that refuse it', async () => {
    for (const name of Object.keys(protocols)) {
      expect((await sent(name, { prompt_caching: false })).text).not.toMatch(/cache/i);
    }
    const other = await sent('bedrock', {}, { deps: { name: 'meta.llama3-70b-instruct-v1:0' } });
    expect(other.text).not.toContain('cachePoint');
  });
});

test('OpenAI and Azure keep nothing, and send their reasoning encrypted', async () => {
  for (const name of ['openai, responses', 'azure, responses']) {
    expect(await bodyOf(name)).toMatchObject({ store: false, include: ['reasoning.encrypted_content'] });
  }
});

test('organization, project and additional headers are sent, and the model of an agent instead of the own', async () => {
  const more = { organization: 'org-1', project: 'proj-1', headers: { 'X-Team': 'night' } };
  const { headers, body } = await sent('openai, responses', more, { deps: { name: 'gpt-5-mini' } });
  expect(headers).toMatchObject({
    'openai-organization': 'org-1',
    'openai-project': 'proj-1',
    'x-team': 'night',
  });
  expect(body.model).toBe('gpt-5-mini');
});

test('the budget for thinking of Gemini leaves room for the reply', async () => {
  const budget = async (max_output_tokens: number, model: string, effort = 'low') => {
    const more = { reasoning_effort: effort, max_output_tokens };
    const { generationConfig } = await bodyOf('google', more, { deps: { name: model } });
    return generationConfig.thinkingConfig.thinkingBudget;
  };
  expect(await budget(500, 'gemini-2.5-flash')).toBe(100);
  expect(await budget(500, 'gemini-2.5-pro')).toBe(128);
  expect(await budget(100, 'gemini-2.5-pro')).toBeUndefined();
  expect(await budget(500, 'gemini-2.5-flash-lite')).toBe(0);
  expect(await budget(60_000, 'gemini-2.5-flash')).toBe(6_554);
  expect(await budget(500, 'gemini-2.5-flash', 'none')).toBe(0);
});

describe('the address of an Azure endpoint', () => {
  const path = async (more: Record<string, unknown>, base = '') => {
    const paths: string[] = [];
    const llm = llmOf(protocols['azure, responses']!, `http://azure.test/openai${base}`, more);
    const fetch: typeof globalThis.fetch = async (input) => {
      paths.push(String(input));
      return Response.json({}, { status: 404 });
    };
    const request = { messages: hello, tools: [], maxOutputTokens: null, cacheKey: null };
    await createModel(llm, { fetch })
      .step({ ...request, signal: new AbortController().signal })
      .catch(() => {});
    return paths[0]!.slice('http://azure.test'.length);
  };

  it('has the path and the version that the configuration says, on any host', async () => {
    expect(await path({})).toBe('/openai/v1/responses?api-version=v1');
    expect(await path({ api_version: 'preview' })).toBe('/openai/v1/responses?api-version=preview');
    expect(await path({}, '/v1')).toBe('/openai/v1/responses?api-version=v1');
    expect(await path({ api: 'chat_completions' }, '/')).toBe('/openai/v1/chat/completions?api-version=v1');
    const deployment = '/openai/deployments/prod-deployment/chat/completions';
    expect(await path({ deployment_urls: true })).toBe(`${deployment}?api-version=2024-10-21`);
    expect(await path({ deployment_urls: true, api_version: '2025-03-01-preview' })).toBe(
      `${deployment}?api-version=2025-03-01-preview`,
    );
    // Stored before it was refused.
    expect(await path({ deployment_urls: true, api: 'responses', api_version: 'v1' })).toBe(
      `${deployment}?api-version=2024-10-21`,
    );
  });
});

test('the name of a model cannot lead to another address', async () => {
  const calls: unknown[] = [];
  const fetch: typeof globalThis.fetch = async (input) => {
    calls.push(input);
    return new Response();
  };
  const llm = llmOf(protocols.google!, 'http://google.test/v1beta');
  const request = { messages: hello, tools: [], maxOutputTokens: null, cacheKey: null };
  const model = createModel(llm, { fetch, name: 'models/../../files' });
  const asking = model.step({ ...request, signal: new AbortController().signal });
  await expect(asking).rejects.toMatchObject({ code: 'model_refused', retryable: false });
  expect(calls).toEqual([]);
});

test('a streamed reply never has half a character in a piece', async () => {
  const pieces: string[] = [];
  const chunk = (content: string, finish_reason: string | null = null) =>
    `data: ${JSON.stringify({ id: 'c', model: 'm', choices: [{ index: 0, delta: { content }, finish_reason }] })}\n\n`;
  const body = [chunk('a\ud83d'), chunk('\ude00\u0000b'), chunk('c\ud83d'), chunk('', 'stop')].join('');
  const llm = llmOf(protocols.openai_compatible!, 'http://model.test/v1');
  const fetch = async () => new Response(body, { headers: { 'content-type': 'text/event-stream' } });
  const { text } = await createModel(llm, { fetch }).step({
    messages: hello,
    tools: [],
    signal: new AbortController().signal,
    maxOutputTokens: null,
    cacheKey: null,
    onDelta: (piece) => void pieces.push(piece),
  });
  expect(pieces.every((piece) => piece.isWellFormed())).toBe(true);
  expect(pieces.join('')).toBe('a😀bc\ufffd');
  expect(text).toBe('a😀bc\ufffd');
});

describe('an endpoint that does not stream', () => {
  it.each([{ 'content-type': 'application/json' }, { 'content-type': 'text/plain' }])(
    'is understood, and called once (%o)',
    async (headers) => {
      const calls: unknown[] = [];
      const pieces: string[] = [];
      const llm = llmOf(protocols.anthropic!, 'http://model.test/v1');
      const fetch: typeof globalThis.fetch = async (_input, init) => {
        calls.push(init?.body);
        return new Response(`\n${JSON.stringify(protocols.anthropic!.whole({ text: 'All of it.' }))}`, {
          headers,
        });
      };
      const { text } = await createModel(llm, { fetch }).step({
        messages: hello,
        tools: [],
        signal: new AbortController().signal,
        maxOutputTokens: null,
        cacheKey: null,
        onDelta: (piece) => void pieces.push(piece),
      });
      expect([text, pieces, calls.length]).toEqual(['All of it.', ['All of it.'], 1]);
    },
  );
});

describe('files of a user message', () => {
  const image = { file_id: 'f1', name: 'plan.png', media_type: 'image/png' };
  const messages: Message[] = [{ role: 'user', text: 'What is this?', files: [image] }];

  it('are sent as images if they can be loaded, and named otherwise', async () => {
    const loadFile = async () => Buffer.from('an image');
    const shown = await sent('anthropic', {}, { request: { messages }, deps: { loadFile } });
    expect(shown.body.messages[0].content[1]).toMatchObject({
      type: 'image',
      source: { type: 'base64', media_type: 'image/png', data: Buffer.from('an image').toString('base64') },
    });
    const named = await sent('anthropic', {}, { request: { messages } });
    expect(named.text).toContain('[file plan.png, image/png: not passed on]');
  });
});

describe('the environment', () => {
  const trap = 'http://127.0.0.1:9/trap';
  const traps: Record<string, string> = {
    OPENAI_BASE_URL: trap,
    OPENAI_API_KEY: 'sk-trap',
    OPENAI_ORGANIZATION: 'org-trap',
    ANTHROPIC_BASE_URL: trap,
    ANTHROPIC_API_KEY: 'sk-trap',
    ANTHROPIC_AUTH_TOKEN: 'sk-trap',
    AZURE_API_KEY: 'sk-trap',
    AZURE_RESOURCE_NAME: 'trap',
    GOOGLE_GENERATIVE_AI_API_KEY: 'sk-trap',
    GEMINI_API_KEY: 'sk-trap',
    AWS_BEARER_TOKEN_BEDROCK: 'sk-trap',
    AWS_REGION: 'trap-1',
    AWS_ACCESS_KEY_ID: 'AKIATRAP',
    AWS_SECRET_ACCESS_KEY: 'sk-trap',
    AWS_SESSION_TOKEN: 'sk-trap',
    AWS_ENDPOINT_URL: trap,
    AWS_ENDPOINT_URL_BEDROCK_RUNTIME: trap,
    AI_GATEWAY_API_KEY: 'sk-trap',
    HTTP_PROXY: trap,
    HTTPS_PROXY: trap,
  };
  const before = Object.fromEntries(Object.keys(traps).map((name) => [name, process.env[name]]));
  beforeAll(() => void Object.assign(process.env, traps));
  afterAll(() => {
    for (const [name, value] of Object.entries(before)) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  });

  it.each(Object.keys(protocols))('does not matter to a model of %s', async (name) => {
    // The provider checks address, key and signature.
    const { text, headers } = await sent(name);
    expect(`${text} ${JSON.stringify(headers)}`).not.toMatch(/trap/i);
  });

  it('does not matter when the platform starts', async () => {
    // Some libraries read an address when they are loaded, and refuse an empty one.
    const empty = { OPENAI_BASE_URL: ' ', ANTHROPIC_BASE_URL: '', AWS_ENDPOINT_URL: ' ' };
    const load = `await import(${JSON.stringify(import.meta.resolve('./index.ts'))})`;
    const run = promisify(execFile);
    await run(process.execPath, ['--input-type=module', '-e', load], { env: { ...process.env, ...empty } });
  });

  it('does not matter when the addresses are the defaults', async () => {
    const addresses: string[] = [];
    const fetch: typeof globalThis.fetch = async (input) => {
      addresses.push(String(input));
      return Response.json({}, { status: 404 });
    };
    const request = { messages: hello, tools: [], maxOutputTokens: null, cacheKey: null };
    for (const name of ['openai, responses', 'anthropic', 'google', 'bedrock']) {
      const llm = llmOf(protocols[name]!, 'ignored', { base_url: undefined, session_token: undefined });
      const signal = new AbortController().signal;
      await createModel(llm, { fetch })
        .step({ ...request, signal })
        .catch(() => {});
    }
    expect(addresses.map((address) => new URL(address).host)).toEqual([
      'api.openai.com',
      'api.anthropic.com',
      'generativelanguage.googleapis.com',
      'bedrock-runtime.eu-central-1.amazonaws.com',
    ]);
  });
});

describe('console', () => {
  const written: unknown[] = [];
  const { error, warn, info } = console;
  beforeAll(() => {
    for (const level of ['error', 'warn', 'info'] as const)
      console[level] = (...args) => void written.push(args);
  });
  afterEach(() => Object.assign(console, { error, warn, info }));

  it('gets nothing from the libraries, also when a stream fails', async () => {
    await using provider = await startProvider(protocols.anthropic!, () => ({ fail: 'error' }));
    const llm = llmOf(protocols.anthropic!, provider.url, { temperature: 2, reasoning_effort: 'low' });
    const request = { messages: hello, tools: [], maxOutputTokens: null, cacheKey: null };
    const signal = new AbortController().signal;
    await createModel(llm, { fetch: egress.fetch })
      .step({ ...request, signal })
      .catch(() => {});
    expect(written).toEqual([]);
  });
});
