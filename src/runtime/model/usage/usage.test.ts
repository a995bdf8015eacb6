import { afterAll, describe, expect, it } from 'vitest';
import { llmOf } from '../../../../tests/harness/providers/fixture.ts';
import { protocols, startProvider } from '../../../../tests/harness/providers/index.ts';
import { createEgress } from '../../../lib/egress.ts';
import { noTokens, type Tokens } from '../../../lib/tokens.ts';
import { amountOf } from '../../../prices/index.ts';
import { firstUserMessage } from '../../messages.ts';
import { mockModel } from '../../mock.ts';
import { ModelError, type StepRequest } from '../../step.ts';
import { createModel } from '../index.ts';
import { reportedTokens } from './index.ts';

const egress = createEgress({});
afterAll(() => egress.close());

/** In nano-USD a token: 1,000, 10,000, 100, 1,250, 2,000; 5,000, 20,000, 6,000. */
const price = {
  rates: {
    input: '1',
    input_audio: '10',
    cache_read: '0.1',
    cache_write: '1.25',
    cache_write_1h: '2',
    output: '5',
    output_audio: '20',
    reasoning: '6',
  },
  above: null,
};

interface Case {
  usage: Record<string, unknown>;
  tokens: Partial<Tokens>;
  /** Computed by hand. */
  amount: number;
}

const chat: Case = {
  usage: {
    prompt_tokens: 1_000,
    completion_tokens: 200,
    total_tokens: 1_200,
    prompt_tokens_details: { cached_tokens: 400, cache_write_tokens: 100, audio_tokens: 50 },
    completion_tokens_details: {
      reasoning_tokens: 80,
      audio_tokens: 20,
      accepted_prediction_tokens: 7,
      rejected_prediction_tokens: 3,
    },
  },
  tokens: {
    input: 450,
    input_audio: 50,
    cache_read: 400,
    cache_write: 100,
    output: 100,
    output_audio: 20,
    reasoning: 80,
  },
  // 450,000 + 500,000 + 40,000 + 125,000 + 500,000 + 400,000 + 480,000
  amount: 2_495_000,
};
const responses: Case = {
  usage: {
    input_tokens: 1_000,
    input_tokens_details: { cached_tokens: 400, cache_write_tokens: 100, audio_tokens: 50 },
    output_tokens: 200,
    output_tokens_details: { reasoning_tokens: 80, audio_tokens: 20 },
    total_tokens: 1_200,
  },
  tokens: chat.tokens,
  amount: chat.amount,
};

/** A usage object of each protocol with all that it can have, as the endpoint sends it. */
const cases: Record<string, Case> = {
  openai_compatible: chat,
  'openai, chat completions': chat,
  'azure, chat completions by deployment': chat,
  'openai, responses': responses,
  'azure, responses': responses,
  anthropic: {
    usage: {
      input_tokens: 500,
      cache_creation_input_tokens: 300,
      cache_read_input_tokens: 400,
      cache_creation: { ephemeral_5m_input_tokens: 100, ephemeral_1h_input_tokens: 200 },
      output_tokens: 100,
      output_tokens_details: { thinking_tokens: 30 },
      server_tool_use: null,
      service_tier: 'standard',
    },
    tokens: { input: 500, cache_read: 400, cache_write: 100, cache_write_1h: 200, output: 70, reasoning: 30 },
    // 500,000 + 40,000 + 125,000 + 400,000 + 350,000 + 180,000
    amount: 1_595_000,
  },
  google: {
    usage: {
      promptTokenCount: 1_000,
      cachedContentTokenCount: 300,
      toolUsePromptTokenCount: 60,
      candidatesTokenCount: 150,
      thoughtsTokenCount: 90,
      totalTokenCount: 1_300,
      promptTokensDetails: [
        { modality: 'TEXT', tokenCount: 600 },
        { modality: 'AUDIO', tokenCount: 400 },
      ],
      cacheTokensDetails: [
        { modality: 'TEXT', tokenCount: 200 },
        { modality: 'AUDIO', tokenCount: 100 },
      ],
      toolUsePromptTokensDetails: [
        { modality: 'TEXT', tokenCount: 50 },
        { modality: 'AUDIO', tokenCount: 10 },
      ],
      candidatesTokensDetails: [
        { modality: 'TEXT', tokenCount: 140 },
        { modality: 'AUDIO', tokenCount: 10 },
      ],
    },
    // Audio of the prompt: 400 - 100 that were cached + 10 of tools.
    tokens: { input: 450, input_audio: 310, cache_read: 300, output: 140, output_audio: 10, reasoning: 90 },
    // 450,000 + 3,100,000 + 30,000 + 700,000 + 200,000 + 540,000
    amount: 5_020_000,
  },
  bedrock: {
    usage: {
      inputTokens: 500,
      outputTokens: 100,
      totalTokens: 1_300,
      cacheReadInputTokens: 400,
      cacheWriteInputTokens: 300,
      cacheDetails: [
        { inputTokens: 200, ttl: '1h' },
        { inputTokens: 100, ttl: '5m' },
      ],
    },
    tokens: { input: 500, cache_read: 400, cache_write: 100, cache_write_1h: 200, output: 100 },
    // 500,000 + 40,000 + 125,000 + 400,000 + 500,000
    amount: 1_565_000,
  },
};

const request: StepRequest = {
  messages: [{ role: 'user', text: 'Hello.' }],
  tools: [],
  signal: new AbortController().signal,
  maxOutputTokens: null,
  cacheKey: null,
};

describe.each(Object.entries(protocols))('the usage of %s', (name, protocol) => {
  const reply = async (sentUsage: Record<string, unknown> | null, streaming: boolean) => {
    await using provider = await startProvider(protocol, () => ({ text: 'Hello you.', sentUsage }));
    const llm = llmOf(protocol, provider.url, { streaming });
    return await createModel(llm, { fetch: egress.fetch }).step(request);
  };

  it.each([true, false])('is read from the wire whole (streamed: %s)', async (streaming) => {
    const { usage: sent, tokens, amount } = cases[name]!;
    const { tokens: reported, usage } = await reply(sent, streaming);
    expect(reported).toEqual({ tokens: { ...noTokens, ...tokens }, unreconciled: false });
    expect(amountOf(reported!.tokens, price)).toBe(amount);
    const sum = (...names: (keyof Tokens)[]) => names.reduce((all, one) => all + (tokens[one] ?? 0), 0);
    expect(usage).toEqual({
      input_tokens: sum('input', 'input_audio', 'cache_read', 'cache_write', 'cache_write_1h'),
      output_tokens: sum('output', 'output_audio', 'reasoning'),
      cached_input_tokens: sum('cache_read'),
      reasoning_tokens: sum('reasoning'),
    });
  });

  it('is charged also if the rest of the reply cannot be read, and not if the reply broke off', async () => {
    const charged: unknown[] = [];
    const account = {
      outputLimit: async () => null,
      begin: async () => ({ end: async (end: unknown) => void charged.push(end), void: () => {} }),
    };
    const { usage, tokens } = cases[name]!;
    const key = protocol.kind === 'google' ? 'usageMetadata' : 'usage';
    const sent = protocol.whole({ text: 'Hello you.', sentUsage: usage }) as Record<string, unknown>;
    const broken = Object.fromEntries(Object.keys(sent).map((field) => [field, 1]));
    const body = { ...broken, model: 'm-1', [key]: usage };
    for (const reply of [{ status: 200, body }, { fail: 'cut' } as const]) {
      await using provider = await startProvider(protocol, () => reply);
      const llm = llmOf(protocol, provider.url, { streaming: 'fail' in reply });
      const asked = createModel(llm, { fetch: egress.fetch, account }).step(request);
      await expect(asked).rejects.toBeInstanceOf(ModelError);
    }
    expect(charged).toEqual([
      { reported: { tokens: { ...noTokens, ...tokens }, unreconciled: false }, model: 'm-1' },
      { reported: null, model: null },
    ]);
  });

  // The others always send one: a reply without it is no reply of theirs.
  if (['anthropic', 'bedrock'].includes(protocol.kind)) return;
  it.each([true, false])('is null if there is none (streamed: %s)', async (streaming) => {
    const { tokens, usage, text } = await reply(null, streaming);
    expect([text, tokens, usage.input_tokens]).toEqual(['Hello you.', null, 0]);
  });
});

describe('a report', () => {
  const read = (kind: Parameters<typeof reportedTokens>[0], usage: Record<string, unknown>) => {
    const { tokens, unreconciled } = reportedTokens(kind, usage)!;
    const counted = Object.fromEntries(Object.entries(tokens).filter(([, count]) => count !== 0));
    return unreconciled ? { ...counted, unreconciled } : counted;
  };

  it('of a compatible server has what a cache read under other names too', () => {
    const usage = { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 };
    const found = { input: 70, cache_read: 30, output: 10 };
    const hits = { ...usage, prompt_cache_hit_tokens: 30, prompt_cache_miss_tokens: 70 };
    expect(read('openai_compatible', hits)).toEqual(found);
    expect(read('openai_compatible', { ...usage, cached_tokens: 30 })).toEqual(found);
    const details = { prompt_tokens_details: { cached_tokens: 20 }, prompt_cache_hit_tokens: 30 };
    expect(read('openai_compatible', { ...usage, ...details })).toEqual({
      ...found,
      input: 80,
      cache_read: 20,
    });
    expect(read('openai', hits)).toEqual({ input: 100, output: 10 });
  });

  it('of a compatible server has reasoning next to the completion only if the total says so', () => {
    const usage = { prompt_tokens: 100, completion_tokens: 10 };
    const details = { completion_tokens_details: { reasoning_tokens: 8 } };
    const outside = { ...usage, ...details, total_tokens: 118 };
    expect(read('openai_compatible', outside)).toEqual({ input: 100, output: 10, reasoning: 8 });
    expect(read('openai_compatible', { ...outside, total_tokens: 110 })).toEqual({
      input: 100,
      output: 2,
      reasoning: 8,
    });
    expect(read('openai_compatible', { ...usage, ...details })).toEqual({
      input: 100,
      output: 2,
      reasoning: 8,
    });
    expect(read('openai', outside)).toEqual({ input: 100, output: 2, reasoning: 8, unreconciled: true });
  });

  it('is priced also if it contradicts itself', () => {
    const usage = { prompt_tokens: 100, completion_tokens: 10, total_tokens: 111 };
    expect(read('openai', usage)).toEqual({ input: 100, output: 10, unreconciled: true });
    const parts = { prompt_tokens_details: { cached_tokens: 60, cache_write_tokens: 50, audio_tokens: 5 } };
    expect(read('openai', { ...usage, ...parts, total_tokens: 110 })).toEqual({
      cache_read: 60,
      cache_write: 40,
      output: 10,
      unreconciled: true,
    });
    for (const odd of [-1, 1.5, '100', Number.NaN, 2 ** 60, {}]) {
      expect(read('openai', { prompt_tokens: odd, completion_tokens: 10 })).toEqual({
        output: 10,
        unreconciled: true,
      });
    }
    expect(reportedTokens('openai', {})).toBeNull();
    expect(reportedTokens('openai', { prompt_tokens: null, total_tokens: 5 })).toBeNull();
  });

  it('of Anthropic has the split of cache writes, which counts', () => {
    const usage = { input_tokens: 10, cache_creation_input_tokens: 30, output_tokens: 5 };
    expect(read('anthropic', usage)).toEqual({ input: 10, cache_write: 30, output: 5 });
    const split = { cache_creation: { ephemeral_5m_input_tokens: 10, ephemeral_1h_input_tokens: 10 } };
    expect(read('anthropic', { ...usage, ...split })).toEqual({
      input: 10,
      cache_write: 10,
      cache_write_1h: 10,
      output: 5,
      unreconciled: true,
    });
    const hour = { cache_creation: { ephemeral_1h_input_tokens: 30 } };
    expect(read('anthropic', { ...usage, ...hour })).toEqual({ input: 10, cache_write_1h: 30, output: 5 });
  });

  it('of Bedrock may have a total without the cache', () => {
    const usage = { inputTokens: 10, outputTokens: 5, cacheReadInputTokens: 40, cacheWriteInputTokens: 20 };
    const found = { input: 10, cache_read: 40, cache_write: 20, output: 5 };
    expect(read('bedrock', { ...usage, totalTokens: 15 })).toEqual(found);
    expect(read('bedrock', { ...usage, totalTokens: 75 })).toEqual(found);
    expect(read('bedrock', { ...usage, totalTokens: 55 })).toEqual({ ...found, unreconciled: true });
    expect(read('bedrock', { ...usage, cacheDetails: [{ ttl: '1h', inputTokens: 15 }] })).toEqual({
      input: 10,
      cache_read: 40,
      cache_write_1h: 15,
      output: 5,
      unreconciled: true,
    });
  });

  it('of Gemini has no more cached audio than audio', () => {
    const usage = {
      promptTokenCount: 100,
      cachedContentTokenCount: 90,
      promptTokensDetails: [{ modality: 'AUDIO', tokenCount: 20 }],
      cacheTokensDetails: [{ modality: 'AUDIO', tokenCount: 30 }],
      candidatesTokenCount: 5,
    };
    expect(read('google', usage)).toEqual({ input: 10, cache_read: 90, output: 5, unreconciled: true });
  });

  it('of the mock is what its script says', async () => {
    const ask = (usage: unknown) =>
      mockModel().step({
        ...request,
        messages: [firstUserMessage('Hello.', { mock: { steps: [{ text: 'Hi.', usage }] } })],
      });
    const { tokens, usage } = await ask({ input: 5, cache_write_1h: 3, reasoning: 2, total: 10 });
    expect(tokens).toEqual({
      tokens: { ...noTokens, input: 5, cache_write_1h: 3, reasoning: 2 },
      unreconciled: false,
    });
    expect(usage).toMatchObject({ input_tokens: 8, output_tokens: 2 });
    expect((await ask({ input: 5, total: 10 })).tokens!.unreconciled).toBe(true);
    expect((await ask({ input: -5 })).tokens).toEqual({ tokens: noTokens, unreconciled: true });
    expect((await ask(null)).tokens).toBeNull();
    expect((await ask(undefined)).tokens).toMatchObject({ unreconciled: false, tokens: { output: 1 } });
    await expect(ask({ inputs: 5 })).rejects.toThrow(ModelError);
  });
});
