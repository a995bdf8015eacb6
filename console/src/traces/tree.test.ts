import { expect, test } from 'vitest';
import type { TraceSpan } from '../api/types.gen.ts';
import { matchingRows, ownTime, rowsOf, treesOf } from './tree.ts';

const span = (
  id: string,
  parent: string | null,
  offset_us: number,
  duration_us = 10,
  more = {},
): TraceSpan => ({
  span_id: id,
  parent_span_id: parent,
  name: id,
  kind: 'internal',
  type: 'other',
  offset_us,
  duration_us,
  status: 'ok',
  error_type: null,
  model: null,
  tokens: null,
  cost_nano_usd: null,
  has_content: false,
  event_count: 0,
  ...more,
});

const shapeOf = (spans: TraceSpan[], folded: string[] = []): string[] =>
  rowsOf(treesOf(spans), new Set(folded)).map(
    ({ span, depth, isCutOff }) => `${'-'.repeat(depth)}${span.span_id}${isCutOff ? '!' : ''}`,
  );

test('children are below their parents by their start, whatever the order of the spans', () => {
  const spans = [span('c', 'a', 5), span('b', 'a', 3), span('d', 'b', 4), span('a', null, 0)];
  expect(shapeOf(spans)).toEqual(['a', '-b', '--d', '-c']);
  expect(shapeOf(spans, ['b'])).toEqual(['a', '-b', '-c']);
  expect(shapeOf(spans, ['a'])).toEqual(['a']);
});

test('a parent that is missing, one that is its own, and parents in a circle hide no span', () => {
  const spans = [
    span('a', 'gone', 1),
    span('b', 'a', 2),
    span('self', 'self', 3),
    span('x', 'y', 5),
    span('y', 'z', 4),
    span('z', 'x', 6),
  ];
  expect(shapeOf(spans)).toEqual(['a!', '-b', 'self!', 'y!', '-x', '--z']);
});

test('a chain of 20,000 spans is a tree, too', () => {
  const chain = Array.from({ length: 20_000 }, (_, i) => span(`${i}`, i === 0 ? null : `${i - 1}`, i));
  const [root] = treesOf(chain);
  expect(root!.below).toBe(19_999);
  expect(rowsOf([root!], new Set())).toHaveLength(20_000);
});

test('a node counts what failed below it, and matches keep what is above them', () => {
  const failed = { status: 'error' as const };
  const roots = treesOf([
    span('a', null, 0),
    span('b', 'a', 1),
    span('c', 'b', 2, 1, failed),
    span('d', 'a', 3, 1, failed),
    span('e', 'a', 4),
  ]);
  expect([roots[0]!.below, roots[0]!.failedBelow]).toEqual([4, 2]);
  const rows = matchingRows(rowsOf(roots, new Set()), ({ status }) => status === 'error');
  expect(rows.map((row) => row.span.span_id)).toEqual(['a', 'b', 'c', 'd']);
});

test('the own time of a span is what no child covers, also if they overlap or end later', () => {
  const [root] = treesOf([
    span('a', null, 0, 100),
    span('b', 'a', 10, 20),
    span('c', 'a', 20, 20),
    span('d', 'a', 90, 50),
  ]);
  expect(ownTime(root!)).toBe(60);
});
