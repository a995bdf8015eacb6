import type { TraceSpan } from '../../api/types.gen.ts';
import type { TreeNode } from '../../traces/tree.ts';

/** A span that is in one of two traces, or in both at the same place. */
export interface Aligned {
  name: string;
  depth: number;
  a: TraceSpan | null;
  b: TraceSpan | null;
}

/** Pairs of children: the n-th of a name with the n-th of that name. In the order of A, those of B where they come. */
const pairsOf = (a: readonly TreeNode[], b: readonly TreeNode[]): [TreeNode | null, TreeNode | null][] => {
  const left = new Map<string, TreeNode[]>();
  for (const node of a) left.set(node.span.name, [...(left.get(node.span.name) ?? []), node]);
  const partner = new Map<TreeNode, TreeNode>();
  const taken = new Map<string, number>();
  for (const node of b) {
    const nth = taken.get(node.span.name) ?? 0;
    taken.set(node.span.name, nth + 1);
    const found = left.get(node.span.name)?.[nth];
    if (found) partner.set(found, node);
  }
  const paired = new Set(partner.values());
  const pairs: [TreeNode | null, TreeNode | null][] = [];
  let next = 0;
  const onlyBUntil = (end: number): void => {
    for (; next < end; next++) if (!paired.has(b[next]!)) pairs.push([null, b[next]!]);
  };
  for (const node of a) {
    const other = partner.get(node);
    if (other) onlyBUntil(b.indexOf(other));
    pairs.push([node, other ?? null]);
  }
  onlyBUntil(b.length);
  return pairs;
};

/**
 * The spans of two traces next to each other: those with the same names above them, and the same place among those of
 * the same name.
 */
export const align = (a: readonly TreeNode[], b: readonly TreeNode[]): Aligned[] => {
  const rows: Aligned[] = [];
  const open = pairsOf(a, b)
    .map((pair) => ({ pair, depth: 0 }))
    .reverse();
  for (let one = open.pop(); one; one = open.pop()) {
    const [left, right] = one.pair;
    const span = (left ?? right)!.span;
    rows.push({ name: span.name, depth: one.depth, a: left?.span ?? null, b: right?.span ?? null });
    const depth = one.depth + 1;
    const below = pairsOf(left?.children ?? [], right?.children ?? []);
    for (let i = below.length - 1; i >= 0; i--) open.push({ pair: below[i]!, depth });
  }
  return rows;
};
