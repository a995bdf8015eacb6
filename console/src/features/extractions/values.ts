import type { Extraction } from '../../api/types.gen.ts';

/** Finding for one scalar value. */
export interface Leaf {
  pointer: string;
  /** Its key, without those of the objects around it. */
  name: string;
  value: string | number | boolean | null;
  /** `none`: there is no value. `absent`: it does not stand in the document. */
  state: 'high' | 'medium' | 'low' | 'absent' | 'none';
  citations: NonNullable<Extraction['fields']>[string]['citations'];
  issues: string[];
}

/** Value, or an object or a list with its parts. */
export type Node = { name: string; pointer: string } & ({ leaf: Leaf } | { nodes: Node[]; isList: boolean });

const part = (key: string | number): string => `/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`;

/** The data as a tree of what was found, in the order of the schema. */
export const treeOf = ({ data, fields, warnings }: Extraction): Node[] => {
  const issues = new Map<string, string[]>();
  for (const { code, path } of warnings) {
    if (path !== null) issues.set(path, [...(issues.get(path) ?? []), code]);
  }
  const leafOf = (name: string, pointer: string, value: Leaf['value']): Leaf => {
    const found = fields?.[pointer];
    const own = issues.get(pointer) ?? [];
    const state =
      value === null ? 'none' : own.includes('not_grounded') || !found ? 'absent' : found.confidence;
    return { pointer, name, value, state, citations: found?.citations ?? [], issues: own };
  };
  const nodesOf = (value: object, pointer: string): Node[] =>
    Object.entries(value).map(([key, each]): Node => {
      const at = pointer + part(key);
      const name = Array.isArray(value) ? String(Number(key) + 1) : key;
      return typeof each === 'object' && each !== null
        ? { name, pointer: at, nodes: nodesOf(each, at), isList: Array.isArray(each) }
        : { name, pointer: at, leaf: leafOf(name, at, each as Leaf['value']) };
    });
  return nodesOf(data ?? {}, '');
};

export const leavesOf = (nodes: readonly Node[]): Leaf[] =>
  nodes.flatMap((node) => ('leaf' in node ? [node.leaf] : leavesOf(node.nodes)));

/** Says that the value stands in the document. */
export const isFound = ({ state }: Leaf): boolean =>
  state === 'high' || state === 'medium' || state === 'low';
