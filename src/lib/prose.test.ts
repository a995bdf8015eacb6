import { expect, test } from 'vitest';
import { isolate, quotedEnd } from './prose.ts';

test('a name that turns text around is closed off, and any other is left as it is', () => {
  expect(isolate('Nightly close, 02:30 <b>')).toBe('Nightly close, 02:30 <b>');
  expect(isolate('invoice\u202Etxt.exe')).toBe('\u2068invoice\u202Etxt.exe\u2069');
  expect(isolate('תזמון 12')).toBe('\u2068תזמון 12\u2069');
});

test('a name cannot end the isolate that it is in, nor leave one open', () => {
  expect(isolate('a\u2069\u202Eb')).toBe('\u2068a\u202Eb\u2069');
  expect(isolate('a\u2067b')).toBe('\u2068a\u2067b\u2069\u2069');
  expect(isolate('a\u2067b\u2069\u2069c')).toBe('\u2068a\u2067b\u2069c\u2069');
});

test('what is quoted at the end of a sentence has one full stop', () => {
  expect(quotedEnd('until the new price list')).toBe('“until the new price list”.');
  expect(quotedEnd('Is the sum right?')).toBe('“Is the sum right?”');
});
