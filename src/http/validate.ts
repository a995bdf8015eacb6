import '../lib/fault-words.ts';
import type { z } from 'zod';
import { ApiError, badRequest, type Fault, unprocessable } from '../lib/errors.ts';
import { parseJson } from '../lib/json.ts';
import { scanJson, sentJsonLimits } from '../lib/json-scan.ts';
import { mostFaults, showPath, storageFaults } from '../lib/text.ts';

/** No form that is read here has more than one. */
const maxFormFields = 100;

/** The JSON of a body. */
export interface JsonBody {
  value: unknown;
  /** True if all its text and numbers can be stored; false if that is not known. */
  storable: boolean;
}

const decoder = new TextDecoder('utf-8', { fatal: true });

/** Returns the JSON of a request body; undefined if there is no body. Throws 400 if it cannot be read as JSON. */
export const readJson = (
  body: Buffer | undefined,
  contentType: string | undefined,
  encoding: string | undefined,
): JsonBody | undefined => {
  if (body === undefined || body.length === 0) return undefined;
  const [type = '', ...parameters] = (contentType ?? '').split(';').map((part) => part.trim().toLowerCase());
  if (!/^application\/(?:[\w.+-]+\+)?json$/.test(type)) {
    throw badRequest('The Content-Type of the body must be application/json.');
  }
  const charset = parameters
    .find((p) => p.startsWith('charset='))
    ?.slice(8)
    .replaceAll('"', '');
  if (charset && charset !== 'utf-8' && charset !== 'utf8')
    throw badRequest('The body must be encoded in UTF-8.');
  if (encoding && encoding.toLowerCase() !== 'identity') {
    throw badRequest('The body must be sent without a Content-Encoding.');
  }
  const { over, storable } = scanJson(body, sentJsonLimits);
  if (over === 'depth') {
    throw badRequest(`The body nests arrays and objects deeper than ${sentJsonLimits.depth} levels.`);
  }
  if (over === 'values') {
    throw badRequest(
      `The body has more than ${sentJsonLimits.values.toLocaleString('en')} values. Send fewer in one request.`,
    );
  }
  let text: string;
  try {
    text = decoder.decode(body);
  } catch {
    throw badRequest('The body is not valid UTF-8.');
  }
  try {
    return { value: parseJson(text), storable };
  } catch {
    throw badRequest('The body is not valid JSON.');
  }
};

/**
 * Returns the fields of a form (URL Standard, section 5.1); undefined if there is no body. Throws 400 if it is no form, has
 * a field twice, or too many.
 */
export const readForm = (body: Buffer | undefined, contentType: string | undefined): JsonBody | undefined => {
  if (body === undefined || body.length === 0) return undefined;
  if (!/^application\/x-www-form-urlencoded *(;|$)/i.test(contentType ?? '')) {
    throw badRequest('The Content-Type of the body must be application/x-www-form-urlencoded.');
  }
  const text = body.toString('utf8');
  let ampersands = 0;
  for (let at = text.indexOf('&'); at !== -1; at = text.indexOf('&', at + 1)) {
    if (++ampersands >= maxFormFields) throw badRequest(`The form has more than ${maxFormFields} fields.`);
  }
  const fields = [...new URLSearchParams(text)];
  if (new Set(fields.map(([name]) => name)).size < fields.length) {
    throw badRequest('A field of the form is there twice.');
  }
  return { value: Object.fromEntries(fields), storable: false };
};

const valueAt = (value: unknown, path: readonly PropertyKey[]): unknown => {
  let at: unknown = value;
  for (const key of path) {
    if (at === null || typeof at !== 'object') return undefined;
    at = (at as Record<PropertyKey, unknown>)[key];
  }
  return at;
};

/** Returns whether these issues of a branch of a union say that it is for values of another type. */
const isOfOtherType = (issues: readonly z.core.$ZodIssue[]): boolean =>
  issues.some(({ code, path }) => code === 'invalid_type' && path.length === 0);

/**
 * Replaces an issue of a union, which hides the faults inside, by those of the branch with the fewest. Branches for values
 * of another type come last.
 */
const flatten = (issues: readonly z.core.$ZodIssue[]): z.core.$ZodIssue[] =>
  issues.flatMap((issue) => {
    if (issue.code !== 'invalid_union' || issue.errors.length === 0) return [issue];
    const closest = [...issue.errors].sort(
      (a, b) => Number(isOfOtherType(a)) - Number(isOfOtherType(b)) || a.length - b.length,
    )[0]!;
    return flatten(closest.map((inner) => ({ ...inner, path: [...issue.path, ...inner.path] })));
  });

/** Whether the field is left out. An issue of our own can say so of null (`params.absent`), where that means the same. */
const isAbsent = (issue: z.core.$ZodIssue, value: unknown): boolean =>
  issue.path.length > 0 &&
  (valueAt(value, issue.path) === undefined || (issue.code === 'custom' && issue.params?.absent === true));

/** An issue of our own can say more (`params.missing`). */
const missingMessage = (issue: z.core.$ZodIssue): string =>
  issue.code === 'custom' && typeof issue.params?.missing === 'string' ? issue.params.missing : 'is required';

/**
 * Parses `value` by `schema` and returns the result. Throws 400 for a missing field, 422 for a wrong one, and 400 if
 * there are both. Every fault of one of `badRequestFields` is a 400 as well. `details` has the
 * first 100 faults. Text that cannot be stored is no fault of the body if it is inside the list `partsField`; it is not
 * searched for in a value that is known to be `storable`.
 */
export const validate = <S extends z.ZodType>(
  schema: S,
  value: unknown,
  whole: 'body' | 'query',
  badRequestFields: readonly string[] = [],
  partsField?: string,
  storable = false,
): z.output<S> => {
  const parsed = schema.safeParse(value);
  const missing: Fault[] = [];
  const checked = partsField === undefined ? value : { ...(value as object), [partsField]: null };
  const wrong: Fault[] = storable ? [] : storageFaults(checked);
  const seen = new Set(wrong.map((fault) => fault.path));
  for (const issue of parsed.success ? [] : flatten(parsed.error.issues)) {
    const path = showPath(issue.path, whole);
    if (seen.has(path)) continue;
    seen.add(path);
    const isMissing = isAbsent(issue, value);
    (isMissing ? missing : wrong).push({ path, message: isMissing ? missingMessage(issue) : issue.message });
  }
  if (missing.length === 0 && wrong.length === 0) return parsed.data as z.output<S>;
  const all = [...missing, ...wrong];
  const details = all.slice(0, mostFaults);
  if (missing.length > 0 || all.some(({ path }) => badRequestFields.includes(path.split(/[.[]/)[0]!))) {
    throw new ApiError('bad_request', details.map((d) => `${d.path}: ${d.message}`).join('; '), { details });
  }
  throw unprocessable(details);
};
