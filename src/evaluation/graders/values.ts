import { pointerToken } from '../../lib/json-pointer.ts';
import { isObject } from '../../lib/objects.ts';
import { rfc8785 } from '../../lib/rfc8785.ts';

/** Comparisons of JSON values: texts are compared without the spaces around them. */

/** Returns a value as text: its JSON if it is no text. */
export const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : value === undefined ? '' : JSON.stringify(value);

const comparable = (value: unknown, ignoreCase: boolean): unknown => {
  if (typeof value === 'string') return ignoreCase ? value.trim().toLowerCase() : value.trim();
  if (Array.isArray(value)) return value.map((item) => comparable(item, ignoreCase));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, field]) => [key, comparable(field, ignoreCase)]),
  );
};

/** Returns whether two values are equal as JSON: a text never equals a number. */
export const sameJson = (a: unknown, b: unknown, ignoreCase = false): boolean =>
  rfc8785(comparable(a, ignoreCase)) === rfc8785(comparable(b, ignoreCase));

/** Returns the JSON in a text; the text itself if there is none. Other values stay as they are. */
export const parsedText = (value: unknown): unknown => {
  if (typeof value !== 'string') return value;
  try {
    return JSON.parse(value) as unknown;
  } catch {
    return value;
  }
};

/** Leaves of what is expected, and those that the value has. */
interface Leaves {
  all: number;
  found: number;
  /** JSON Pointer of the first that is missing; null if none is. */
  missing: string | null;
}

/**
 * Counts the leaves of `expected` that `value` has at the same place, lists by position. An empty list or object is a leaf:
 * there must be one at its place, empty or not.
 */
export const countLeaves = (value: unknown, expected: unknown, path = ''): Leaves => {
  const isList = Array.isArray(expected);
  if (isList || isObject(expected)) {
    const entries = Object.entries(expected);
    const hasPlace = isList ? Array.isArray(value) : isObject(value);
    if (entries.length === 0) return { all: 1, found: hasPlace ? 1 : 0, missing: hasPlace ? null : path };
    const sum: Leaves = { all: 0, found: 0, missing: null };
    for (const [key, field] of entries) {
      const at =
        hasPlace && Object.hasOwn(value as object, key) ? (value as Record<string, unknown>)[key] : undefined;
      const inside = countLeaves(at, field, `${path}/${pointerToken(key)}`);
      sum.all += inside.all;
      sum.found += inside.found;
      sum.missing ??= inside.missing;
    }
    return sum;
  }
  const found = value !== undefined && sameJson(value, expected);
  return { all: 1, found: found ? 1 : 0, missing: found ? null : path };
};

/** Returns whether `value` has everything that `expected` has. */
export const isSubset = (value: unknown, expected: unknown): boolean =>
  countLeaves(value, expected).missing === null;
