import type { z } from 'zod';
import { validate } from '../http/index.ts';
import { type Fault, unprocessable } from '../lib/errors.ts';
import { bodyOf, pathIn, renamedIn, type Shape } from '../resource/index.ts';
import { faultsIn } from './faults.ts';
import type { Item } from './kind.ts';
import { clean } from './paths.ts';
import { unknownKeys } from './strict.ts';

export const itself = (_to: unknown, name: string): string => name;

/**
 * Reads an item by the schema of the body that creates it over the API, and refuses keys that the schema does not know.
 * `fields`: those that a document calls otherwise than the body.
 */
export const readBody = <S extends z.ZodType>(schema: S, given: Item, fields: Shape = {}): z.output<S> => {
  const names = renamedIn(fields);
  const back = ({ path, message }: Fault): Fault => ({ path: pathIn(fields, path), message });
  const wrong = Object.keys(given)
    .filter((key) => names.has(key))
    .map((path) => ({ path, message: `is not a field here; use ${names.get(path)}` }));
  const known = Object.fromEntries(Object.entries(given).filter(([key]) => !names.has(key)));
  const body = bodyOf(fields, known, itself);
  let parsed: z.output<S> | undefined;
  const invalid = faultsIn(() => {
    parsed = validate(schema, body, 'body');
  });
  const faults = [...wrong, ...unknownKeys(schema, body).map(back), ...invalid.map(back)];
  if (faults.length > 0) throw unprocessable(faults);
  return clean(parsed) as z.output<S>;
};

/** Returns a stored body in the form of `readBody`; as it is if the schema has become stricter. */
export const asRead = (schema: z.ZodType, stored: Item): Item => {
  const parsed = schema.safeParse(stored);
  return clean(parsed.success ? parsed.data : stored) as Item;
};

/** The changes of a PATCH that lead to `after` in these fields: null for what goes. */
export const changesOf = (fields: Iterable<string>, after: Item): Item =>
  Object.fromEntries([...fields].map((field) => [field, after[field] ?? null]));
