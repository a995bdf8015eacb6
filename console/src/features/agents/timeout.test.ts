import { expect, test } from 'vitest';
import { readTimeout, timeoutText } from './timeout.ts';

test.each([
  ['', null],
  ['90', 90],
  ['30 min', 1_800],
  ['4 h', 14_400],
  ['4 hours', 14_400],
  ['1h 30min', 5_400],
  ['1.5 h', 5_400],
  ['2 days', 172_800],
])('%s is %s seconds', (text, seconds) => expect(readTimeout(text)).toBe(seconds));

test.each([null, 60, 90, 5_400, 14_400, 31_536_000])('%s seconds come back as they went', (seconds) => {
  expect(readTimeout(timeoutText(seconds))).toBe(seconds);
});

test.each(['soon', '4 weeks', 'h', '-1'])('%s is none', (text) => {
  expect(() => readTimeout(text)).toThrow();
});
