import { afterAll, describe, expect, test } from 'vitest';
import { noAccounts } from '../../tests/harness/accounts.ts';
import { completion, type Reply, startEndpoint, wireCall } from '../../tests/harness/llm-endpoint.ts';
import { llmOf } from '../../tests/harness/providers/fixture.ts';
import {
  type ProviderRequest,
  protocols,
  servers,
  startProvider,
} from '../../tests/harness/providers/index.ts';
import { BudgetExceeded } from '../budgets/index.ts';
import { createEgress } from '../lib/egress.ts';
import { notFound } from '../lib/errors.ts';
import { createAsk } from '../llm-configurations/asking.ts';
import { LlmFailure, type ObjectRequest } from '../llm-configurations/index.ts';
import { createOpen } from './ask.ts';

/** No budget sends a call elsewhere. */
const neverResolved = () => Promise.reject(new Error('no other model is asked'));

const egress = createEgress({});
afterAll(() => egress.close());

const llmAt = (url: string) => llmOf(protocols.openai_compatible!, url, { streaming: false });

const schema = {
  type: 'object',
  properties: { wanted_field: { type: 'string' } },
  required: ['wanted_field'],
  additionalProperties: false,
};
const messages = [{ role: 'user', text: 'What is it?' }] as const;

const ask = async (replies: readonly Reply[], request: Partial<ObjectRequest> = {}) => {
  await using endpoint = await startEndpoint((_request, n) => replies[n] ?? 'hang');
  const model = createOpen({ egress, accounts: noAccounts, resolveLlm: neverResolved }, { waitMs: 1 })(
    llmAt(endpoint.url),
    null,
  );
  const reply = await model
    .askForObject({ purpose: 'question', messages, schema, as: 'reply', ...request })
    .catch((error: unknown) => error);
  return { reply, requests: endpoint.requests.map(({ body }) => body) };
};

const refusesFormats = ({ body }: ProviderRequest) =>
  body.response_format ? { status: 422, body: { detail: 'response_format is not supported' } } : null;

const says = (content: string): Reply => ({ body: completion({ content }) });
const limited: Reply = { status: 429, body: {} };

describe('a model that is asked for an object', () => {
  test('by its reply gets no tools, and may wrap the object in text', async () => {
    const { reply, requests } = await ask([says('```json\n{"wanted_field":"x"}\n```')]);
    expect(reply).toMatchObject({ output: { wanted_field: 'x' }, usage: { input_tokens: 21 } });
    expect(requests).toMatchObject([{ response_format: { type: 'json_object' } }]);
    expect(requests[0]).not.toHaveProperty('tools');
  });

  test('by a tool returns its arguments, or the object in its text', async () => {
    const called = { body: completion({ tool_calls: [wireCall('c', 'answer', { a: 1 })] }, 'tool_calls') };
    const { reply, requests } = await ask([called], { as: 'tool' });
    expect(reply).toMatchObject({ output: { a: 1 } });
    expect(requests).toMatchObject([{ tools: [{ function: { name: 'answer', parameters: schema } }] }]);
    expect((await ask([says('It is {"a":2}')], { as: 'tool' })).reply).toMatchObject({ output: { a: 2 } });
  });

  test.each(['It is noon.', '[1]', '{"a":', `${'{"a":'.repeat(60)}1${'}'.repeat(60)}`])(
    'gave no object if it replies %s',
    async (text) => {
      expect((await ask([says(text)])).reply).toMatchObject({ output: undefined, text });
    },
  );

  test('is asked once, or again if that is wanted and may help', async () => {
    const once = await ask([limited, says('{}')]);
    expect(once.reply).toBeInstanceOf(LlmFailure);
    expect(once.reply).toMatchObject({ reason: 'model_rate_limited', status: 503 });
    const again = await ask([limited, limited, says('{}')], { mostCalls: 3 });
    expect([again.reply, again.requests.length]).toMatchObject([{ output: {} }, 3]);
    const refused = await ask([{ status: 400, body: {} }, says('{}')], { mostCalls: 3 });
    expect([refused.reply, refused.requests.length]).toMatchObject([{ reason: 'model_refused' }, 1]);
  });

  test.each([
    ['in a schema', servers.lm_studio, 'json_schema'],
    ['in words alone', refusesFormats, undefined],
  ])(
    'is asked for JSON %s if the server takes it in no other way, and next time at once',
    async (_how, refuses, type) => {
      const protocol = { ...protocols.openai_compatible!, refuses };
      await using provider = await startProvider(protocol, () => ({ text: '{"wanted_field": "x"}' }));
      const open = createOpen({ egress, accounts: noAccounts, resolveLlm: neverResolved });
      const llm = llmOf(protocol, provider.url);
      const request = { purpose: 'question' as const, messages, schema, as: 'reply' as const };
      expect(await open(llm, null).askForObject(request)).toMatchObject({ output: { wanted_field: 'x' } });
      const tries = provider.requests.length;
      expect(provider.requests.at(-1)!.body.response_format?.type).toBe(type);
      await open(llm, null).askForObject(request);
      expect(provider.requests.length).toBe(tries + 1);
    },
  );

  test('is not asked if a budget has no room: the question is a 412 at once', async () => {
    await using endpoint = await startEndpoint(() => says('{}'));
    const exceeded = {
      budget: { id: 'b-1', name: 'Questions', action: 'ask', unit: 'nano_usd' },
      ...{ periodId: 'p', subjectId: '', spent: 5, limit: 5, bound: 1, endsAt: null },
    } as ConstructorParameters<typeof BudgetExceeded>[0];
    const begin = async () => {
      throw new BudgetExceeded(exceeded);
    };
    const accounts = { ...noAccounts, open: () => ({ outputLimit: async () => 16, begin }) };
    const open = createOpen({ egress, accounts, resolveLlm: neverResolved });
    const request = { purpose: 'question' as const, messages, schema, as: 'reply' as const, mostCalls: 3 };
    const asked = open(llmAt(endpoint.url), null).askForObject(request);
    await expect(asked).rejects.toMatchObject({
      status: 412,
      context: { reason: 'budget_exceeded', budget_id: 'b-1' },
    });
    expect(endpoint.requests).toEqual([]);
  });

  test('has a time to reply in, and the caller can leave before', async () => {
    expect((await ask(['hang'], { withinMs: 50, mostCalls: 3 })).reply).toMatchObject({
      reason: 'model_unavailable',
      message: expect.stringContaining('no reply within 0.05 s'),
    });
    const reason = new Error('left');
    expect((await ask(['hang'], { signal: AbortSignal.abort(reason) })).reply).toBe(reason);
  });

  test('must be an LLM configuration', async () => {
    const ask = createAsk({
      db: null as never,
      resolve: () => Promise.reject(notFound('LLM configuration')),
      models: { open: createOpen({ egress, accounts: noAccounts, resolveLlm: neverResolved }) },
      agents: () => null,
    });
    await expect(ask({ llmId: 'x' })).rejects.toMatchObject({ status: 422, context: { llm_id: 'x' } });
  });
});
