import { expect, test } from 'vitest';
import { catalog } from './catalog.ts';
import { isolate } from './isolate.ts';

const words = catalog({
  because: (reason: string) => `because of “${reason}”.`,
  inside: { of: (names: readonly string[], count: number) => `${names.join(' and ')}: ${count}` },
});

test('a value in a text of the page keeps its direction to itself, and any other is left as it is', () => {
  expect(words.because('new prices')).toBe('because of “new prices”.');
  expect(words.because('new \u202Eprices')).toBe('because of “\u2068new \u202Eprices\u2069”.');
  expect(words.inside.of(['מחיר', 'b'], 2)).toBe('\u2068מחיר\u2069 and b: 2');
});

test('a value can neither end the isolate that it is in nor leave one open', () => {
  expect(isolate('a\u2069\u202Eb')).toBe('\u2068a\u202Eb\u2069');
  expect(isolate('a\u2067b')).toBe('\u2068a\u2067b\u2069\u2069');
});
