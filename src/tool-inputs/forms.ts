import { z } from 'zod';
import { compileArgumentCheck } from '../lib/json-schema.ts';
import { isObject } from '../lib/objects.ts';

type Json = Record<string, unknown>;

const maxFields = 50;
const maxSchemaBytes = 32 * 1024;
const maxAnswerBytes = 64 * 1024;

const isText = (value: unknown) => typeof value === 'string';
const isNumber = (value: unknown) => typeof value === 'number';
const isCount = (value: unknown) => Number.isInteger(value) && (value as number) >= 0;
const isTextList = (value: unknown): value is string[] => Array.isArray(value) && value.every(isText);

/** The formats of texts, and what each requires. */
const formats = {
  email: { schema: z.email(), fault: 'must be an e-mail address' },
  uri: { schema: z.url(), fault: 'must be an address with a scheme' },
  date: { schema: z.iso.date(), fault: 'must be a date such as 2026-01-31' },
  'date-time': {
    schema: z.iso.datetime({ offset: true }),
    fault: 'must be a time with an offset such as 2026-01-31T12:00:00Z',
  },
} as const;

/** Keywords by which a field would be more than one flat value. */
const nesting = ['$ref', '$dynamicRef', 'allOf', 'not', 'if', 'properties', 'prefixItems', 'contains'];

const textKeywords = { minLength: isCount, maxLength: isCount, pattern: isText };
const numberKeywords = {
  ...{ minimum: isNumber, maximum: isNumber, exclusiveMinimum: isNumber, exclusiveMaximum: isNumber },
  multipleOf: isNumber,
};
const listKeywords = { minItems: isCount, maxItems: isCount, uniqueItems: (v: unknown) => v === true };

const picked = (field: Json, keywords: Record<string, (value: unknown) => boolean>): Json =>
  Object.fromEntries(
    Object.entries(keywords).flatMap(([name, fits]) => (fits(field[name]) ? [[name, field[name]]] : [])),
  );

/** The choices of a field: `enum`, or constants with titles. Undefined if it has none, null if they are no texts. */
const choicesOf = (field: Json, titled: 'oneOf' | 'anyOf'): string[] | null | undefined => {
  const given = field.enum ?? field[titled];
  if (given === undefined) return undefined;
  if (!Array.isArray(given) || given.length === 0) return null;
  const values: unknown[] =
    field.enum === undefined ? given.map((option) => (isObject(option) ? option.const : null)) : given;
  return isTextList(values) ? values : null;
};

/** The schema that the answer to a field is checked by, of what counts; or why it is not flat. */
const fieldOf = (field: unknown): Json | string => {
  if (!isObject(field)) return 'is not an object';
  const nested = nesting.find((name) => Object.hasOwn(field, name));
  if (nested !== undefined) return `has ${nested}`;
  switch (field.type) {
    case 'string': {
      const choices = choicesOf(field, 'oneOf');
      if (choices === null || (field.anyOf !== undefined && choices === undefined))
        return 'has choices that are no texts';
      if (choices) return { type: 'string', enum: choices };
      const { format } = field;
      if (format !== undefined && !(isText(format) && Object.hasOwn(formats, format as string))) {
        return 'has a format that forms do not have';
      }
      return { type: 'string', ...picked(field, textKeywords) };
    }
    case 'number':
    case 'integer':
      return { type: field.type, ...picked(field, numberKeywords) };
    case 'boolean':
      return { type: 'boolean' };
    case 'array': {
      const { items } = field;
      const choices = isObject(items)
        ? choicesOf(items, items.oneOf === undefined ? 'anyOf' : 'oneOf')
        : null;
      if (!choices) return 'is a list of something else than choices';
      return { type: 'array', items: { type: 'string', enum: choices }, ...picked(field, listKeywords) };
    }
    default:
      return 'is neither text, number, integer, boolean nor choices';
  }
};

/** Returns why people cannot be asked to fill in a form; null if they can. */
export const formFault = (schema: unknown): string | null => {
  if (!isObject(schema) || schema.type !== 'object' || !isObject(schema.properties)) {
    return 'a form whose schema is not a flat object';
  }
  if (Buffer.byteLength(JSON.stringify(schema)) > maxSchemaBytes) return 'a form of more than 32 KB';
  const fields = Object.entries(schema.properties);
  if (fields.length > maxFields) return `a form with more than ${maxFields} fields`;
  const nested = nesting.find((name) => name !== 'properties' && Object.hasOwn(schema, name));
  if (nested !== undefined || schema.anyOf !== undefined || schema.oneOf !== undefined) {
    return 'a form whose schema is not a flat object';
  }
  const { required = [] } = schema;
  if (!isTextList(required) || required.some((name) => !Object.hasOwn(schema.properties as Json, name))) {
    return 'a form that requires fields that it does not have';
  }
  for (const [name, field] of fields) {
    const flat = fieldOf(field);
    if (typeof flat === 'string') return `a form whose field ${JSON.stringify(name.slice(0, 100))} ${flat}`;
  }
  return null;
};

const withDefaults = (properties: Json, answers: Json): Json => {
  const defaults = Object.entries(properties).flatMap(([name, field]) =>
    !Object.hasOwn(answers, name) && isObject(field) && field.default !== undefined
      ? [[name, field.default] as const]
      : [],
  );
  return Object.fromEntries([...defaults, ...Object.entries(answers)]);
};

/** The answers to a form with the defaults of what they leave out, or what is wrong with them. */
export const checkAnswers = (
  schema: Json,
  answers: Json,
): { content: Json; fault?: never } | { fault: string; content?: never } => {
  const properties = schema.properties as Json;
  const content = withDefaults(properties, answers);
  if (Buffer.byteLength(JSON.stringify(content)) > maxAnswerBytes) {
    return { fault: 'must have at most 64 KB as JSON' };
  }
  const flat = Object.fromEntries(Object.entries(properties).map(([name, field]) => [name, fieldOf(field)]));
  const required = (schema.required as string[] | undefined) ?? [];
  const check = compileArgumentCheck(
    { type: 'object', properties: flat, required, additionalProperties: false },
    'answers to a form',
  );
  const fault = check(content);
  if (fault !== null) return { fault };
  for (const [name, field] of Object.entries(properties)) {
    const value = Object.hasOwn(content, name) ? content[name] : undefined;
    const format = formats[(field as Json).format as keyof typeof formats];
    const isFree = (field as Json).enum === undefined && (field as Json).oneOf === undefined;
    if (format && isFree && isText(value) && !format.schema.safeParse(value).success) {
      return { fault: `${name} ${format.fault}` };
    }
  }
  return { content };
};
