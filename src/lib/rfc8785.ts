/**
 * Returns the canonical JSON of a value that JSON can hold (RFC 8785, JSON Canonicalization Scheme): keys in the order
 * of their UTF-16 code units, numbers as ECMAScript writes them, no spaces. Fields that are undefined are left out. It
 * writes objects itself, because JavaScript moves keys such as `10` before all others.
 */
export const rfc8785 = (value: unknown): string => {
  if (value === null || typeof value !== 'object') return JSON.stringify(value) ?? 'null';
  if (Array.isArray(value)) return `[${value.map(rfc8785).join(',')}]`;
  const fields = Object.entries(value)
    .filter(([, field]) => field !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, field]) => `${JSON.stringify(key)}:${rfc8785(field)}`);
  return `{${fields.join(',')}}`;
};
