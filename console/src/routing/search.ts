/** The query of an address: one text, or several for a parameter that is repeated. */
export type RawSearch = Record<string, string | string[]>;

/** Reads the query of an address. All values are texts: `?q=12` searches for the text 12. */
export const parseSearch = (search: string): RawSearch => {
  const found: RawSearch = {};
  for (const [name, value] of new URLSearchParams(search)) {
    const before = found[name];
    found[name] = before === undefined ? value : [...(Array.isArray(before) ? before : [before]), value];
  }
  return found;
};

/** Writes the query of an address. Values that are absent or empty are left out. */
export const stringifySearch = (search: Record<string, unknown>): string => {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(search)) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== undefined && one !== null && one !== '' && one !== false) query.append(name, String(one));
    }
  }
  const text = query.toString().replaceAll('%3A', ':').replaceAll('%2C', ',').replaceAll('%2F', '/');
  return text === '' ? '' : `?${text}`;
};

/**
 * Makes the reader of a page's query from one for each parameter. A value that the reader does not know counts as
 * absent. It is undefined by name, because the router puts what is returned over the address as it stands: a parameter
 * that was left out would come through unread.
 */
export const searchSchema =
  <S extends Record<string, (raw: unknown) => unknown>>(readers: S) =>
  (raw: Record<string, unknown>): { [K in keyof S]?: ReturnType<S[K]> } => {
    const search: Record<string, unknown> = {};
    for (const [name, read] of Object.entries(readers)) search[name] = read(raw[name]);
    return search as { [K in keyof S]?: ReturnType<S[K]> };
  };

export const noSearch = searchSchema({});

const first = (raw: unknown): string | undefined => {
  const value = Array.isArray(raw) ? raw[0] : raw;
  return typeof value === 'string' && value !== '' ? value : undefined;
};

export const text = (raw: unknown): string | undefined => first(raw);

/** A parameter that is a moment, as ISO 8601. A link that was cut short has none. */
export const moment = (raw: unknown): string | undefined => {
  const value = first(raw);
  return value === undefined || Number.isNaN(Date.parse(value)) ? undefined : value;
};

export const texts = (raw: unknown): string[] | undefined => {
  const values = (Array.isArray(raw) ? raw : [raw]).filter(
    (value) => typeof value === 'string' && value !== '',
  );
  return values.length === 0 ? undefined : (values as string[]);
};

export const oneOf =
  <const W extends readonly string[]>(words: W) =>
  (raw: unknown): W[number] | undefined =>
    words.find((word) => word === first(raw));

/** A parameter that is there or not: `?live=1`. */
export const flag = (raw: unknown): '1' | undefined => (first(raw) === '1' ? '1' : undefined);
