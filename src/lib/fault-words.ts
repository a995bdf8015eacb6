import { z } from 'zod';

const typeNames: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'an array',
  object: 'an object',
  record: 'an object',
  null: 'null',
};

const formats: Readonly<Record<string, string>> = {
  uuid: 'a UUID',
  url: 'a URL',
  email: 'an e-mail address',
  datetime: 'a time such as 2026-01-31T08:00:00Z (RFC 3339)',
  date: 'a date such as 2026-01-31',
};

const units: Readonly<Record<string, readonly [one: string, many: string]>> = {
  string: ['character', 'characters'],
  array: ['item', 'items'],
  object: ['field', 'fields'],
  record: ['field', 'fields'],
};

const list = (values: readonly unknown[]): string => values.map((value) => JSON.stringify(value)).join(', ');

const oneOf = (values: readonly unknown[]): string =>
  `must be ${values.length === 1 ? '' : 'one of '}${list(values)}`;

const typeOf = (value: unknown): string => {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
};

const numberOf = (value: number | bigint | Date): string =>
  value instanceof Date ? value.toISOString() : value.toLocaleString('en-US');

/** A limit of size, or of a number. */
const limit = (
  origin: string,
  bound: number | bigint | Date,
  inclusive: boolean,
  isLower: boolean,
): string => {
  const unit = units[origin];
  if (unit && isLower && Number(bound) === 1) return 'must not be empty';
  if (unit) {
    return `must have at ${isLower ? 'least' : 'most'} ${numberOf(bound)} ${unit[Number(bound) === 1 ? 0 : 1]}`;
  }
  if (inclusive) return `must be at ${isLower ? 'least' : 'most'} ${numberOf(bound)}`;
  return `must be ${isLower ? 'greater' : 'less'} than ${numberOf(bound)}`;
};

const wordsOf = (issue: z.core.$ZodRawIssue): string => {
  switch (issue.code) {
    case 'invalid_type': {
      if (issue.input === undefined) return 'is required';
      const expected = typeNames[issue.expected] ?? `of the type ${issue.expected}`;
      const given = typeNames[typeOf(issue.input)];
      // NaN and 1.5 are numbers too.
      return `must be ${expected}${given && given !== expected && issue.expected !== 'int' ? `, not ${given}` : ''}`;
    }
    case 'invalid_value':
      return oneOf(issue.values);
    case 'too_small':
      return limit(issue.origin, issue.minimum, issue.inclusive ?? false, true);
    case 'too_big':
      return limit(issue.origin, issue.maximum, issue.inclusive ?? false, false);
    case 'not_multiple_of':
      return `must be a multiple of ${issue.divisor}`;
    case 'unrecognized_keys':
      return `has ${issue.keys.length === 1 ? 'a field that is' : 'fields that are'} not known: ${list(issue.keys)}`;
    case 'invalid_format':
      if (issue.format === 'starts_with') return `must begin with ${JSON.stringify(issue.prefix)}`;
      return formats[issue.format]
        ? `must be ${formats[issue.format]}`
        : `must match ${issue.pattern ?? issue.format}`;
    case 'invalid_key':
      return 'has a name that is not possible here';
    case 'invalid_union':
      return Array.isArray(issue.options) && issue.options.length > 0
        ? oneOf(issue.options)
        : 'has none of the forms that are possible here';
    default:
      return 'is not valid';
  }
};

/** The words of zod's own issues, which name a fault of a request, a variable or a document: what it must be. */
z.config({ localeError: wordsOf });
