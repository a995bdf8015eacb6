import type { z } from 'zod';
import { validate } from '../../http/index.ts';
import { ApiError, type Fault, unprocessable } from '../../lib/errors.ts';
import { bodyOf, pathIn, renamedIn, type Shape } from '../../resource/index.ts';
import { clean } from '../paths.ts';
import { unknownKeys } from '../strict.ts';
import type { Item } from './kind.ts';

/** The faults that an error names; its message at `path` if it names none. */
export const faultsOf = (error: unknown, path: string): Fault[] => {
  if (!(error instanceof ApiError)) throw error;
  const { details } = error.context as { details?: Fault[] };
  if (details) return details;
  // Some rules name the field at the beginning of the message.
  const [, field, message] = /^([a-z_]+): (.*)$/s.exec(error.message) ?? [];
  return [field ? { path: field, message: message! } : { path, message: error.message }];
};

/** Runs `check` and returns the faults that it throws. */
export const faultsIn = (check: () => unknown, path = ''): Fault[] => {
  try {
    check();
    return [];
  } catch (error) {
    return faultsOf(error, path);
  }
};

/** The path of `path` inside `outer`. */
export const inside = (outer: string, path: string): string => {
  if (path === '' || path === 'body') return outer;
  if (outer === '') return path;
  return path.startsWith('[') ? outer + path : `${outer}.${path}`;
};

/** Puts a name where an id would be. */
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
  const faults = [...wrong, ...unknownKeys(schema, body).map(back)];
  let parsed: z.output<S> | undefined;
  faults.push(
    ...faultsIn(() => {
      parsed = validate(schema, body, 'body');
    }).map(back),
  );
  if (faults.length > 0) throw unprocessable(faults);
  return clean(parsed) as z.output<S>;
};

/** What is stored, in the form of `readBody`; as it is if the schema has become stricter. */
export const asRead = (schema: z.ZodType, stored: Item): Item => {
  const parsed = schema.safeParse(stored);
  return clean(parsed.success ? parsed.data : stored) as Item;
};

/** The changes of a PATCH that lead from one item to another: null for what goes. */
export const changesOf = (fields: Iterable<string>, after: Item): Item =>
  Object.fromEntries([...fields].map((field) => [field, after[field] ?? null]));
