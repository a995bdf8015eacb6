import { isObject } from '../../lib/objects.ts';

const textIn = (value: unknown): string | undefined => {
  if (typeof value === 'string' && value !== '') return value;
  if (Array.isArray(value)) return value.map(textIn).filter(Boolean).join('; ') || undefined;
  if (!isObject(value)) return undefined;
  return textIn(value.message) ?? textIn(value.msg) ?? textIn(value.detail);
};

/**
 * Returns the message of an error in the body of a response, in one of the forms in use; undefined if there is none.
 */
export const wordsIn = (body: unknown): string | undefined =>
  isObject(body) ? (textIn(body.error) ?? textIn(body) ?? textIn(body.errors)) : undefined;
