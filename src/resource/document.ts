import { isObject } from '../lib/objects.ts';
import { Field } from './field.ts';
import type { Shape } from './group.ts';
import { type Reference, type Referred, referencesIn } from './references.ts';

/** The form of a resource in a workspace document, in which names stand in the place of ids. */

type Item = Record<string, unknown>;

/** Returns the replacement of an id or a name. */
type Change = (to: Referred, text: string) => unknown;

/** The fields with their names in a body and in a document, and what they refer to. */
const named = (fields: Shape) =>
  Object.entries(fields).map(([name, field]) => {
    const { as = name, references = [] } = field instanceof Field ? field : {};
    return { name, as, references, field };
  });

const compare = (a: unknown, b: unknown): number => {
  const [one, other] = [String(a), String(b)];
  return one < other ? -1 : one > other ? 1 : 0;
};

/** A list whose order does not count, in one order: by the names, and then by the other values. */
const sorted = (list: readonly unknown[], isOfObjects: boolean): unknown[] => {
  if (!isOfObjects) return [...new Set(list)].sort(compare);
  const values = (one: unknown) => Object.values(one as Item);
  return [...list].sort((a, b) =>
    values(a).reduce((order: number, value, i) => order || compare(value, values(b)[i]), 0),
  );
};

/** `value` with what `change` returns in place of each id (`from` is `id`) or name. */
const replaced = (
  { at, ...reference }: Reference,
  value: unknown,
  change: Change,
  from: 'id' | 'name',
  into: 'id' | 'name',
): unknown => {
  if (at !== undefined) {
    return isObject(value) && Object.hasOwn(value, at)
      ? { ...value, [at]: replaced(reference, value[at], change, from, into) }
      : value;
  }
  const { to, inside } = reference;
  const text = (one: unknown) => (typeof one === 'string' ? change(to, one) : one);
  const one = (object: unknown) => {
    if (!inside) return text(object);
    if (!isObject(object) || !Object.hasOwn(object, inside[from])) return object;
    const { [inside[from]]: named, ...rest } = object;
    return { [inside[into]]: text(named), ...rest };
  };
  return Array.isArray(value) ? value.map(one) : one(value);
};

/** The item of a document that says what `values` are. `nameOf` returns the name of what an id refers to. */
export const itemOf = (fields: Shape, values: object, nameOf: Change): Item =>
  Object.fromEntries(
    named(fields).map(({ name, as, references, field }): [string, unknown] => {
      const value = (values as Item)[name] ?? field.fallback;
      const item = references.reduce(
        (one, reference) => replaced(reference, one, nameOf, 'id', 'name'),
        value,
      );
      const set = references.find(({ isSet }) => isSet);
      return [as, set && Array.isArray(item) ? sorted(item, !!set.inside) : item];
    }),
  );

/** The body that an item of a document is. What is no field stays as it is. */
export const bodyOf = (fields: Shape, item: Item, idOf: Change): Item => {
  const byAs = new Map(named(fields).map((one) => [one.as, one]));
  return Object.fromEntries(
    Object.entries(item).map(([key, value]) => {
      const { name = key, references = [] } = byAs.get(key) ?? {};
      return [
        name,
        references.reduce((one, reference) => replaced(reference, one, idOf, 'name', 'id'), value),
      ];
    }),
  );
};

/** Returns the names in an item that refer to others, with the path of each. */
export const namesIn = (fields: Shape, item: Item) =>
  named(fields).flatMap(({ as, references }) =>
    references.flatMap((reference) => referencesIn(reference, as, item[as], 'name')),
  );

/** Returns the values of fields that a document leaves out. */
export const defaultsOf = (fields: Shape): Item =>
  Object.fromEntries(
    named(fields).flatMap(({ as, field }) => (field.fallback === undefined ? [] : [[as, field.fallback]])),
  );

/** The fields of a body that a document calls otherwise, with their names in the document. */
export const renamedIn = (fields: Shape): Map<string, string> =>
  new Map(named(fields).flatMap(({ name, as }) => (as === name ? [] : [[name, as]])));

/** The path in an item of what a body has at `path`. */
export const pathIn = (fields: Shape, path: string): string => {
  const [first = ''] = path.split(/[.[]/);
  const field = named(fields).find(({ name }) => name === first);
  if (!field) return path;
  const rest = path.slice(first.length);
  return field.references.reduce(
    (shown, { inside }) => (inside ? shown.replace(inside.id, inside.name) : shown),
    field.as + rest,
  );
};
