import { expect, test } from 'vitest';
import { cleanName, extensionOf, freeName } from './names.ts';

test.each([
  ['report.pdf', 'report.pdf'],
  ['../../etc/passwd', 'passwd'],
  ['C:\\files\\a.csv', 'a.csv'],
  ['  a\u0000b\u202e.txt\n ', 'ab.txt'],
  ['', 'file'],
  ['.', 'file'],
  ['..', 'file'],
  ['a/', 'file'],
  ['\ud800.txt', '\ufffd.txt'],
  [`${'ü'.repeat(300)}.csv`, `${'ü'.repeat(251)}.csv`],
  [`a.${'x'.repeat(300)}`, `a.${'x'.repeat(253)}`],
])('the name %j is kept as %j', (given, kept) => {
  expect(cleanName(given)).toBe(kept);
});

test('a name that is taken gets a number before its extension, and stays short enough', () => {
  const taken = new Set(['a.tar.gz', 'a.tar (2).gz', 'b', `${'x'.repeat(251)}.csv`]);
  const free = (name: string) => freeName(name, (one) => taken.has(one));
  expect(free('a.tar.gz')).toBe('a.tar (3).gz');
  expect(free('b')).toBe('b (2)');
  expect(free(`${'x'.repeat(251)}.csv`)).toBe(`${'x'.repeat(247)} (2).csv`);
  expect(extensionOf('A.CSV')).toBe('csv');
  expect(extensionOf('.csv')).toBe('');
});
