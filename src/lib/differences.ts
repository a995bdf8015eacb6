import { canonicalJson } from './canonical-json.ts';
import { isObject } from './objects.ts';
import { showPath } from './text.ts';

/** The keys and positions that lead to a value. */
export type Path = readonly (string | number)[];

/** One field of a change. Of a secret neither value is shown. */
export interface FieldChange {
  path: string;
  from: unknown;
  to: unknown;
}

/** The order of keys does not count. */
export const isSame = (a: unknown, b: unknown): boolean => canonicalJson(a) === canonicalJson(b);

/** Lists of objects of one length are compared item by item, other lists as a whole. */
const areAlike = (a: unknown, b: unknown): a is unknown[] =>
  Array.isArray(a) && Array.isArray(b) && a.length === b.length && a.length > 0 && a.every(isObject);

/** Returns the shown form of a value; secrets are hidden. */
export type Show = (value: unknown, path: Path, side: 'from' | 'to') => unknown;

/** The fields in which two values differ, by path. */
export const differences = (
  from: unknown,
  to: unknown,
  show: Show = (value) => value,
  path: Path = [],
): FieldChange[] => {
  if (isSame(from, to)) return [];
  if (isObject(from) && isObject(to)) {
    const keys = [...new Set([...Object.keys(to), ...Object.keys(from)])];
    const at = (object: Record<string, unknown>, key: string) =>
      Object.hasOwn(object, key) ? object[key] : undefined;
    return keys.flatMap((key) => differences(at(from, key), at(to, key), show, [...path, key]));
  }
  if (areAlike(from, to)) {
    return from.flatMap((one, i) => differences(one, (to as unknown[])[i], show, [...path, i]));
  }
  return [{ path: showPath(path), from: show(from, path, 'from'), to: show(to, path, 'to') }];
};

const emptied = (value: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(value).flatMap(([key, field]) => (isObject(field) ? [[key, emptied(field)]] : [])),
  );

/** The fields of a new thing, each value of an object by itself. */
export const newFields = (value: Record<string, unknown>, show: Show): FieldChange[] =>
  differences(emptied(value), value, show);
