/** `value` without the keys whose value is undefined. */
export const withoutUndefined = <T extends object>(value: T): T =>
  Object.fromEntries(Object.entries(value).filter(([, field]) => field !== undefined)) as T;

/** `value` without the keys whose value is null or undefined. */
export const withoutNull = <T extends object>(value: T): T =>
  Object.fromEntries(Object.entries(value).filter(([, field]) => field != null)) as T;

/** Returns whether `value` is an object of JSON: neither null nor an array. */
export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** `value` with what `change` returns in place of each of its fields. */
export const mapValues = <T extends object, R>(
  value: T,
  change: (field: T[keyof T], key: keyof T & string) => R,
): { [K in keyof T]: R } => {
  const entries = Object.entries(value) as [keyof T & string, T[keyof T]][];
  return Object.fromEntries(entries.map(([key, field]) => [key, change(field, key)])) as {
    [K in keyof T]: R;
  };
};
