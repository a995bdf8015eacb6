import type { Path } from '../lib/differences.ts';
import { isObject } from '../lib/objects.ts';

export type { Path };

/** Walking values of JSON by paths, and copying them without losing a key `__proto__`. */

/** `value` with each of its strings, and what is inside, replaced by what `change` returns. */
export const mapStrings = (
  value: unknown,
  change: (text: string, path: Path) => unknown,
  path: Path = [],
): unknown => {
  if (typeof value === 'string') return change(value, path);
  if (Array.isArray(value)) return value.map((one, i) => mapStrings(one, change, [...path, i]));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, field]) => [key, mapStrings(field, change, [...path, key])]),
  );
};

/** `value` without fields that are undefined, at every depth. */
export const clean = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(clean);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, field]) => field !== undefined)
      .map(([key, field]) => [key, clean(field)]),
  );
};

export const valueAt = (value: unknown, path: Path): unknown => {
  let at: unknown = value;
  for (const key of path) {
    const isThere = typeof at === 'object' && at !== null && Object.hasOwn(at, key);
    if (!isThere) return undefined;
    at = (at as Record<string | number, unknown>)[key];
  }
  return at;
};

/** `*` in a pattern stands for any key or index. */
export const matchesPattern = (pattern: string, path: Path): boolean => {
  const parts = pattern.split('.');
  return parts.length === path.length && parts.every((part, i) => part === '*' || part === String(path[i]));
};

/** Maps of headers, attributes and variables. An empty one is the same as none. */
const maps = ['headers', 'additional_headers', 'resource_attributes', 'env'];

/** An item without empty maps, in its settings too. */
export const withoutEmptyMaps = (item: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(item)
      .filter(([field, map]) => !(maps.includes(field) && isObject(map) && Object.keys(map).length === 0))
      .map(([field, value]) => [
        field,
        field === 'settings' && isObject(value) ? withoutEmptyMaps(value) : value,
      ]),
  );
