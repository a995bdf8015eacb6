import { afterAll, describe, expect, test } from 'vitest';
import { llmOf } from '../../../tests/harness/providers/fixture.ts';
import { protocols, servers, startProvider, type Turn } from '../../../tests/harness/providers/index.ts';
import { faultBy2020 } from '../../../tests/harness/providers/strict.ts';
import { createEgress } from '../../lib/egress.ts';
import type { Message } from '../messages.ts';
import type { StepRequest, StepResult } from '../step.ts';
import { createModel } from './index.ts';
import { offeredTools } from './offered.ts';
import { type EndpointKind, endpointKinds, fitSchema, schemaWarnings } from './schemas/fit.ts';

const egress = createEgress({});
afterAll(() => egress.close());

type Schema = Record<string, unknown>;
const toolWith = (inputSchema: Schema, name = 'odd__tool') => ({ name, description: 'Odd.', inputSchema });
const requestOf = (tools: StepRequest['tools'], messages: Message[] = [{ role: 'user', text: 'Hi' }]) => ({
  messages,
  tools,
  signal: new AbortController().signal,
  maxOutputTokens: null,
  cacheKey: null,
});

/** Schemas that servers list, each of which made a provider refuse the whole request. */
const odd: Record<string, Schema> = {
  'without properties': { type: 'object' },
  'an array without items': { type: 'object', properties: { a: { type: 'array' } } },
  'an array among types': { type: 'object', properties: { a: { type: ['string', 'array'] } } },
  'an array deep inside': {
    type: 'object',
    properties: { a: { type: 'array', items: { type: 'array' } }, b: { anyOf: [{ type: 'array' }] } },
  },
  'a flag of draft 4': {
    type: 'object',
    properties: { a: { type: 'number', minimum: 1, exclusiveMinimum: true, exclusiveMaximum: false } },
  },
  'anyOf at the top': {
    type: 'object',
    anyOf: [
      { properties: { a: { type: 'string' } }, required: ['a'] },
      { properties: { b: { type: 'number' } }, required: ['b'] },
    ],
  },
  'oneOf with conditions at the top': {
    type: 'object',
    properties: { kind: { enum: ['a', 'b'] } },
    oneOf: [{ properties: { kind: { const: 'a' } } }, { required: ['kind', 'more'] }],
    if: { required: ['kind'] },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: { properties: { later: { type: 'string' } } },
    not: { required: ['never'] },
  },
  'a reference at the top': {
    $schema: 'http://json-schema.org/draft-07/schema#',
    type: 'object',
    $ref: '#/definitions/Args',
    definitions: {
      Args: { type: 'object', properties: { a: { $ref: '#/definitions/A' } } },
      A: { type: 'array' },
    },
  },
  'references that lead nowhere': {
    type: 'object',
    properties: { a: { $ref: 'https://example.com/other.json' }, b: { $ref: '#/$defs/gone' } },
  },
  'a reference to itself': {
    type: 'object',
    properties: { tree: { $ref: '#/$defs/Tree' } },
    $defs: {
      Tree: { type: 'object', properties: { children: { type: 'array', items: { $ref: '#/$defs/Tree' } } } },
    },
  },
  'names of properties': {
    type: 'object',
    propertyNames: { pattern: '^a' },
    properties: { a: { type: 'object', propertyNames: true } },
  },
  'a list of items by position': {
    type: 'object',
    properties: {
      a: { type: 'array', items: [{ type: 'string' }, { type: 'number' }], additionalItems: false },
      b: { type: 'array', prefixItems: [{ type: 'string' }], items: false },
    },
  },
  'values that no draft has': {
    type: 'object',
    properties: {
      a: { type: 'int', required: true, minLength: -1, pattern: '(', enum: 'x' },
      b: null,
      c: true,
    },
    required: ['a', 'undefined_one'],
  },
  'a type that is listed twice': {
    type: 'object',
    properties: { a: { type: ['string', 'null', 'string'] } },
  },
  'required names without properties, deep inside': {
    type: 'object',
    properties: {
      a: { type: 'object', required: ['b'] },
      c: {
        type: 'object',
        properties: { d: { type: 'string' }, e: { type: 'string' } },
        anyOf: [{ required: ['d'] }, { required: ['e'] }],
      },
      f: { $ref: '#/$defs/F', required: ['g', 'h'] },
    },
    $defs: { F: { type: 'object', properties: { g: { type: 'string' } } } },
  },
};

/** A reply to a request that the provider has taken. */
const ask = async (name: string, tools: StepRequest['tools'], reply: Turn = { text: 'Hi' }) => {
  const protocol = protocols[name]!;
  await using provider = await startProvider(protocol, () => reply);
  const model = createModel(llmOf(protocol, provider.url), { fetch: egress.fetch });
  const result = await model.step(requestOf(tools));
  return { result, request: provider.requests[0]!, protocol };
};

describe('a tool whose schema a provider would refuse', () => {
  test.each(Object.keys(protocols))('is made fit for %s', async (name) => {
    const tools = Object.values(odd).map((schema, i) => toolWith(schema, `odd__${i}`));
    const { protocol, request, result } = await ask(name, tools);
    expect(protocol.toolNames(request)).toEqual(tools.map((tool) => tool.name));
    expect(result.notes).toBeUndefined();
  });

  test('says all that can be said in the form that every provider takes', () => {
    const fitFor = (name: string, kind: EndpointKind = 'openai') => fitSchema(odd[name]!, kind).schema;
    expect(fitFor('without properties')).toEqual({ type: 'object', properties: {} });
    expect(fitFor('a flag of draft 4')!.properties).toEqual({ a: { type: 'number', exclusiveMinimum: 1 } });
    expect(fitFor('anyOf at the top')).toEqual({
      type: 'object',
      properties: { a: { type: 'string' }, b: { type: 'number' } },
    });
    expect(fitFor('oneOf with conditions at the top')).toEqual({
      type: 'object',
      properties: {
        kind: { anyOf: [{ enum: ['a', 'b'] }, { const: 'a' }] },
        more: {},
        later: { type: 'string' },
      },
    });
    expect(fitFor('a list of items by position')!.properties).toEqual({
      a: { type: 'array', items: { anyOf: [{ type: 'string' }, { type: 'number' }] } },
      b: { type: 'array', items: { type: 'string' } },
    });
    expect(fitFor('a reference to itself')).toEqual(odd['a reference to itself']);
    expect(fitFor('a reference to itself', 'google')!.properties).toEqual({
      tree: { type: 'object', properties: { children: { type: 'array', items: {} } } },
    });
    expect(fitFor('a type that is listed twice')!.properties).toEqual({ a: { type: ['string', 'null'] } });
    expect(fitFor('values that no draft has')).toEqual({
      type: 'object',
      properties: { a: {}, b: {}, c: {}, undefined_one: {} },
      required: ['a', 'undefined_one'],
    });
  });

  test('keeps nested objects as they are', () => {
    const schema = {
      type: 'object',
      properties: {
        open: { type: 'object' },
        either: { oneOf: [{ type: 'object' }, { type: 'string', pattern: '^a' }] },
        all: { allOf: [{ type: 'object', minProperties: 1 }], default: {}, 'x-note': true },
      },
      required: ['open'],
      additionalProperties: false,
    };
    for (const kind of endpointKinds) expect(fitSchema(schema, kind).schema).toEqual(schema);
  });

  test('is valid by 2020-12, whatever it was', () => {
    const values = [null, true, false, 7, 'x', [], {}, [{}], { type: 'array' }, ['a', 'a'], { $ref: 3 }];
    const keys =
      'type properties required items prefixItems anyOf allOf oneOf not if then enum const $ref $defs definitions minimum exclusiveMinimum minLength pattern dependentRequired additionalProperties contains format'.split(
        ' ',
      );
    for (const key of keys) {
      for (const value of values) {
        const given = {
          type: 'object',
          properties: { a: { [key]: value } },
          ...(key !== 'type' && { [key]: value }),
        };
        for (const kind of endpointKinds) {
          const { schema } = fitSchema(given, kind);
          if (schema) expect([given, faultBy2020(schema)]).toEqual([given, null]);
        }
      }
    }
  });

  test.each(['allOf', 'anyOf'])(
    'keeps the process no longer however often its definitions refer on (%s)',
    (key) => {
      const $ref = (n: number) => ({ $ref: `#/$defs/${n}` });
      const definition = (n: number) => ({
        properties: { [`p${n}`]: {} },
        [key]: [$ref(n + 1), $ref(n + 1)],
      });
      const $defs = Object.fromEntries(Array.from({ length: 20 }, (_, n) => [n, definition(n)]));
      const { schema } = fitSchema({ type: 'object', $defs, [key]: [$ref(0)] }, 'openai');
      expect(Object.keys(schema!.properties as Schema)).toContain('p9');
    },
    10_000,
  );

  test('is left out if it cannot be made fit, and the first reply of the model says so', async () => {
    const names = toolWith({ type: 'object', properties: { 'filter[id]': {} } }, 'odd__names');
    const never = toolWith({ type: 'object', anyOf: [{ type: 'string' }] }, 'odd__never');
    const good = toolWith({ type: 'object', properties: {} }, 'good');
    for (const name of Object.keys(protocols)) {
      const { protocol, request, result } = await ask(name, [names, never, good]);
      const isAnthropic = ['anthropic', 'bedrock'].includes(protocol.kind);
      expect(protocol.toolNames(request)).toEqual(isAnthropic ? ['good'] : ['odd__names', 'good']);
      expect(result.notes).toHaveLength(isAnthropic ? 2 : 1);
      expect(result.notes!.at(-1)).toMatch(/odd__never: no object fits its schema/);
    }
    expect(schemaWarnings(names.inputSchema).map(({ kind }) => kind)).toEqual(['anthropic', 'bedrock']);
    expect(schemaWarnings(never.inputSchema)).toHaveLength(endpointKinds.length);
    expect(schemaWarnings(good.inputSchema)).toEqual([]);
  });

  test('lets other requests have their turn while thousands of them are made fit', async () => {
    let turns = 0;
    const timer = setInterval(() => turns++, 0);
    const many = Array.from({ length: 2_000 }, (_, n) => toolWith({ type: 'object', anyOf: [{}] }, `t${n}`));
    const { tools } = await offeredTools({ kind: 'google' }, many);
    clearInterval(timer);
    expect(tools).toHaveLength(2_000);
    expect(turns).toBeGreaterThan(0);
  });

  test('of more tools than a request can have, the first are sent', async () => {
    const tools = Array.from({ length: 130 }, (_, i) => toolWith({ type: 'object' }, `t${i}`));
    const { protocol, request, result } = await ask('openai, chat completions', [
      { ...tools[0]!, description: 'x'.repeat(2_000) },
      ...tools.slice(1),
    ]);
    expect(protocol.toolNames(request)).toHaveLength(128);
    expect(result.notes).toHaveLength(2);
  });
});

describe('an endpoint that takes no tools', () => {
  const openAiCompatible = protocols.openai_compatible!;
  const tools = [toolWith({ type: 'object' }, 'clock')];
  const history: Message[] = [
    { role: 'user', text: 'Hi' },
    { role: 'assistant', text: '', tool_calls: [{ id: 'c', name: 'clock', arguments: { a: 1 } }] },
    { role: 'tool', tool_call_id: 'c', tool_name: 'clock', text: 'noon', is_error: false },
  ];
  const stepsAt = async (refuses: (typeof openAiCompatible)['refuses'], name = 'openai_compatible') => {
    const protocol = { ...protocols[name]!, refuses };
    await using provider = await startProvider(protocol, () => ({ text: 'Hi' }));
    const model = createModel(llmOf(protocol, provider.url), { fetch: egress.fetch });
    const results: StepResult[] = [];
    for (const messages of [undefined, history]) results.push(await model.step(requestOf(tools, messages)));
    return {
      results,
      offered: provider.requests.map((request) => protocol.toolNames(request).length),
      provider,
    };
  };

  test.each(['vllm', 'ollama', 'llama_cpp', 'openrouter'] as const)(
    'gets the request once more without, and later ones at once (%s)',
    async (server) => {
      const { results, offered, provider } = await stepsAt(servers[server]);
      expect(results.map(({ text, leftOut }) => [text, leftOut])).toEqual([
        ['Hi', ['clock']],
        ['Hi', ['clock']],
      ]);
      expect(offered).toEqual([1, 0, 0]);
      expect(results[0]!.notes).toEqual([expect.stringMatching(/takes no tools.*returned (400|404|500)/)]);
      expect(results[1]!.notes).toBeUndefined();
      expect(provider.requests[2]!.body.messages.slice(1)).toEqual([
        { role: 'assistant', content: '[Called clock with {"a":1}]' },
        { role: 'user', content: '[Result of clock]\nnoon' },
      ]);
    },
  );

  test.each([
    ['bedrock', { message: "This model doesn't support tool use in streaming mode." }],
    [
      'google',
      { error: { code: 400, message: 'Function calling is not enabled for models/gemma-3', status: 'X' } },
    ],
    ['openai, chat completions', { error: { message: 'Unrecognized request argument supplied: tools' } }],
    ['openai_compatible', { detail: [{ loc: ['body', 'tools'], msg: 'Extra inputs are not permitted' }] }],
    ['openai_compatible', { error: { message: "'tools' is not supported with this model." } }],
    ['openai_compatible', { error: { message: 'Unsupported param: tools' } }],
    ['openai_compatible', { error: { message: 'Tools not supported by this deployment' } }],
    [
      'openai_compatible',
      {
        error: { message: "UnsupportedParamsError: x does not support parameters: ['tools'], for model=y." },
      },
    ],
    ['openai_compatible', { error: { message: 'tool_choice is not supported for this model' } }],
    ['openai_compatible', { errors: [{ code: 'x', message: 'The model does not support tools.' }] }],
  ])('is known by its words: %s %j', async (name, body) => {
    const { offered } = await stepsAt(
      (request) => (protocols[name]!.toolNames(request).length > 0 ? { status: 400, body } : null),
      name,
    );
    expect(offered).toEqual([1, 0, 0]);
  });

  test.each([
    "Invalid schema for function 'x': array schema missing items.",
    'tools.0.custom.input_schema: input_schema does not support oneOf, allOf, or anyOf at the top level',
    "Invalid 'tools[0].function.description': string too long.",
    'The model does not exist.',
  ])('is not an endpoint that refuses something else: %s', async (message) => {
    await expect(stepsAt(() => ({ status: 400, body: { error: { message } } }))).rejects.toMatchObject({
      code: 'model_refused',
      refused: null,
    });
  });
});
