import { isObject } from '../../lib/objects.ts';
import { nestsDeeperThan } from '../../lib/text.ts';

const maxNesting = 50;

/** The object in the reply of a model, which may stand in a code fence; null if there is none. */
export const objectIn = (reply: string): Record<string, unknown> | null => {
  const text = reply.slice(reply.indexOf('{'), reply.lastIndexOf('}') + 1);
  if (text === '' || nestsDeeperThan(text, maxNesting)) return null;
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
};

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
