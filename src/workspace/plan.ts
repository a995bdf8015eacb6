import { canonicalJson } from '../lib/canonical-json.ts';
import { sha256 } from '../lib/crypto.ts';
import type { FieldChange } from '../lib/differences.ts';
import type { Fault } from '../lib/errors.ts';
import type { WorkspaceDocument } from './document.ts';
import { type Action, type Entry, readEntries } from './entries.ts';
import { type Kind, type KindName, kindNames } from './kind.ts';
import type { MissingSecret, Secrets } from './read.ts';
import { faultsBetween } from './references.ts';
import { storeKeys } from './schedule-keys.ts';
import type { State } from './state.ts';

export interface Change {
  action: Action;
  kind: KindName;
  name: string;
  fields: FieldChange[];
}

export interface Plan {
  entries: readonly Entry[];
  /** All faults of the document that are found without trying. */
  faults: Fault[];
  missing: MissingSecret[];
}

export interface Question {
  document: WorkspaceDocument;
  prune: boolean;
  secrets: Secrets;
}

const rankOf = ({ kind, item, found, action }: Entry): number =>
  (kind.order?.(item ?? found?.item ?? {}) ?? 0) * (action === 'delete' ? -1 : 1);

const order = (a: Entry, b: Entry): number =>
  kindNames.indexOf(a.kind.kind) - kindNames.indexOf(b.kind.kind) ||
  rankOf(a) - rankOf(b) ||
  (a.name < b.name ? -1 : 1);

/** Compares a document with the workspace. Nothing is tried yet: `run.ts` does that. */
export const planOf = (
  kinds: readonly Kind[],
  state: State,
  { document, prune, secrets }: Question,
): Plan => {
  const { entries, faults, missing } = readEntries(kinds, document, state, secrets, prune);
  storeKeys(entries, state);
  return {
    entries: entries.sort(order),
    faults: [...faults, ...faultsBetween(kinds, entries, state)],
    missing,
  };
};

export const shownChanges = ({ entries }: Plan): Change[] =>
  entries.map(({ action, kind, name, fields }) => ({ action, kind: kind.kind, name, fields }));

/** Identifies what would be done. It is that of a plan without values of secrets. */
export const fingerprintOf = (plan: Plan): string =>
  sha256(canonicalJson(shownChanges(plan).filter(({ action }) => action !== 'unchanged')));

export const secretsNeeded = ({ missing }: Plan): string[] =>
  [...new Set(missing.map(({ name }) => name))].sort();
