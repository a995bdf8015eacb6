import { describe, expect, test } from 'vitest';
import { toYaml } from '../lib/yaml.ts';
import { documentOf, readDocument } from './exchange.ts';
import type { SemanticModel } from './ossie.ts';

const model = {
  name: 'shop',
  zebra: 'kept',
  datasets: [{ name: 'orders', source: 'orders' }],
  custom_extensions: [{ vendor_name: 'OTHER', data: '{}' }],
} as unknown as SemanticModel;
const verified = {
  name: 'q',
  question: 'How many?',
  sql: 'select 1',
  use_as_onboarding_question: true,
  verified_by: 'someone',
  verified_at: '2026-01-31T08:00:00.000Z',
};

const refusal = (text: string): string => {
  try {
    readDocument(text);
  } catch (error) {
    return (error as Error).message;
  }
  return 'accepted';
};

describe('an Ossie document', () => {
  test('carries verified queries in an extension, and gives them back', () => {
    const document = documentOf({ semantic_model: model, verified_queries: [verified] });
    expect(document.version).toBe('0.2.0.dev0');
    expect(document.semantic_model[0]!.custom_extensions!.map(({ vendor_name }) => vendor_name)).toEqual([
      'OTHER',
      'AGENT_PLATFORM',
    ]);
    const { verified_by: _, verified_at: __, ...query } = verified;
    for (const text of [toYaml(document), JSON.stringify(document)]) {
      expect(readDocument(text)).toEqual({ semantic_model: model, verified_queries: [query] });
      expect(Object.keys(readDocument(text).semantic_model as object)).toEqual([
        ...['name', 'zebra', 'datasets', 'custom_extensions'],
      ]);
    }
    const plain = documentOf({ semantic_model: model, verified_queries: [] });
    expect(plain.semantic_model[0]).toEqual(model);
  });

  test('of any version 0.x is read', () => {
    expect(readDocument('version: "0.9"\nsemantic_model: [{name: x}]').semantic_model).toEqual({ name: 'x' });
  });

  test.each([
    ['', /is empty|must be an object/],
    ['a: [', /neither YAML nor JSON \(line/],
    ['version: 0.2\nversion: 0.3', /neither YAML nor JSON/],
    ['version: "1.0"\nsemantic_model: [{}]', /version 0.x/],
    ['version: 0.2\nsemantic_model: [{}]', /version 0.x/],
    ['semantic_model: [{}]', /version 0.x/],
    ['version: "0.2"', /with one model/],
    ['version: "0.2"\nsemantic_model: []', /with one model/],
    ['version: "0.2"\nsemantic_model: [{}, {}]', /has 2 models/],
    ['--- {}\n--- {}', /several YAML documents/],
    ['version: &a "0.2"\nsemantic_model: [{name: *a}]', /aliases/],
    ['[1]', /must be an object/],
    [
      'version: "0.2"\nsemantic_model: [{custom_extensions: [{vendor_name: AGENT_PLATFORM, data: no}]}]',
      /AGENT_PLATFORM cannot be read/,
    ],
  ])('%j is refused', (text, message) => {
    expect(refusal(text)).toMatch(message);
  });

  test('with aliases that multiply is refused at once', () => {
    const bomb = ['a: &a [x, x, x, x, x, x, x, x, x]'];
    for (let i = 0; i < 20; i++)
      bomb.push(`b${i}: &b${i} [${Array.from({ length: 9 }, () => `*${i ? `b${i - 1}` : 'a'}`)}]`);
    expect(refusal(bomb.join('\n'))).toMatch(/aliases|version/);
  });
});
