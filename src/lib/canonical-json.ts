/**
 * Returns JSON with the keys of objects in order, so that equal values have equal text: jsonb does not keep the order
 * of keys. Returns `''` for undefined.
 */
export const canonicalJson = (value: unknown): string =>
  JSON.stringify(value, (_key, v: unknown) =>
    v !== null && typeof v === 'object' && !Array.isArray(v)
      ? Object.fromEntries(Object.entries(v).sort(([a], [b]) => (a < b ? -1 : 1)))
      : v,
  ) ?? '';
