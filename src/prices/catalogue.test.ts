import { readFileSync } from 'node:fs';
import { findProvider, type ModelPrice } from '@pydantic/genai-prices';
import { describe, expect, it } from 'vitest';
import { catalogue, findCataloguePrice, toPriced } from './catalogue.ts';

const now = new Date('2026-11-28T12:00:00Z');

/** The models of all providers. The library has no list of these, but looks each up by its id. */
const everyModel = () => {
  const source = readFileSync(new URL(import.meta.resolve('@pydantic/genai-prices')), 'utf8');
  const ids = [...source.matchAll(/^ {2}\{\n {4}id: "([^"]+)",\n {4}name:/gm)].map((match) => match[1]!);
  expect(ids.length).toBeGreaterThan(40);
  return ids.flatMap((providerId) => findProvider({ providerId })!.models);
};

describe('the catalogue', () => {
  it('is the one that is installed', () => {
    const path = new URL('../../node_modules/@pydantic/genai-prices/package.json', import.meta.url);
    expect(catalogue).toMatchObject({ version: JSON.parse(readFileSync(path, 'utf8')).version });
  });

  it('has prices by the kind, and of compatible endpoints by their address', () => {
    const find = (kind: Parameters<typeof findCataloguePrice>[0]['kind'], name: string, base_url?: string) =>
      findCataloguePrice({ kind, ...(base_url && { base_url }) }, name, now);
    expect(find('openai', 'GPT-4o-2024-08-06')).toEqual({
      model: 'gpt-4o',
      rates: { input: '2.5', output: '10', cache_read: '1.25' },
      above: null,
    });
    // The address of a proxy changes no price.
    expect(find('openai', 'gpt-4o', 'https://proxy.example')).toBe(find('openai', 'gpt-4o'));
    expect(find('anthropic', 'gpt-4o')).toBeNull();
    expect(find('azure', 'gpt-4o')).toMatchObject({ model: 'gpt-4o', rates: { input: '2.5' } });
    expect(find('google', 'models/gemini-2.5-pro')).toEqual({
      model: 'gemini-2.5-pro',
      rates: { input: '1.25', output: '10', cache_read: '0.125' },
      above: { input_tokens: 200_000, rates: { input: '2.5', output: '15', cache_read: '0.25' } },
    });
    expect(find('bedrock', 'us.anthropic.claude-sonnet-4-20250514-v1:0')).toMatchObject({
      rates: { input: '3', output: '15', cache_read: '0.3', cache_write: '3.75' },
    });
    expect(find('openai_compatible', 'gpt-4o')).toBeNull();
    expect(find('openai_compatible', 'gpt-4o', 'http://localhost:8000/v1')).toBeNull();
    expect(find('openai_compatible', 'mistral-large-latest', 'https://api.mistral.ai/v1')).toMatchObject({
      rates: { input: expect.any(String) },
    });
    expect(find('mock', 'anything')).toEqual({
      model: 'mock',
      rates: { input: '0', output: '0' },
      above: null,
    });
  });

  it('has the prices of the time of day and of the date', () => {
    const endpoint = { kind: 'openai_compatible', base_url: 'https://api.deepseek.com' } as const;
    const at = (time: string) => findCataloguePrice(endpoint, 'deepseek-v4-pro', new Date(time))!.rates;
    const day = at('2026-09-01T05:00:00Z');
    expect(at('2026-09-01T02:00:00Z')).not.toEqual(day);
    expect(at('2026-09-01T11:00:00Z')).toEqual(day);
    const constraints = everyModel()
      .flatMap(({ prices }) => (Array.isArray(prices) ? prices : []))
      .flatMap(({ constraint }) => (constraint ? [JSON.stringify(constraint)] : []));
    const wholeMinutes =
      /"(start_date":"\d{4}-\d\d-\d\d"|start_time":"\d\d:\d\d:00Z","end_time":"\d\d:\d\d:00Z")/;
    expect(constraints.filter((one) => !wholeMinutes.test(one))).toEqual([]);
  });

  it('can be expressed whole: every model with both rates has at most one step', () => {
    const prices = everyModel().flatMap(({ prices: given }) =>
      Array.isArray(given) ? given.map((one) => one.prices) : [given],
    );
    const whole = prices.filter(
      (one: ModelPrice) => one.input_mtok !== undefined && one.output_mtok !== undefined,
    );
    expect(whole.length).toBeGreaterThan(1_000);
    expect(whole.filter((one) => toPriced(one) === null)).toEqual([]);
  });
});
