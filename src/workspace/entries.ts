import { differences, type FieldChange, isSame, newFields } from '../lib/differences.ts';
import type { Fault } from '../lib/errors.ts';
import { isObject } from '../lib/objects.ts';
import { showPath } from '../lib/text.ts';
import type { WorkspaceDocument } from './document.ts';
import { withoutDefaults } from './export.ts';
import { at, inside } from './faults.ts';
import type { Found, Item, Kind, KindName } from './kind.ts';
import type { Path } from './paths.ts';
import { type MissingSecret, readItem, type Secrets } from './read.ts';
import { mapSecrets, unescapeText } from './secrets.ts';
import { ambiguities, keyOf, type State } from './state.ts';

export type Action = 'create' | 'update' | 'delete' | 'unchanged';

/** One thing that the document or the workspace has, and what becomes of it. */
export interface Entry {
  kind: Kind;
  name: string;
  action: Action;
  /** In the document; of what is deleted the list. */
  path: string;
  found: Found | undefined;
  /** As it will be; undefined for what is deleted, and if the document has a fault there. */
  item: Item | undefined;
  fields: FieldChange[];
  changed: ReadonlySet<string>;
  /** It is deleted with what it belongs to. */
  cascades?: boolean;
  /** It is used, which is reported: its deletion is not tried. */
  isUsed?: boolean;
}

export interface Read {
  entries: Entry[];
  faults: Fault[];
  missing: MissingSecret[];
}

interface Given {
  kind: Kind;
  value: unknown;
  path: string;
}

const hidden = '(secret)';

/** The kinds that a document has under their agent, by the list that has them there. */
const underAgents = { schedules: 'schedule', triggers: 'trigger' } as const;

const isUnderAgents = ({ kind }: Kind): boolean => (Object.values(underAgents) as string[]).includes(kind);

const fieldsOf = (
  kind: Kind,
  found: Found | undefined,
  item: Item,
  references: ReadonlyMap<string, string>,
) => {
  const show = (value: unknown, path: Path, side: 'from' | 'to') =>
    value === undefined
      ? null
      : mapSecrets(
          value,
          kind.secrets,
          (secret, secretPath) => {
            const reference = side === 'to' ? references.get(showPath(secretPath, '')) : undefined;
            if (reference !== undefined) return reference;
            return kind.isPlain?.(side === 'from' ? found!.item : item, secretPath) ? secret : hidden;
          },
          path,
        );
  const shown = (one: Item) => {
    const document = kind.toDocument ? kind.toDocument(one) : one;
    return isObject(document) ? document : { [kind.kind]: document };
  };
  return found
    ? differences(shown(found.item), shown(item), show)
    : newFields(shown(withoutDefaults(item, kind.defaults)), show);
};

const changedFields = (before: Item, after: Item): Set<string> =>
  new Set(
    [...Object.keys(before), ...Object.keys(after)].filter((field) => !isSame(before[field], after[field])),
  );

const readEntry = ({ kind, value, path }: Given, found: Found | undefined, secrets: Secrets): Read => {
  const { item, faults, missing, references } = readItem(kind, value, found, secrets);
  const changed = item && found ? changedFields(found.item, item) : new Set<string>();
  const action = !found ? 'create' : changed.size > 0 ? 'update' : 'unchanged';
  const given = isObject(value) ? value : {};
  const entry: Entry = {
    kind,
    name: kind.single ? kind.kind : kind.nameOf(item ?? given),
    action,
    path,
    found,
    item,
    fields: item && action !== 'unchanged' ? fieldsOf(kind, found, item, references) : [],
    changed,
  };
  return {
    entries: [entry],
    faults: at(path, faults),
    missing: missing.map((one) => ({ ...one, path: inside(path, one.path) })),
  };
};

const merge = (reads: readonly Read[]): Read => ({
  entries: reads.flatMap(({ entries }) => entries),
  faults: reads.flatMap(({ faults }) => faults),
  missing: reads.flatMap(({ missing }) => missing),
});

/** Returns the key of an item; undefined if the document has no name for it, which is a fault. */
const keyIn = (kind: Kind, value: unknown): string | undefined => {
  if (!isObject(value)) return undefined;
  const named = kind.identify?.(value) ?? value;
  const names = (kind.namedBy ?? ['name']).map((field) => [field, named[field]] as const);
  const mayBeNull = kind.identify !== undefined;
  if (!names.every(([, name]) => typeof name === 'string' || (mayBeNull && name === null))) return undefined;
  const unescaped = names.map(
    ([field, name]) => [field, name === null ? null : unescapeText(String(name))] as const,
  );
  return keyOf(kind, Object.fromEntries(unescaped));
};

const itemsOf = (
  value: unknown,
  path: string,
): { items: readonly unknown[] | undefined; faults: Fault[] } => {
  if (value === undefined || value === null) return { items: undefined, faults: [] };
  if (Array.isArray(value)) return { items: value, faults: [] };
  return { items: undefined, faults: [{ path, message: 'expected an array' }] };
};

/** Reads all things that a document names, and finds each in the workspace. */
export const readEntries = (
  kinds: readonly Kind[],
  document: WorkspaceDocument,
  state: State,
  secrets: Secrets,
  prune: boolean,
): Read => {
  const faults: Fault[] = [];
  const reads: Read[] = [];
  const deleted: Entry[] = [];
  const kindOf = (name: KindName) => kinds.find(({ kind }) => kind === name)!;

  const remove = (kind: Kind, found: Found, cascades = false): void => {
    const path = `document.${kind.key}`;
    const rest = { item: undefined, fields: [], changed: new Set<string>(), cascades };
    deleted.push({ kind, name: found.name, action: 'delete', path, found, ...rest });
  };

  /** Reads the items of one kind, among the things that `candidates` are. */
  const readAll = (kind: Kind, given: readonly Given[], candidates: readonly Found[]): void => {
    faults.push(...ambiguities(kind, candidates));
    const byKey = new Map(candidates.map((found) => [keyOf(kind, found.item), found]));
    const seen = new Set<string>();
    for (const one of given) {
      const key = keyIn(kind, one.value);
      if (key !== undefined && seen.has(key)) {
        const message = `"${kind.nameOf(one.value as Item)}" is in the document twice`;
        faults.push({ path: one.path, message });
        continue;
      }
      if (key !== undefined) seen.add(key);
      reads.push(readEntry(one, key === undefined ? undefined : byKey.get(key), secrets));
    }
    if (!prune) return;
    for (const found of candidates) {
      if (!found.builtIn && !seen.has(keyOf(kind, found.item))) remove(kind, found);
    }
  };

  const readOwn = (list: keyof typeof underAgents, agent: Item, path: string): void => {
    const kind = kindOf(underAgents[list]);
    const { items, faults: wrong } = itemsOf(agent[list], `${path}.${list}`);
    faults.push(...wrong);
    if (!items) return;
    const { name } = agent;
    const given = items.map((value, i) => ({
      kind,
      value: isObject(value) ? { ...value, agent: name } : value,
      path: `${path}.${list}[${i}]`,
    }));
    readAll(
      kind,
      given,
      state
        .get(kind.kind)!
        .filter(({ item }) => typeof name === 'string' && item.agent === unescapeText(name)),
    );
  };

  for (const kind of kinds) {
    const value = document[kind.key];
    const path = `document.${kind.key}`;
    if (value === undefined || value === null || isUnderAgents(kind)) continue;
    if (kind.single) {
      const isText = kind.kind === 'default_llm';
      if (isText && typeof value !== 'string') {
        faults.push({ path, message: 'must be the name of an LLM configuration' });
        continue;
      }
      const given = { kind, value: isText ? { default_llm: value } : value, path };
      reads.push(readEntry(given, state.get(kind.kind)![0], secrets));
      continue;
    }
    const { items, faults: wrong } = itemsOf(value, path);
    faults.push(...wrong);
    if (!items) continue;
    const given = items.map((one, i) => {
      const { schedules: _, triggers: __, ...rest } = isObject(one) ? one : {};
      return { kind, value: isObject(one) && kind.kind === 'agent' ? rest : one, path: `${path}[${i}]` };
    });
    readAll(kind, given, state.get(kind.kind)!);
    if (kind.kind !== 'agent') continue;
    for (const [i, one] of items.entries()) {
      if (!isObject(one)) continue;
      readOwn('schedules', one, `${path}[${i}]`);
      readOwn('triggers', one, `${path}[${i}]`);
    }
  }

  // The schedules and triggers of an agent go with it.
  const gone = new Set(deleted.filter(({ kind }) => kind.kind === 'agent').map(({ name }) => name));
  for (const kind of Object.values(underAgents)) {
    for (const found of state.get(kind)!)
      if (gone.has(String(found.item.agent))) remove(kindOf(kind), found, true);
  }
  const all = merge(reads);
  return {
    entries: [...all.entries, ...deleted],
    faults: [...faults, ...all.faults],
    missing: all.missing,
  };
};
