import { expect, test } from 'vitest';
import { toPseudo } from './catalog.ts';
import { bytes, duration, list, number, percent, plural, usd } from './format.ts';

test('a duration has its two largest units', () => {
  const seconds = (count: number) => duration(count * 1_000);
  expect([0.31, 4.8, 9.96, 41, 59.4].map(seconds)).toEqual(['0.3 s', '4.8 s', '10 s', '41 s', '59 s']);
  expect([60, 124, 11_520, 86_400, 1_000_000].map(seconds)).toEqual([
    '1 min',
    '2 min 4 s',
    '3 h 12 min',
    '1 d',
    '11 d 13 h',
  ]);
});

test('money has two decimals, and below a cent two digits that count', () => {
  expect([0, 1_204_500_000_000, 120_000_000, 3_495_000, 168_000, 1].map(usd)).toEqual([
    '$0.00',
    '$1,204.50',
    '$0.12',
    '$0.0035',
    '$0.00017',
    '$0.000000001',
  ]);
});

test('numbers have their separators and units after a space', () => {
  expect([number(1418), percent(0.992), bytes(999), bytes(1_500_000), list(['a', 'b', 'c'])]).toEqual([
    '1,418',
    '99.2 %',
    '999 B',
    '1.5 MB',
    'a, b and c',
  ]);
  expect([1, 2, 1_200].map((count) => plural(count, { one: '# item', other: '# items' }))).toEqual([
    '1 item',
    '2 items',
    '1,200 items',
  ]);
});

test('the pseudo-locale is 40 % longer and keeps the places for elements', () => {
  expect(toPseudo('Changed {at} by')).toMatch(/^Chángéd \{at\} by~{6}$/);
});
