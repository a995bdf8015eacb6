import { isSame } from '../lib/differences.ts';
import { isObject } from '../lib/objects.ts';
import { documentKeys, type WorkspaceDocument } from './document.ts';
import type { Found, Item, Kind, KindName } from './kind.ts';
import { mapStrings } from './paths.ts';
import { escapeText, isSecret, SecretNames } from './secrets.ts';
import type { State } from './state.ts';

/** `item` without the fields that have their default, inside objects too. */
export const withoutDefaults = (item: Item, defaults: Item): Item =>
  Object.fromEntries(
    Object.entries(item).flatMap(([field, value]): [string, unknown][] => {
      if (!Object.hasOwn(defaults, field)) return [[field, value]];
      const fallback = defaults[field];
      if (isSame(value, fallback)) return [];
      if (!isObject(value) || !isObject(fallback) || Object.keys(fallback).length === 0)
        return [[field, value]];
      const rest = withoutDefaults(value, fallback);
      return Object.keys(rest).length === 0 ? [] : [[field, rest]];
    }),
  );

const byName = (a: Found, b: Found): number => (a.name < b.name ? -1 : 1);

/** The workspace as a document: by names, in a stable order, with references in place of secrets. */
export const exportDocument = (kinds: readonly Kind[], state: State): WorkspaceDocument => {
  const names = new SecretNames();
  const kindOf = (name: KindName) => kinds.find(({ kind }) => kind === name)!;

  const shown = (kind: Kind, { item, name }: Found): unknown => {
    const written = mapStrings(item, (text, path) =>
      isSecret(kind.secrets, path) && !kind.isPlain?.(item, path)
        ? names.referTo(kind.kind, kind.single ? '' : name, path)
        : escapeText(text),
    ) as Item;
    const compact = withoutDefaults(written, kind.defaults);
    return kind.toDocument ? kind.toDocument(compact) : compact;
  };
  const list = (kind: Kind, found: readonly Found[]) =>
    [...found].sort(byName).map((one) => shown(kind, one));

  const ofAgent = (kind: KindName, agent: Found) =>
    list(
      kindOf(kind),
      state.get(kind)!.filter(({ item }) => item.agent === agent.name),
    );
  const agents = () =>
    [...state.get('agent')!].sort(byName).map((agent) => {
      const item = shown(kindOf('agent'), agent) as Item;
      if (agent.item.mode !== 'worker') return item;
      return { ...item, schedules: ofAgent('schedule', agent), triggers: ofAgent('trigger', agent) };
    });

  const document: WorkspaceDocument = {};
  for (const key of documentKeys) {
    const kind = kinds.find((one) => one.key === key);
    if (key === 'version') document.version = 1;
    else if (key === 'agents') document.agents = agents();
    else if (kind && !kind.single) document[key] = list(kind, state.get(kind.kind)!);
    else if (kind) for (const found of state.get(kind.kind)!) document[key] = shown(kind, found);
  }
  return document;
};
