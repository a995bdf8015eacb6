import { isSame } from '../lib/differences.ts';
import type { Fault } from '../lib/errors.ts';
import { isObject } from '../lib/objects.ts';
import { showPath } from '../lib/text.ts';
import { faultsOf } from './faults.ts';
import type { Found, Item, Kind } from './kind.ts';
import { mapStrings, type Path, valueAt } from './paths.ts';
import { hasReference, isSecret, namesIn, placeholderFor, unescapeText, withValues } from './secrets.ts';

export type Secrets = ReadonlyMap<string, string>;

/** A secret that must be given, because nothing is stored that could stay. */
export interface MissingSecret {
  path: string;
  name: string;
}

export interface ReadItem {
  /** Undefined if the document has a fault here. */
  item: Item | undefined;
  faults: Fault[];
  missing: MissingSecret[];
  /** The references at paths of secrets, for showing them. */
  references: ReadonlyMap<string, string>;
}

interface Resolved {
  given: Item;
  faults: Fault[];
  missing: MissingSecret[];
  references: Map<string, string>;
}

const elsewhere = 'refers to a secret, and this is no secret field; write $${secret: for the text itself';

/** Replaces references to secrets by their values. A stored one stays, if `keep`, when no value is given. */
const resolve = (
  kind: Kind,
  given: Item,
  found: Found | undefined,
  secrets: Secrets,
  keep: boolean,
): Resolved => {
  const faults: Fault[] = [];
  const missing: MissingSecret[] = [];
  const references = new Map<string, string>();

  const secretOf = (text: string, path: Path): string => {
    const named = namesIn(text);
    if (named.length === 0) return unescapeText(text);
    const at = showPath(path, '');
    if (named.some(({ ok }) => !ok)) {
      faults.push({ path: at, message: 'a name of a secret has letters, digits and _ only' });
      return placeholderFor(path);
    }
    references.set(at, named.map(({ name }) => `\${secret:${name}}`).join(' '));
    const absent = named.filter(({ name }) => !secrets.has(name));
    if (absent.length === 0) return withValues(text, secrets);
    const stored =
      keep &&
      found &&
      (kind.storedSecret ? kind.storedSecret(found, given, path) : valueAt(found.item, path));
    if (typeof stored === 'string') return stored;
    for (const { name } of absent) missing.push({ path: at, name });
    return placeholderFor(path);
  };

  const resolved = mapStrings(given, (text, path) => {
    if (isSecret(kind.secrets, path)) return secretOf(text, path);
    if (hasReference(text)) faults.push({ path: showPath(path, ''), message: elsewhere });
    return unescapeText(text);
  }) as Item;
  return { given: resolved, faults, missing, references };
};

/** Reads what a document says of one thing, which the workspace has if there is `found`. */
export const readItem = (
  kind: Kind,
  given: unknown,
  found: Found | undefined,
  secrets: Secrets,
): ReadItem => {
  const none = { missing: [], references: new Map<string, string>() };
  if (!isObject(given)) {
    return { item: undefined, faults: [{ path: '', message: 'must be an object' }], ...none };
  }
  const attempt = (keep: boolean): ReadItem => {
    const { given: resolved, faults, ...rest } = resolve(kind, given, found, secrets, keep);
    try {
      const item = kind.read(resolved, found);
      return { item: faults.length === 0 ? item : undefined, faults, ...rest };
    } catch (error) {
      return { item: undefined, faults: [...faults, ...faultsOf(error)], ...rest };
    }
  };
  const first = attempt(true);
  if (!found || !first.item || !kind.address) return first;
  // A secret is never sent to a place that it was not given for.
  return isSame(kind.address(found.item), kind.address(first.item)) ? first : attempt(false);
};
