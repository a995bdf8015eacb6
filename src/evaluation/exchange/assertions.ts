import { isObject } from '../../lib/objects.ts';
import { numberedName } from '../../lib/text.ts';

/** Assertions of promptfoo as graders. */

type Fields = Record<string, unknown>;

/** A grader that is not checked yet, or null if the assertion is left out, with remarks; or a fault. */
export type ReadAssertion = { grader: Fields | null; notes: string[] } | { fault: string };

const escaped = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');

const textOf = (value: unknown): unknown =>
  typeof value === 'number' || typeof value === 'boolean' || typeof value === 'bigint'
    ? String(value)
    : value;

/** The texts of a list, or of a text with commas between them. */
const listOf = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(textOf);
  const text = textOf(value);
  if (typeof text !== 'string') return text;
  return text
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '');
};

const schemaOf = (value: unknown): unknown => {
  if (value === undefined || value === null) return {};
  if (typeof value !== 'string') return value;
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
};

const callsOf = (value: unknown): unknown => {
  const list = listOf(value);
  if (!Array.isArray(list)) return list;
  return list.map((one: unknown) => ({ tool_name: isObject(one) ? one.name : one }));
};

/** The fields of the grader of each type of assertion, by its value and its threshold. */
const types: Record<string, (value: unknown, threshold: unknown) => Fields> = {
  equals: (value) => ({ type: 'equals', expected: value }),
  contains: (value) => ({ type: 'contains', values: [textOf(value)] }),
  icontains: (value) => ({ type: 'contains', values: [textOf(value)], ignore_case: true }),
  'contains-any': (value) => ({ type: 'contains', values: listOf(value), mode: 'any' }),
  'contains-all': (value) => ({ type: 'contains', values: listOf(value), mode: 'all' }),
  regex: (value) => ({ type: 'regex', pattern: textOf(value) }),
  'starts-with': (given) => {
    const value = textOf(given);
    return { type: 'regex', pattern: typeof value === 'string' ? `^${escaped(value)}` : value };
  },
  'is-json': (value) => ({ type: 'json_schema', schema: schemaOf(value) }),
  'llm-rubric': (value) => ({ type: 'llm_judge', rubric: value }),
  latency: (_value, threshold) => ({
    type: 'duration',
    max_seconds: typeof threshold === 'number' ? threshold / 1_000 : threshold,
  }),
  'tool-call-f1': (value, threshold) => ({
    type: 'tool_calls',
    match: 'set',
    calls: callsOf(value),
    ...(threshold === undefined ? {} : { threshold }),
  }),
};

/** Types of assertions whose threshold the grader has. */
const withThreshold = new Set(['latency', 'tool-call-f1']);

export const isFile = (value: unknown): boolean => typeof value === 'string' && value.startsWith('file://');

export const readAssertion = (assertion: unknown): ReadAssertion => {
  if (!isObject(assertion) || typeof assertion.type !== 'string') {
    return { fault: 'has an assertion without a `type`' };
  }
  const { type: whole, value, threshold, metric, ...others } = assertion;
  const isNegated = whole.startsWith('not-');
  const type = isNegated ? whole.slice(4) : whole;
  const make = Object.hasOwn(types, type) ? types[type] : undefined;
  if (!make) {
    return { grader: null, notes: [`the assertion ${whole} has no grader that is like it, and is left out`] };
  }
  if (isFile(value))
    return { fault: `${whole}: refers to a file, which is not imported; write its text here` };
  const leftOut = Object.keys(others);
  if (threshold !== undefined && !withThreshold.has(type)) leftOut.push('threshold');
  const grader = {
    ...make(value, threshold),
    ...(typeof metric === 'string' && metric !== '' ? { name: metric } : {}),
    ...(isNegated ? { negate: true } : {}),
  };
  return { grader, notes: leftOut.map((key) => `\`${key}\` of the assertion ${whole} is left out`) };
};

/** The graders with names of their own: the second one of a name gets `-2`. */
export const withUniqueNames = (graders: readonly Fields[]): Fields[] => {
  const taken = new Set<string>();
  return graders.map((grader) => {
    const name = String(grader.name ?? grader.type);
    const free = numberedName(name, (one) => taken.has(one));
    taken.add(free);
    return free === grader.type ? grader : { ...grader, name: free };
  });
};
