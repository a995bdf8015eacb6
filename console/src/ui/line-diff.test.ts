import { expect, test } from 'vitest';
import { diffLines } from './line-diff.ts';

const shown = (before: string, after: string): string[] => {
  const { left, right } = diffLines(before, after);
  const marks = { same: ' ', only: '*', none: '.' };
  return left.map((line, i) => `${marks[line.mark]}${line.text}|${marks[right[i]!.mark]}${right[i]!.text}`);
};

test('a changed line stands next to the one that took its place, and what is kept stays in line', () => {
  expect(shown('a\nb\nc', 'a\nx\nc\nd')).toEqual([' a| a', '*b|*x', ' c| c', '.|*d']);
  expect(shown('', 'a')).toEqual(['.|*a']);
  expect(shown('a\nb', 'b')).toEqual(['*a|.', ' b| b']);
  expect(shown('same', 'same')).toEqual([' same| same']);
});

test('texts of many lines are compared at once, without a table of all pairs', () => {
  const lines = (of: string) => Array.from({ length: 20_000 }, (_, i) => `${of} ${i}`).join('\n');
  const { left, right } = diffLines(lines('a'), lines('b'));
  expect(left).toHaveLength(right.length);
  expect(left.every(({ mark }) => mark === 'only')).toBe(true);
});
