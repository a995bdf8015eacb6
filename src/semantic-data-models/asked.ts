import { jsonObject, optional, text } from '../http/index.ts';
import { badRequest, unprocessable } from '../lib/errors.ts';

/** The forms of a query: exactly one of these. */
export const askedFields = {
  query: optional(jsonObject).describe('A structured query: metrics, dimensions, filters.'),
  sql: optional(text(50_000, 1)).describe('One SELECT over datasets as tables and fields as columns.'),
  question: optional(text(2_000, 1)).describe('A question in words, which an LLM translates.'),
  verified_query: optional(text(128, 1)).describe('The name of a verified query.'),
};
const names = Object.keys(askedFields);

const givenOf = (body: Record<string, unknown>): string[] =>
  names.filter((name) => body[name] !== undefined && body[name] !== null);

/** Throws 400 if the object at `path` has none of the fields that say what is asked. */
export const requireAsked = (body: Record<string, unknown>, path = ''): void => {
  if (givenOf(body).length > 0) return;
  throw badRequest(`One of ${names.join(', ')} is required.`, {
    details: [{ path: `${path}query`, message: 'is required, or sql, question or verified_query' }],
  });
};

/** Throws 422 if it has several of them. */
export const requireOneAsked = (body: Record<string, unknown>, path = ''): void => {
  const [first, ...others] = givenOf(body);
  if (others.length === 0) return;
  throw unprocessable(
    others.map((name) => ({ path: `${path}${name}`, message: `cannot stand next to ${path}${first}` })),
  );
};
