import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseExactJson, parseJson } from './json.ts';

const again = (text: string) => JSON.stringify(parseJson(text));

test('integers of any size, anywhere, keep all their digits', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n }), (n) => {
      const text = `{"a":${n},"b":[${n},{"c":${n}}]}`;
      // From 1e21 on a number is written with an exponent. The digits must be equal.
      expect(again(text).replaceAll(/(\d)(?:\.(\d+))?e\+(\d+)/g, expanded)).toBe(text);
    }),
  );
});

const expanded = (_: string, first: string, rest = '', exponent: string) =>
  first + rest.padEnd(Number(exponent), '0');

test.each(['9007199254740993', '-9223372036854775808', '18446744073709551615', '12345678901234567890'])(
  '%s is kept',
  (n) => expect(again(`[${n}]`)).toBe(`[${n}]`),
);

test('a number stays a number if it keeps its digits', () => {
  const text = '[9007199254740992,100000000000000000000,0,-0,1.5,1e300,"12345678901234567890"]';
  expect(parseJson(text)).toEqual(JSON.parse(text));
  expect(parseJson(`[1${'0'.repeat(300)}]`)).toEqual([1e300]);
});

test('a number out of range is Infinity', () => {
  expect(parseJson(`[1e400,${'9'.repeat(400)}]`)).toEqual([Infinity, Infinity]);
});

test('parseExactJson keeps the value of every integer, also if a number has the same digits', () => {
  const value = 9_223_372_036_854_776_000n;
  expect(parseJson(`[${value}]`)).toEqual([Number(value)]);
  expect(parseExactJson(`[${value},-9007199254740993,9007199254740991,1.5,1e17]`)).toEqual([
    value,
    -9_007_199_254_740_993n,
    9_007_199_254_740_991,
    1.5,
    1e17,
  ]);
});
