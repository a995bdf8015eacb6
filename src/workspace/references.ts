import type { Fault } from '../lib/errors.ts';
import { defaultSettings, type Settings } from '../settings/index.ts';
import type { Entry } from './entries.ts';
import { at, inside } from './faults.ts';
import type { Kind, KindName } from './kind.ts';
import type { State } from './state.ts';

const id = (kind: KindName, name: string): string => JSON.stringify([kind, name]);

/** The workspace after the change. */
class After {
  readonly #entries = new Map<string, Entry>();
  readonly #state: State;

  constructor(entries: readonly Entry[], state: State) {
    this.#state = state;
    for (const entry of entries) this.#entries.set(id(entry.kind.kind, entry.name), entry);
  }

  get settings(): Settings {
    const item = this.entry('settings', 'settings')?.item ?? this.#state.get('settings')?.[0]?.item;
    return { ...defaultSettings, ...item };
  }

  entry(kind: KindName, name: string): Entry | undefined {
    return this.#entries.get(id(kind, name));
  }

  isDeleted(kind: KindName, name: string): boolean {
    return this.entry(kind, name)?.action === 'delete';
  }

  /** Returns the reason that nothing can refer to the thing; null if it can. */
  fault(kind: KindName, name: string): string | null {
    const entry = this.entry(kind, name);
    if (entry?.action === 'delete') return `"${name}" is not in the document, and prune deletes it`;
    if (entry) return null;
    const count = this.#state.get(kind)!.filter((found) => found.name === name).length;
    if (count === 1) return null;
    return count === 0
      ? `there is no ${kind} "${name}" in the document or the workspace`
      : `the workspace has ${count} of the kind ${kind} with the name "${name}"; rename all but one`;
  }
}

const referenceFaults = ({ kind, item, path }: Entry, after: After): Fault[] =>
  (item ? kind.references(item) : []).flatMap((reference) => {
    if (kind.kind === 'schedule') return [];
    const message = after.fault(reference.kind, reference.name);
    return message === null ? [] : [{ path: inside(path, reference.path), message }];
  });

/** Things that stay keep their references. */
const deletionFaults = (kinds: readonly Kind[], state: State, after: After): Fault[] =>
  kinds.flatMap((kind) =>
    state.get(kind.kind)!.flatMap(({ name, item }) => {
      if (after.entry(kind.kind, name)) return [];
      return kind
        .references(item)
        .filter((reference) => !reference.weak && after.isDeleted(reference.kind, reference.name))
        .map((reference) => {
          const entry = after.entry(reference.kind, reference.name)!;
          entry.isUsed = true;
          const user = kind.single ? kind.kind : `${kind.kind} "${name}"`;
          const message = `"${reference.name}" cannot be deleted: ${user} uses it`;
          return { path: `document.${entry.kind.key}`, message };
        });
    }),
  );

/** The faults between things: names that do not exist, deletions of what is used, rules that need other things. */
export const faultsBetween = (kinds: readonly Kind[], entries: readonly Entry[], state: State): Fault[] => {
  const after = new After(entries, state);
  const between = [
    ...entries.flatMap((entry) => referenceFaults(entry, after)),
    ...deletionFaults(kinds, state, after),
  ];
  const { settings } = after;
  const checks = entries.flatMap(({ kind, item, path, action }) =>
    item && action !== 'unchanged' ? at(path, kind.check?.(item, settings) ?? []) : [],
  );
  return [...between, ...checks];
};
