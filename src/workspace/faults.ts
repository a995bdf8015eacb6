import { ApiError, type Fault, unprocessable } from '../lib/errors.ts';

/** The faults that an error names; its message if it names none. */
export const faultsOf = (error: unknown): Fault[] => {
  if (!(error instanceof ApiError)) throw error;
  const { details } = error.context as { details?: Fault[] };
  if (details) return details;
  // Some rules name the field at the beginning of the message.
  const [, field, message] = /^([a-z_]+): (.*)$/s.exec(error.message) ?? [];
  return [field ? { path: field, message: message! } : { path: '', message: error.message }];
};

export const faultsIn = (check: () => unknown): Fault[] => {
  try {
    check();
    return [];
  } catch (error) {
    return faultsOf(error);
  }
};

/** Runs all checks, and throws one 422 with the faults of all. */
export const requireAll = (...checks: (() => unknown)[]): void => {
  const faults = checks.flatMap(faultsIn);
  if (faults.length > 0) throw unprocessable(faults);
};

export const inside = (outer: string, path: string): string => {
  if (path === '' || path === 'body') return outer;
  if (outer === '') return path;
  return path.startsWith('[') ? outer + path : `${outer}.${path}`;
};

export const at = (outer: string, faults: readonly Fault[]): Fault[] =>
  faults.map(({ path, message }) => ({ path: inside(outer, path), message }));
