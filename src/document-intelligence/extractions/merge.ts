import { isObject } from '../../lib/objects.ts';

const isNothing = (value: unknown): boolean => value === null || value === undefined || value === '';

/** Joins what the windows of a document gave: the first value that is something wins, lists are joined. */
export const mergeAnswers = (first: unknown, second: unknown): unknown => {
  if (isNothing(first)) return second;
  if (isNothing(second)) return first;
  if (Array.isArray(first) && Array.isArray(second)) return [...first, ...second];
  if (!isObject(first) || !isObject(second)) return first;
  const keys = new Set([...Object.keys(first), ...Object.keys(second)]);
  const own = (object: object, key: string): unknown =>
    Object.hasOwn(object, key) ? (object as Record<string, unknown>)[key] : undefined;
  return Object.fromEntries([...keys].map((key) => [key, mergeAnswers(own(first, key), own(second, key))]));
};
