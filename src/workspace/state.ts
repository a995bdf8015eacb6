import type { Executor } from '../database/index.ts';
import { type Fault, unprocessable } from '../lib/errors.ts';
import type { Found, Kind, KindName } from './kind.ts';

/** All things of the workspace by kind, with secrets in clear: it never leaves this process. */
export type State = ReadonlyMap<KindName, readonly Found[]>;

/** Reads the workspace. `kinds` are in an order in which each refers only to those before it. */
export const readState = async (executor: Executor, kinds: readonly Kind[]): Promise<State> => {
  const state = new Map<KindName, readonly Found[]>();
  for (const kind of kinds) {
    const names = (of: KindName) => new Map((state.get(of) ?? []).map(({ id, name }) => [id, name]));
    state.set(kind.kind, await kind.list(executor, names));
  }
  return state;
};

export const keyOf = ({ namedBy = ['name'] }: Kind, item: Found['item']): string =>
  JSON.stringify(namedBy.map((field) => item[field]));

/** Faults of names that several things of a kind have: a document could not tell them apart. */
export const ambiguities = (kind: Kind, found: readonly Found[]): Fault[] =>
  [...Map.groupBy(found, ({ item }) => keyOf(kind, item)).values()]
    .filter((same) => same.length > 1)
    .map((same) => ({
      path: `document.${kind.key}`,
      message: `the workspace has ${same.length} of the kind ${kind.kind} with the name "${same[0]!.name}"; rename all but one`,
    }));

export const requireUnique = (kinds: readonly Kind[], state: State): void => {
  const faults = kinds.flatMap((kind) => ambiguities(kind, state.get(kind.kind)!));
  if (faults.length > 0) throw unprocessable(faults);
};
