import { parseExactJson } from '../lib/json.ts';
import { scanJson, sentJsonLimits } from '../lib/json-scan.ts';
import { storageFaults } from '../lib/text.ts';

/** A body as a value, or why it has none. */
export type ParsedBody = { value: unknown } | { invalid: string };

const decoder = new TextDecoder('utf-8', { fatal: true });

/** The text of `bytes` in UTF-8, without a byte order mark; null if they are no UTF-8. */
export const utf8 = (bytes: Uint8Array): string | null => {
  try {
    return decoder.decode(bytes);
  } catch {
    return null;
  }
};

const largestExact = 2n ** 53n;

/** A whole number that a double cannot hold becomes text, so that an id of 64 bits keeps its digits. */
const withoutLargeNumbers = (value: unknown): unknown => {
  if (typeof value === 'bigint') {
    return value <= largestExact && value >= -largestExact ? Number(value) : value.toString();
  }
  if (Array.isArray(value)) return value.map(withoutLargeNumbers);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withoutLargeNumbers(item)]));
};

/** The value, unless the database cannot hold it. */
const stored = (value: unknown): ParsedBody => {
  const [fault] = storageFaults(value);
  return fault ? { invalid: `The body cannot be stored: ${fault.path} ${fault.message}.` } : { value };
};

/** Reads JSON in UTF-8. */
export const parseJsonBody = (bytes: Uint8Array): ParsedBody => {
  const { over, storable } = scanJson(bytes, sentJsonLimits);
  if (over === 'depth')
    return { invalid: `The body nests arrays and objects deeper than ${sentJsonLimits.depth} levels.` };
  if (over === 'values')
    return { invalid: `The body has more than ${sentJsonLimits.values.toLocaleString('en')} values.` };
  const text = utf8(bytes);
  if (text === null) return { invalid: 'The body is not encoded in UTF-8.' };
  let value: unknown;
  try {
    // The space is for a body that is one large number, which is found by what stands before it.
    value = withoutLargeNumbers(parseExactJson(` ${text}`));
  } catch {
    return { invalid: 'The body is not JSON.' };
  }
  return storable ? { value } : stored(value);
};

const parseForm = (text: string): ParsedBody => {
  // In one pass: `getAll` for each name takes 13 s for 40,000 fields.
  const fields = new Map<string, string[]>();
  for (const [name, field] of new URLSearchParams(text)) {
    const values = fields.get(name);
    if (values) values.push(field);
    else fields.set(name, [field]);
  }
  const value: Record<string, unknown> = Object.fromEntries(
    [...fields].map(([name, values]) => [name, values.length === 1 ? values[0] : values]),
  );
  if (typeof value.payload === 'string') {
    const payload = parseJsonBody(Buffer.from(value.payload));
    if ('value' in payload) value.payload = payload.value;
  }
  return stored(value);
};

/** The type of a `Content-Type`, in lower case and without parameters; null for none. */
export const mediaType = (contentType: string | undefined): string | null =>
  (contentType ?? '').split(';', 1)[0]!.trim().toLowerCase() || null;

/** Returns whether a body of this type is JSON; no type is taken for it. */
const isJson = (type: string | null): boolean =>
  type === null || /^application\/(?:[\w.+-]+\+)?json$/.test(type);

export const isForm = (type: string | null): boolean => type === 'application/x-www-form-urlencoded';

/**
 * Reads the body of an event by its `Content-Type`: JSON, a form as an object (whose field `payload` may be JSON), any
 * other text as it is. A body of no bytes and no type is null.
 */
export const parseEventBody = (bytes: Uint8Array, contentType: string | undefined): ParsedBody => {
  const type = mediaType(contentType);
  if (bytes.length === 0 && type === null) return { value: null };
  if (isJson(type)) return parseJsonBody(bytes);
  const text = utf8(bytes);
  if (text === null) return { invalid: 'The body is not encoded in UTF-8.' };
  return isForm(type) ? parseForm(text) : stored(text);
};
