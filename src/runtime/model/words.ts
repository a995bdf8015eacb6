import { isObject } from '../../lib/objects.ts';

const textIn = (value: unknown): string | undefined => {
  if (typeof value === 'string' && value !== '') return value;
  if (Array.isArray(value)) return value.map(textIn).filter(Boolean).join('; ') || undefined;
  if (!isObject(value)) return undefined;
  return textIn(value.message) ?? textIn(value.msg) ?? textIn(value.detail);
};

/** What an endpoint says of an error in the body of its response, in one of the forms in use; undefined if nothing. */
export const wordsIn = (body: unknown): string | undefined =>
  isObject(body) ? (textIn(body.error) ?? textIn(body) ?? textIn(body.errors)) : undefined;
