import { describe, expect, test } from 'vitest';
import { linearRegExp } from './linear-regexp.ts';

const texts = [
  '',
  'a',
  'aaaa',
  'AAAA!',
  'ab12_-',
  'DE89 3704',
  'x\ny',
  'a\u2028b',
  '\u00a0',
  '\ufeff',
  'é',
  'Ж',
  '😀',
  '[a]',
  '[:alpha:]',
  'a/b',
  '2026-11-23',
  'k',
  '\u212a',
  '\t',
  '\\',
  '-',
  ']',
  '10.5',
];

describe('a regular expression that takes linear time', () => {
  test.each([
    '^([A-Z0-9]+)+$',
    '^(a|a)+$',
    '^(?:a+)+b$',
    '^[A-Z]{2}\\d{2} ?(?:\\d{4} ?)+$',
    '^\\s*$',
    '[\\s\\d]',
    '^\\S+$',
    '^.$',
    '^.+$',
    '^.{2,3}?$',
    '\\p{Lu}',
    '^\\P{L}$',
    '^[\\p{L}\\p{N}_]+$',
    '\\u00e9|\\x41|\\u{1f600}',
    '[[:alph]',
    '^[^\\]]+$',
    '[\\w-]',
    '[\\-\\/\\\\]',
    '^(?<year>\\d{4})-(?<month>\\d\\d)',
    '\\bb|a\\b|\\B1',
    '^\\d+\\.\\d+$',
    '^$|^a',
    '\\/',
    '^😀$',
    '[😀é]',
    '\\t|\\n',
    '\\[a\\]',
  ])('%s finds what that of the language finds', (pattern) => {
    const linear = linearRegExp(pattern);
    const own = new RegExp(pattern, 'u');
    expect(texts.filter((text) => linear!.test(text))).toEqual(texts.filter((text) => own.test(text)));
  });

  test.each([
    '^(?=a)b',
    '(?!a)b',
    '(?<=a)b',
    '(a)\\1',
    '(?<n>a)\\k<n>',
    '[\\S]',
    '[]',
    '[^]',
    '\\cA',
    '[\\b]',
    '\\p{Script=Greek}',
    '\\ud83d\\ude00',
    '(?i:a)',
    'a{5000}',
  ])('there is none for %s', (pattern) => {
    expect(linearRegExp(pattern)).toBeNull();
  });
});
