import type { TraceSpan } from '../api/types.gen.ts';

/** A span at its place in the tree. */
export interface TreeNode {
  span: TraceSpan;
  depth: number;
  parent: TreeNode | null;
  children: TreeNode[];
  /** Spans below it. */
  below: number;
  /** Those of them that failed. */
  failedBelow: number;
  /** Its parent is not among the spans of the trace, or the parents go round in a circle. */
  isCutOff: boolean;
}

const byStart = (a: TraceSpan, b: TraceSpan): number =>
  a.offset_us - b.offset_us || b.duration_us - a.duration_us || (a.span_id < b.span_id ? -1 : 1);

/**
 * The spans of a trace as trees, by their start. What comes from outside may name parents that are not there, or that are
 * their own descendants: such a span is the root of a tree.
 */
export const treesOf = (spans: readonly TraceSpan[]): TreeNode[] => {
  const sorted = [...spans].sort(byStart);
  const nodes = new Map<string, TreeNode>();
  for (const span of sorted) {
    nodes.set(span.span_id, {
      span,
      depth: 0,
      parent: null,
      children: [],
      below: 0,
      failedBelow: 0,
      isCutOff: false,
    });
  }
  const childrenOf = new Map<string, TreeNode[]>();
  const roots: TreeNode[] = [];
  for (const node of nodes.values()) {
    const id = node.span.parent_span_id;
    if (id !== null && nodes.has(id)) {
      const siblings = childrenOf.get(id);
      if (siblings) siblings.push(node);
      else childrenOf.set(id, [node]);
    } else {
      node.isCutOff = id !== null;
      roots.push(node);
    }
  }
  const seen = new Set<TreeNode>();
  /** Nodes in the order in which they were reached: parents before children. */
  const reached: TreeNode[] = [];
  const reach = (root: TreeNode): void => {
    seen.add(root);
    const open = [root];
    for (let node = open.pop(); node; node = open.pop()) {
      reached.push(node);
      for (const child of childrenOf.get(node.span.span_id) ?? []) {
        if (seen.has(child)) continue;
        seen.add(child);
        child.parent = node;
        child.depth = node.depth + 1;
        node.children.push(child);
        open.push(child);
      }
    }
  };
  for (const root of roots) reach(root);
  // What no root leads to goes round in a circle: it begins with the earliest.
  for (const node of nodes.values()) {
    if (seen.has(node)) continue;
    node.isCutOff = true;
    roots.push(node);
    reach(node);
  }
  for (const { span, below, failedBelow, parent } of reached.reverse()) {
    if (!parent) continue;
    parent.below += below + 1;
    parent.failedBelow += failedBelow + (span.status === 'error' ? 1 : 0);
  }
  return roots.sort((a, b) => byStart(a.span, b.span));
};

/** The nodes that are shown, from top to bottom: without those below a folded one. */
export const rowsOf = (roots: readonly TreeNode[], folded: ReadonlySet<string>): TreeNode[] => {
  const rows: TreeNode[] = [];
  const open = [...roots].reverse();
  for (let node = open.pop(); node; node = open.pop()) {
    rows.push(node);
    if (folded.has(node.span.span_id)) continue;
    for (let i = node.children.length - 1; i >= 0; i--) open.push(node.children[i]!);
  }
  return rows;
};

/** The rows that `matches`, and what is above them. */
export const matchingRows = (
  rows: readonly TreeNode[],
  matches: (span: TraceSpan) => boolean,
): TreeNode[] => {
  const shown = new Set<TreeNode>();
  for (const row of rows) {
    if (!matches(row.span)) continue;
    for (let node: TreeNode | null = row; node && !shown.has(node); node = node.parent) shown.add(node);
  }
  return rows.filter((row) => shown.has(row));
};

/** Microseconds in which a span ran and none of its children did. */
export const ownTime = ({ span, children }: TreeNode): number => {
  let own = span.duration_us;
  let until = span.offset_us;
  const end = span.offset_us + span.duration_us;
  for (const { span: child } of children) {
    const from = Math.max(child.offset_us, until);
    const to = Math.min(child.offset_us + child.duration_us, end);
    if (to <= from) continue;
    own -= to - from;
    until = to;
  }
  return own;
};

/** A trace with more spans opens folded below this depth, so that it can be taken in. */
const foldsFrom = 400;
const foldedBelow = 1;

/** The ids of the spans that are folded when a trace is opened. The chosen one is in view. */
export const firstFolded = (
  spans: readonly TraceSpan[],
  roots: readonly TreeNode[],
  chosen: string | undefined,
) => {
  const folded = new Set<string>();
  if (spans.length <= foldsFrom) return folded;
  for (const { span, depth, children } of rowsOf(roots, folded)) {
    if (depth >= foldedBelow && children.length > 0) folded.add(span.span_id);
  }
  return unfoldedTo(folded, roots, chosen);
};

/** `folded` without what hides the span. */
export const unfoldedTo = (
  folded: ReadonlySet<string>,
  roots: readonly TreeNode[],
  id: string | undefined,
): Set<string> => {
  const open = new Set(folded);
  const found = rowsOf(roots, new Set()).find(({ span }) => span.span_id === id);
  for (let node = found?.parent ?? null; node; node = node.parent) open.delete(node.span.span_id);
  return open;
};
