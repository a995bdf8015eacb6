import type { Node } from 'libpg-query';
import { notSupported, SqlRefusal } from '../refusal.ts';
import type { Expression, Query } from '../tree.ts';
import type { Parsed } from './text.ts';

/** Tools that the readers of nodes pass on: the positions of nodes, and each other. */
export interface Reader {
  at: Parsed['at'];
  expression(node: Node | undefined): Expression;
  query(node: Node | undefined): Query;
}

/** Positions and ids, which change no meaning. */
const aside = new Set(['location', 'rexpr_list_start', 'rexpr_list_end', 'list_start', 'list_end']);

/**
 * Refuses a node that has anything but `known`: a modifier that no reader has thought of must not be dropped in silence.
 */
export const only = (what: string, node: object, known: readonly string[], position?: number): void => {
  for (const key of Object.keys(node)) {
    if (!known.includes(key) && !aside.has(key))
      throw notSupported(`\`${what}\` with \`${key}\` is not supported.`, what, position);
  }
};

/** The type of a node, and the node itself. */
export const opened = (node: Node): [type: string, value: object] => {
  const [entry, second] = Object.entries(node);
  if (!entry || second) throw notSupported('The SQL has a node that is not understood.');
  return entry as [string, object];
};

/** Text of a list of name parts. */
export const namesOf = (nodes: readonly Node[] | undefined): string[] =>
  (nodes ?? []).map((node) => {
    if (!('String' in node)) throw notSupported('A name may consist of words only.');
    return node.String.sval ?? '';
  });

export const functionNotAllowed = (
  name: string,
  position: number | undefined,
  suggestions: readonly string[] = [],
): SqlRefusal =>
  new SqlRefusal('function_not_allowed', `The function \`${name}\` is not available.`, {
    name,
    position: position ?? null,
    suggestions,
  });
