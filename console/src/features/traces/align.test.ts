import { expect, test } from 'vitest';
import type { TraceSpan } from '../../api/types.gen.ts';
import { treesOf } from '../../traces/tree.ts';
import { align } from './align.ts';

/** `name`, or `name > name`, each below the last one of the name before it; in the order of their starts. */
const treesIn = (paths: string[]) => {
  const spans: Partial<TraceSpan>[] = [];
  const ids = new Map<string, string>();
  for (const [i, path] of paths.entries()) {
    const above = path.split(' > ').slice(0, -1).join(' > ');
    const name = path.split(' > ').at(-1)!;
    ids.set(path, `${i}`);
    spans.push({
      span_id: `${i}`,
      parent_span_id: ids.get(above) ?? null,
      name,
      offset_us: i,
      duration_us: 1,
    });
  }
  return treesOf(spans as TraceSpan[]);
};

const drawn = (a: string[], b: string[]): string[] =>
  align(treesIn(a), treesIn(b)).map(
    (row) => `${'-'.repeat(row.depth)}${row.name}${row.b ? '' : ' (A)'}${row.a ? '' : ' (B)'}`,
  );

test('spans of equal names are paired in their order, below those that are paired', () => {
  const a = ['run', 'run > chat', 'run > tool', 'run > chat', 'run > chat > retry'];
  const b = ['run', 'run > chat', 'run > chat', 'run > look', 'run > chat'];
  expect(drawn(a, b)).toEqual([
    'run',
    '-chat',
    '-tool (A)',
    '-chat',
    '--retry (A)',
    '-look (B)',
    '-chat (B)',
  ]);
});

test('traces that have nothing in common are one after the other, with all that is below', () => {
  expect(drawn(['x', 'x > y'], ['z'])).toEqual(['x (A)', '-y (A)', 'z (B)']);
  expect(drawn([], ['z'])).toEqual(['z (B)']);
});
