import { input as words } from '../text/en/input.ts';

type Json = Record<string, unknown>;

/** A field of a form that a tool asks for: one property of its flat schema. */
export interface InputField {
  name: string;
  label: string;
  hint: string | null;
  kind:
    | 'text'
    | 'long'
    | 'email'
    | 'url'
    | 'date'
    | 'datetime-local'
    | 'number'
    | 'choice'
    | 'choices'
    | 'yes';
  whole: boolean;
  required: boolean;
  options: { value: string; label: string }[];
  first: InputValue;
}

/** What is in a field: text, the chosen ones, or whether it is on. */
export type InputValue = string | readonly string[] | boolean;
export type InputValues = Readonly<Record<string, InputValue>>;

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
const textOf = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null);

/** The options of a schema with names (`oneOf`, `anyOf`, `enumNames`) or without (`enum`). */
const optionsOf = (schema: Json): InputField['options'] => {
  const named = listOf(schema.oneOf ?? schema.anyOf).filter(isObject);
  if (named.length > 0)
    return named.map(({ const: value, title }) => ({
      value: String(value),
      label: textOf(title) ?? String(value),
    }));
  const names = listOf(schema.enumNames);
  return listOf(schema.enum).map((value, i) => ({
    value: String(value),
    label: textOf(names[i]) ?? String(value),
  }));
};

const formats: Record<string, InputField['kind']> = {
  email: 'email',
  uri: 'url',
  date: 'date',
  'date-time': 'datetime-local',
};
/** A text that may be longer than this has several lines. */
const oneLine = 200;

const kindOf = (schema: Json, options: readonly unknown[]): InputField['kind'] => {
  const { type, format, maxLength } = schema;
  if (type === 'array') return 'choices';
  if (options.length > 0) return 'choice';
  if (type === 'boolean') return 'yes';
  if (type === 'number' || type === 'integer') return 'number';
  return formats[String(format)] ?? (Number(maxLength ?? 0) > oneLine ? 'long' : 'text');
};

/** `2026-11-29T08:00` in the zone of the browser, as a field for a date and a time has it. */
const toLocal = (text: string): string => {
  const at = new Date(text);
  if (Number.isNaN(at.getTime())) return '';
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
};

const firstOf = (kind: InputField['kind'], given: unknown): InputValue => {
  if (kind === 'yes') return given === true;
  if (kind === 'choices') return listOf(given).map(String);
  if (given === undefined || given === null) return '';
  return kind === 'datetime-local' ? toLocal(String(given)) : String(given);
};

/** The fields of a schema, in the order of its author. */
export const inputFields = (schema: unknown): InputField[] => {
  if (!isObject(schema) || !isObject(schema.properties)) return [];
  const required = listOf(schema.required);
  return Object.entries(schema.properties).flatMap(([name, property]) => {
    if (!isObject(property)) return [];
    const options = optionsOf(
      property.type === 'array' && isObject(property.items) ? property.items : property,
    );
    const kind = kindOf(property, options);
    return {
      name,
      label: textOf(property.title) ?? name,
      hint: textOf(property.description),
      kind,
      whole: property.type === 'integer',
      required: required.includes(name),
      options,
      first: firstOf(kind, property.default),
    };
  });
};

export const firstValues = (fields: readonly InputField[]): InputValues =>
  Object.fromEntries(fields.map(({ name, first }) => [name, first]));

/** The answer of a field; undefined if there is none. Throws the fault as a text. */
const answerOf = ({ kind, whole, required }: InputField, value: InputValue): unknown => {
  if (kind === 'yes') return value === true;
  if (kind === 'choices') return required || (value as string[]).length > 0 ? value : undefined;
  const text = value as string;
  if (text.trim() === '') {
    if (required) throw words.required;
    return undefined;
  }
  if (kind === 'number') {
    const number = Number(text);
    if (!Number.isFinite(number)) throw words.notNumber;
    if (whole && !Number.isInteger(number)) throw words.notInteger;
    return number;
  }
  if (kind === 'datetime-local') {
    const at = new Date(text);
    if (Number.isNaN(at.getTime())) throw words.notTime;
    return at.toISOString();
  }
  return text;
};

/** What is sent for the values, and the faults that can be found here; the API finds the others. */
export const answersOf = (
  fields: readonly InputField[],
  values: InputValues,
): { answers: Json; faults: Record<string, string> } => {
  const answers: Json = {};
  const faults: Record<string, string> = {};
  for (const field of fields) {
    try {
      const answer = answerOf(field, values[field.name] ?? field.first);
      if (answer !== undefined) answers[field.name] = answer;
    } catch (fault) {
      if (typeof fault !== 'string') throw fault;
      faults[field.name] = fault;
    }
  }
  return { answers, faults };
};

/** The faults of a refused answer by the names of its fields: `decisions[0].arguments.name`. */
export const answerFaults = (details: readonly { path: string; message: string }[]): Record<string, string> =>
  Object.fromEntries(
    details.flatMap(({ path, message }) => {
      const name = /\.arguments(?:\.([^.[]+)|\["(.*)"\])/.exec(path);
      return name ? [[name[1] ?? name[2]!, message]] : [];
    }),
  );

/** An address that a person is asked to open, in the parts around its host; null if it is none. */
export interface Address {
  href: string;
  before: string;
  host: string;
  after: string;
  /** The host has labels in punycode: it may look like another one. */
  punycode: boolean;
}

/** Reads an address. Its host is shown as it is resolved, so that letters of other scripts do not pass for Latin ones. */
export const readAddress = (url: string | null): Address | null => {
  if (url === null || !URL.canParse(url)) return null;
  const { href, protocol, host, hostname } = new URL(url);
  if (protocol !== 'https:' && protocol !== 'http:') return null;
  const at = href.indexOf(host, protocol.length);
  return {
    href,
    before: href.slice(0, at),
    host,
    after: href.slice(at + host.length),
    punycode: hostname.split('.').some((label) => label.startsWith('xn--')),
  };
};
