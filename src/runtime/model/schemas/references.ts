import { keyOfToken } from '../../../lib/json-pointer.ts';
import { isObject } from '../../../lib/objects.ts';
import type { Schema } from './modern.ts';

/** References are followed inside each other this often. */
const maxFollowed = 16;
/** A schema with its references replaced has at most this many objects. */
const maxObjects = 5_000;

/** Returns the target of the reference inside `root`; undefined if it leads nowhere, or out of the schema. */
export const resolveReference = (root: Schema, reference: string): Schema | undefined => {
  if (!reference.startsWith('#')) return undefined;
  let at: unknown = root;
  try {
    for (const token of decodeURIComponent(reference.slice(1)).split('/').slice(1)) {
      const key = keyOfToken(token);
      if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key)) return undefined;
      at = (at as Record<string, unknown>)[key];
    }
  } catch {
    return undefined;
  }
  return isObject(at) ? at : undefined;
};

/** `value` with each object replaced by what `change` makes of it, from the inside out. */
const mapObjects = (value: unknown, change: (node: Schema) => Schema): unknown => {
  if (Array.isArray(value)) return value.map((one) => mapObjects(one, change));
  if (!isObject(value)) return value;
  return change(
    Object.fromEntries(Object.entries(value).map(([key, one]) => [key, mapObjects(one, change)])),
  );
};

/** `root` without references that lead nowhere: providers refuse them, and nothing is fetched. */
export const withoutLostReferences = (root: Schema): Schema =>
  mapObjects(root, (node) => {
    if (typeof node.$ref !== 'string' || resolveReference(root, node.$ref)) return node;
    const { $ref: _, ...rest } = node;
    return rest;
  }) as Schema;

/** `root` without names in `required` whose property the same object does not list. */
export const withoutLostNames = (root: Schema): Schema =>
  mapObjects(root, (node) => {
    const { required, ...rest } = node;
    if (!Array.isArray(required)) return node;
    const listed = isObject(node.properties) ? node.properties : {};
    const names = required.filter((name) => Object.hasOwn(listed, name));
    return names.length > 0 ? { ...rest, required: names } : rest;
  }) as Schema;

/**
 * `root` with what each reference means in its place, and without definitions. What refers to itself is open (`{}`) from
 * there on. Null if that would be too large.
 */
export const withoutReferences = (root: Schema): Schema | null => {
  let objects = 0;
  const inline = (value: unknown, followed: readonly string[]): unknown => {
    if (Array.isArray(value)) return value.map((one) => inline(one, followed));
    if (!isObject(value)) return value;
    if (++objects > maxObjects) throw new RangeError('too large');
    const { $ref, ...rest } = value;
    const named = typeof $ref === 'string' ? rest : value;
    const own = Object.fromEntries(Object.entries(named).map(([key, one]) => [key, inline(one, followed)]));
    if (typeof $ref !== 'string') return own;
    const target = resolveReference(root, $ref);
    if (!target || followed.includes($ref) || followed.length === maxFollowed) return own;
    return { ...(inline(target, [...followed, $ref]) as Schema), ...own };
  };
  const { $defs: _, ...used } = root;
  try {
    return inline(used, []) as Schema;
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
};
