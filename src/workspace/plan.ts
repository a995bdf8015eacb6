import { canonicalJson } from '../lib/canonical-json.ts';
import { sha256 } from '../lib/crypto.ts';
import type { FieldChange } from '../lib/differences.ts';
import type { Fault } from '../lib/errors.ts';
import type { WorkspaceDocument } from './document.ts';
import { type Action, type Entry, readEntries } from './entries.ts';
import { type Kind, type KindName, kindNames } from './kinds/kind.ts';
import { keysOf } from './kinds/schedules.ts';
import type { MissingSecret, Secrets } from './read.ts';
import { After, faultsBetween } from './references.ts';
import type { State } from './state.ts';

/** A change as it is shown. */
export interface Change {
  action: Action;
  kind: KindName;
  name: string;
  fields: FieldChange[];
}

/** What applying a document would do. */
export interface Plan {
  entries: readonly Entry[];
  after: After;
  /** Everything that is wrong with the document, as far as it can be said without trying. */
  faults: Fault[];
  missing: MissingSecret[];
}

export interface Question {
  document: WorkspaceDocument;
  prune: boolean;
  secrets: Secrets;
}

/**
 * The key of a schedule that is not stored follows from the others. If a change would give one that stays another key, its
 * key is stored.
 */
const storeKeys = (entries: readonly Entry[], state: State): void => {
  const schedules = entries.filter(({ kind }) => kind.kind === 'schedule');
  const byAgent = Map.groupBy(schedules, ({ found, item }) => String((item ?? found?.item)?.agent));
  for (const [agent, own] of byAgent) {
    if (own.every(({ action }) => action === 'unchanged')) continue;
    const entryOf = new Map(own.flatMap((entry) => (entry.found ? [[entry.found.id, entry]] : [])));
    for (;;) {
      const staying = state
        .get('schedule')!
        .filter(({ item, id }) => item.agent === agent && entryOf.get(id)?.action !== 'delete');
      const keys = keysOf(
        staying.map(({ id, item, keyIsStored }) => {
          const entry = entryOf.get(id);
          const isStored = keyIsStored || entry?.action === 'update';
          const work_item_name = (entry?.item ?? item).work_item_name as string | null;
          return { work_item_name, metadata: isStored ? { workspace_key: item.key } : {} };
        }),
      );
      const shifted = staying.findIndex(
        ({ id, item }, i) => entryOf.get(id)?.action === 'unchanged' && keys[i] !== item.key,
      );
      if (shifted === -1) break;
      const entry = entryOf.get(staying[shifted]!.id)!;
      entry.action = 'update';
      entry.changed = new Set(['metadata']);
      entry.fields = [{ path: 'metadata.workspace_key', from: null, to: staying[shifted]!.item.key }];
    }
  }
};

const order = (a: Entry, b: Entry): number =>
  kindNames.indexOf(a.kind.kind) - kindNames.indexOf(b.kind.kind) || (a.name < b.name ? -1 : 1);

/** Compares a document with the workspace. Nothing is tried yet: `run.ts` does that. */
export const planOf = (
  kinds: readonly Kind[],
  state: State,
  { document, prune, secrets }: Question,
): Plan => {
  const { entries, faults, missing } = readEntries(kinds, document, state, secrets, prune);
  storeKeys(entries, state);
  const after = new After(entries, state);
  return {
    entries: entries.sort(order),
    after,
    faults: [...faults, ...faultsBetween(kinds, entries, state, after)],
    missing,
  };
};

export const shownChanges = ({ entries }: Plan): Change[] =>
  entries.map(({ action, kind, name, fields }) => ({ action, kind: kind.kind, name, fields }));

/** Identifies what would be done. It is that of a plan without values of secrets. */
export const fingerprintOf = (plan: Plan): string =>
  sha256(canonicalJson(shownChanges(plan).filter(({ action }) => action !== 'unchanged')));

/** The names of the secrets that must be given, in order. */
export const secretsNeeded = ({ missing }: Plan): string[] =>
  [...new Set(missing.map(({ name }) => name))].sort();
