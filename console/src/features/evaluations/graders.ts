import { ApiProblem } from '../../api/index.ts';
import type { Grader, GraderBody } from '../../api/types.gen.ts';
import { readValue, valueText } from '../../resource/index.ts';
import { evaluations as words } from '../../text/en/evaluations.ts';

/** Kinds of input for a field of a grader. JSON and lists are text in the form. */
type Kind =
  | 'text'
  | 'mono'
  | 'area'
  | 'json'
  | 'lines'
  | 'number'
  | 'flag'
  | 'llm'
  | 'modesOfContains'
  | 'matches';

export type GraderType = Grader['type'];
export type FieldName = keyof typeof words.graderFields;

/** The fields of each type besides those that all have. */
export const graderFields: Readonly<Record<GraderType, readonly (readonly [FieldName, Kind])[]>> = {
  equals: [
    ['path', 'mono'],
    ['expected', 'json'],
    ['ignore_case', 'flag'],
  ],
  contains: [
    ['values', 'lines'],
    ['mode', 'modesOfContains'],
    ['ignore_case', 'flag'],
  ],
  regex: [
    ['pattern', 'mono'],
    ['flags', 'mono'],
    ['path', 'mono'],
  ],
  json_schema: [
    ['schema', 'json'],
    ['path', 'mono'],
  ],
  json_subset: [
    ['path', 'mono'],
    ['expected', 'json'],
  ],
  tool_calls: [
    ['match', 'matches'],
    ['calls', 'json'],
    ['never', 'lines'],
  ],
  sql: [
    ['query', 'area'],
    ['expected', 'json'],
  ],
  cost: [['max_tokens', 'number']],
  duration: [['max_seconds', 'number']],
  steps: [['max_steps', 'number']],
  llm_judge: [
    ['rubric', 'area'],
    ['llm_id', 'llm'],
    ['votes', 'number'],
  ],
  human: [['question', 'area']],
};

export type FieldValue = string | number | boolean | null;

/** A grader in the form. */
export interface GraderValues {
  type: GraderType;
  name: string;
  threshold: number | null;
  negate: boolean;
  fields: Readonly<Record<string, FieldValue>>;
}

const firstOf: Record<Kind, FieldValue> = {
  text: '',
  mono: '',
  area: '',
  json: '',
  lines: '',
  number: null,
  flag: false,
  llm: null,
  modesOfContains: 'all',
  matches: 'set',
};

const firstFields = (type: GraderType): Record<string, FieldValue> =>
  Object.fromEntries(graderFields[type].map(([name, kind]) => [name, name === 'votes' ? 1 : firstOf[kind]]));

export const newGrader = (type: GraderType): GraderValues => ({
  type,
  name: '',
  threshold: 1,
  negate: false,
  fields: firstFields(type),
});

const toField = (kind: Kind, value: unknown): FieldValue => {
  if (value === null || value === undefined) return firstOf[kind];
  if (kind === 'json') return valueText(value);
  return kind === 'lines' ? (value as string[]).join('\n') : (value as FieldValue);
};

export const toGraderValues = (graders: readonly Grader[]): GraderValues[] =>
  graders.map((grader) => {
    const all = grader as unknown as Record<string, unknown>;
    return {
      type: grader.type,
      name: grader.name,
      threshold: grader.threshold,
      negate: grader.negate,
      fields: Object.fromEntries(
        graderFields[grader.type].map(([name, kind]) => [name, toField(kind, all[name])]),
      ),
    };
  });

const sent = (kind: Kind, value: FieldValue | undefined): unknown => {
  if (kind === 'json') return readValue(String(value));
  if (kind === 'lines') {
    const lines = String(value)
      .split('\n')
      .filter((line) => line.trim() !== '');
    return lines.length === 0 ? undefined : lines;
  }
  return value === '' || value === null ? undefined : value;
};

const wantsJson = ['schema', 'calls'];

/** The bodies of graders. Throws the fault of a field that must be JSON and is none. */
export const toGraderBodies = (graders: readonly GraderValues[]): GraderBody[] =>
  graders.map(({ type, name, threshold, negate, fields }) => {
    const own = graderFields[type].map(([field, kind]) => {
      const value = sent(kind, fields[field]);
      if (wantsJson.includes(field) && typeof value === 'string') {
        const message = words.notJson(words.graderFields[field]);
        throw new ApiProblem(422, { details: [{ path: 'graders', message }] });
      }
      return [field, value === null ? undefined : value] as const;
    });
    return {
      type,
      ...(name !== '' && { name }),
      threshold: threshold ?? 1,
      negate,
      ...Object.fromEntries(own.filter(([, value]) => value !== undefined)),
    } as GraderBody;
  });
