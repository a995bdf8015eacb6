import type { z } from 'zod';
import { validate } from '../../http/index.ts';
import { ApiError, type Fault, unprocessable } from '../../lib/errors.ts';
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

/**
 * Reads an item by the schema of the body that creates it over the API, and refuses keys that the schema does not know.
 * `renamed`: the fields of a document that are called otherwise in the body.
 */
export const readBody = <S extends z.ZodType>(
  schema: S,
  given: Item,
  renamed: Readonly<Record<string, string>> = {},
): z.output<S> => {
  const original = new Map(Object.entries(renamed).map(([field, inBody]) => [inBody, field]));
  const back = ({ path, message }: Fault): Fault => {
    const [first = ''] = path.split(/[.[]/);
    const field = original.get(first);
    return { path: field === undefined ? path : field + path.slice(first.length), message };
  };
  const wrong = Object.keys(given)
    .filter((key) => original.has(key))
    .map((path) => ({ path, message: `is not a field here; use ${original.get(path)}` }));
  const body = Object.fromEntries(
    Object.entries(given)
      .filter(([key]) => !original.has(key))
      .map(([key, value]) => [renamed[key] ?? key, value]),
  );
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
