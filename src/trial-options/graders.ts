import { z } from 'zod';
import { id, jsonObject, jsonValue, text } from '../http/index.ts';
import { pointerTokens } from '../lib/json-pointer.ts';
import { compileSchema } from '../lib/json-schema.ts';
import { mapValues } from '../lib/objects.ts';
import { compilePattern } from '../lib/pattern.ts';
import { type Field, nullable, required, withDefault } from '../resource/index.ts';

/** The graders of datasets, cases, experiments and gates, each field written once. */

const mostOfDataset = 20;
const mostOfCase = 10;
const maxSchemaKb = 32;

const pointer = text(1_000)
  .refine((value) => pointerTokens(value) !== null, {
    error:
      'is not a JSON Pointer (RFC 6901): it must be empty or begin with `/`, and ~ must be followed by 0 or 1',
  })
  .describe('JSON Pointer into the output; null: all of it.');

const path = nullable(pointer);
const expected = nullable(jsonValue.describe('Takes the place of what the case expects; null: none.'));
const ignoreCase = withDefault(z.boolean(), false);
const toolName = text(200, 1);

const jsonSchemaOfOutput = jsonObject.superRefine((schema, context) => {
  if (Buffer.byteLength(JSON.stringify(schema)) > maxSchemaKb * 1_024) {
    context.addIssue({ code: 'custom', message: `must have at most ${maxSchemaKb} KB as JSON` });
    return;
  }
  try {
    compileSchema(schema);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const message = `is not a JSON Schema (2020-12) that can be used without fetching others: ${reason}`;
    context.addIssue({ code: 'custom', message });
  }
});

const expectedCall = z.object({
  tool_name: toolName,
  arguments: jsonObject.nullish().describe('The call must have these; it may have more.'),
});

type Fields = Record<string, Field>;
type Created<F extends Fields> = { [K in keyof F]: F[K]['create'] };
type Shown<F extends Fields> = { [K in keyof F]: F[K]['shown'] };

/** The fields of all graders, and those of one type. */
const kind = <const T extends string, F extends Fields>(type: T, own: F) => {
  const common = {
    name: withDefault(text(100, 1).describe('Unique in its list. Default: the type.'), type as string),
    threshold: withDefault(z.number().min(0).max(1).describe('The least value that passes.'), 1),
    negate: withDefault(z.boolean().describe('The value becomes 1 − value.'), false),
  };
  const id = type
    .split('_')
    .map((word) => word[0]!.toUpperCase() + word.slice(1))
    .join('');
  const fields = { ...common, ...own };
  const created = mapValues(fields, ({ create }) => create) as Created<typeof common & F>;
  const shown = mapValues(fields, (field) => field.shown) as Shown<typeof common & F>;
  return {
    body: z.object({ type: z.literal(type), ...created }).meta({ id: `${id}GraderBody` }),
    shown: z.object({ type: z.literal(type), ...shown }).meta({ id: `${id}Grader` }),
  };
};

const equals = kind('equals', { path, expected, ignore_case: ignoreCase });

const contains = kind('contains', {
  values: nullable(z.array(text(10_000, 1)).min(1).max(50).describe('Default: what the case expects.')),
  mode: withDefault(z.enum(['all', 'any']), 'all'),
  ignore_case: ignoreCase,
});

const regex = kind('regex', {
  pattern: required(
    text(1_000, 1).describe('Regular expression of ECMAScript, found anywhere in the output.'),
  ),
  flags: withDefault(
    z.string().regex(/^(?!.*(.).*\1)[ims]*$/, 'must be of `i`, `m` and `s`, each once at most'),
    '',
  ),
  path,
});

const jsonSchema = kind('json_schema', { schema: required(jsonSchemaOfOutput), path });

const jsonSubset = kind('json_subset', { path, expected });

const toolCalls = kind('tool_calls', {
  match: required(
    z
      .enum(['set', 'order', 'exact'])
      .describe('Share of the calls made, in any order or in this order; or exactly these calls.'),
  ),
  calls: nullable(z.array(expectedCall).max(50).describe('Default: the calls of the recording.')),
  never: withDefault(z.array(toolName).max(50).describe('A call of one of these tools: 0.'), []),
});

const sql = kind('sql', {
  query: required(text(50_000, 1).describe('One SELECT over the data frames of the trial.')),
  expected: nullable(
    z
      .array(z.union([z.array(jsonValue), jsonObject]))
      .max(1_000)
      .describe('The rows that it must return. Null: its first cell is true, false or a number from 0 to 1.'),
  ),
});

const cost = kind('cost', {
  max_tokens: required(z.int().min(1).max(1_000_000_000).describe('Input and output tokens.')),
});

const duration = kind('duration', { max_seconds: required(z.number().positive().max(86_400)) });

const steps = kind('steps', { max_steps: required(z.int().min(1).max(100_000).describe('Model calls.')) });

const llmJudge = kind('llm_judge', {
  rubric: required(text(10_000, 1).describe('What a good output is.')),
  llm_id: nullable(id.describe('The model that judges; null: the default LLM configuration.')),
  votes: withDefault(z.int().min(1).max(5), 1),
});

const human = kind('human', { question: required(text(2_000, 1)) });

const types = [
  'equals',
  'contains',
  'regex',
  'json_schema',
  'json_subset',
  'tool_calls',
  'sql',
  'cost',
  'duration',
  'steps',
  'llm_judge',
  'human',
] as const;

/** A grader as clients give it. Its output has every field. */
export const graderSchema = z
  .discriminatedUnion(
    'type',
    [
      equals.body,
      contains.body,
      regex.body.superRefine(({ pattern, flags }, context) => {
        try {
          compilePattern(pattern, flags);
        } catch (error) {
          const message = `is not a regular expression: ${(error as Error).message}`;
          context.addIssue({ code: 'custom', path: ['pattern'], message });
        }
      }),
      jsonSchema.body,
      jsonSubset.body,
      toolCalls.body,
      sql.body,
      cost.body,
      duration.body,
      steps.body,
      llmJudge.body,
      human.body,
    ],
    {
      error: (issue) =>
        issue.code === 'invalid_union'
          ? `is not a type of grader; the types are: ${types.join(', ')}`
          : undefined,
    },
  )
  .meta({ id: 'GraderBody' });

/** A grader as it is stored and shown: every field, null or the default where it was left out. */
export type Grader = z.output<typeof graderSchema>;
export type GraderOf<T extends Grader['type']> = Extract<Grader, { type: T }>;

export const shownGrader = z
  .discriminatedUnion('type', [
    equals.shown,
    contains.shown,
    regex.shown,
    jsonSchema.shown,
    jsonSubset.shown,
    toolCalls.shown,
    sql.shown,
    cost.shown,
    duration.shown,
    steps.shown,
    llmJudge.shown,
    human.shown,
  ])
  .meta({ id: 'Grader' });

const graderList = (most: number) =>
  z
    .array(graderSchema)
    .max(most)
    .superRefine((list, context) => {
      const seen = new Set<string>();
      for (const [i, { name }] of list.entries()) {
        const message = `has the name of another one (${name}): give it a \`name\` of its own`;
        if (seen.has(name)) context.addIssue({ code: 'custom', path: [i], message });
        seen.add(name);
      }
    });

/** The graders of a dataset, or those of an experiment, which take their place. */
export const datasetGraders = graderList(mostOfDataset);

/** The graders that a case adds. */
export const caseGraders = graderList(mostOfCase);

/** The graders of a trial. One of the case takes the place of one of the same name. */
export const gradersOfTrial = (shared: readonly Grader[], own: readonly Grader[]): Grader[] => {
  const replaced = new Set(own.map(({ name }) => name));
  return [...shared.filter(({ name }) => !replaced.has(name)), ...own];
};

/** The LLM configurations that judges name, each with its path from the list: `[1].llm_id`. */
export const judgeLlms = (graders: readonly Grader[]): { path: string; id: string }[] =>
  graders.flatMap((grader, i) =>
    grader.type === 'llm_judge' && grader.llm_id !== null
      ? [{ path: `[${i}].llm_id`, id: grader.llm_id }]
      : [],
  );
