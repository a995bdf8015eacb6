import { ApiError, messageOf } from '../../lib/errors.ts';
import { pointerTokens, valueAtTokens } from '../../lib/json-pointer.ts';
import { compileSchema } from '../../lib/json-schema.ts';
import type { Logger } from '../../lib/log.ts';
import { isObject } from '../../lib/objects.ts';
import { storable } from '../../lib/storable.ts';
import { characters } from '../../lib/text.ts';
import { noUsage, type Usage } from '../../lib/usage.ts';
import type { AskedModel } from '../../llm-configurations/index.ts';
import type { Grader, GraderOf } from '../../trial-options/index.ts';
import { compareCalls, type ExpectedCall, type MadeCall } from './calls.ts';
import { judge, judgeKey } from './judge.ts';
import type { PatternMatcher } from './regex.ts';
import { countLeaves, parsedText, sameJson, textOf } from './values.ts';

/** A finished trial as graders see it. */
export interface GradedTrial {
  /** The input of its case as text. */
  input: string;
  result: unknown;
  /** The expected value of its case; null: none. */
  expected: unknown;
  /** The tool calls that the model made, in their order. */
  calls: readonly MadeCall[];
  /** Those of the tape; null: there is none. */
  recordedCalls: readonly ExpectedCall[] | null;
  /** Input and output tokens. */
  tokens: number;
  seconds: number;
  /** Model calls. */
  steps: number;
}

/** Identity of a judge. Another rubric, model or number of votes makes another judge. */
interface JudgeIdentity {
  key: string;
  rubric: string;
  llmId: string;
  model: string;
  votes: number;
}

export interface Score {
  grader: string;
  type: Grader['type'];
  /** From 0 to 1; null: there is none. */
  value: number | null;
  /** Null: it waits for people. */
  label: 'pass' | 'fail' | 'error' | null;
  explanation: string | null;
  /** Tokens that grading used; null: none. */
  usage: Usage | null;
  /** The judge that was asked; null for other graders. */
  judge: JudgeIdentity | null;
}

/** Services that graders need. */
export interface GradingParts {
  matcher: PatternMatcher;
  /** Opens the model of a judge; null: the default LLM configuration. Rejects with ApiError. */
  openModel(llmId: string | null): Promise<AskedModel>;
  /** Runs a query over the data frames of the trial. Rejects with ApiError. */
  queryFrames(
    sql: string,
    limit: number,
  ): Promise<{ columns: readonly string[]; rows: readonly (readonly unknown[])[] }>;
  signal: AbortSignal;
  log: Logger;
}

interface Outcome {
  /** Null: error. */
  value: number | null;
  explanation: string;
  usage?: Usage;
  judge?: JudgeIdentity;
}

const maxExplanation = 2_000;
const shownValue = 300;
/** Values are shares, and 2 of 3 is no exact number. */
const tolerance = 1e-9;

const shortly = (value: unknown): string => {
  const text = textOf(value);
  return text.length <= shownValue ? text : `${text.slice(0, shownValue)} …`;
};

const cut = (text: string): string =>
  storable(
    characters(text) <= maxExplanation ? text : `${[...text].slice(0, maxExplanation - 2).join('')} …`,
  );

const yes = (passes: boolean, explanation: string): Outcome => ({ value: passes ? 1 : 0, explanation });
const noExpectation: Outcome = {
  value: null,
  explanation: 'Neither the grader nor the case says what is expected.',
};
const absent = (path: string): Outcome => yes(false, `The output has nothing at ${path}.`);

/** The part of the output that `path` names; undefined if there is none. */
const at = (output: unknown, path: string | null): unknown =>
  path === null ? output : valueAtTokens(output, pointerTokens(path) ?? []);

const expectedOf = (grader: { expected: unknown }, trial: GradedTrial): unknown =>
  grader.expected ?? trial.expected ?? null;

const gradeEquals = (grader: GraderOf<'equals'>, trial: GradedTrial): Outcome => {
  const expected = expectedOf(grader, trial);
  if (expected === null) return noExpectation;
  const value = at(trial.result, grader.path);
  if (value === undefined) return absent(grader.path ?? '');
  const same = sameJson(value, expected, grader.ignore_case);
  return yes(same, same ? 'It is equal.' : `Expected: ${shortly(expected)}\nOutput: ${shortly(value)}`);
};

const gradeContains = (grader: GraderOf<'contains'>, trial: GradedTrial): Outcome => {
  const { expected } = trial;
  const given = grader.values ?? (Array.isArray(expected) ? expected : expected === null ? [] : [expected]);
  if (given.length === 0) return noExpectation;
  if (given.some((value) => typeof value === 'object' && value !== null)) {
    return { value: null, explanation: 'What the case expects is neither a text nor a list of texts.' };
  }
  const fold = (text: string): string => (grader.ignore_case ? text.toLowerCase() : text);
  const output = fold(textOf(trial.result));
  const values = given.map(textOf);
  const missing = values.filter((value) => !output.includes(fold(value)));
  const passes = grader.mode === 'all' ? missing.length === 0 : missing.length < values.length;
  return yes(passes, missing.length === 0 ? 'All are there.' : `Missing: ${missing.map(shortly).join(', ')}`);
};

const gradeRegex = async (
  grader: GraderOf<'regex'>,
  trial: GradedTrial,
  { matcher }: GradingParts,
): Promise<Outcome> => {
  const value = at(trial.result, grader.path);
  if (value === undefined) return absent(grader.path ?? '');
  const found = await matcher.test(grader.pattern, grader.flags, textOf(value));
  if (found === null) {
    return { value: null, explanation: 'The regular expression took longer than 1 s. Use a simpler one.' };
  }
  return yes(found, found ? 'It is found.' : `It is not found in: ${shortly(value)}`);
};

const gradeJsonSchema = (grader: GraderOf<'json_schema'>, trial: GradedTrial): Outcome => {
  const output = parsedText(trial.result);
  if (grader.path === null && output === trial.result && typeof output === 'string') {
    return yes(false, `The output is not JSON: ${shortly(output)}`);
  }
  const value = at(output, grader.path);
  if (value === undefined) return absent(grader.path ?? '');
  const fault = compileSchema(grader.schema, 'the output of a trial')(value);
  return yes(fault === null, fault ?? 'It is valid.');
};

const gradeJsonSubset = (grader: GraderOf<'json_subset'>, trial: GradedTrial): Outcome => {
  const expected = expectedOf(grader, trial);
  if (expected === null) return noExpectation;
  // A text is read as JSON only where a text is not what is expected.
  const output =
    typeof expected === 'string' && grader.path === null ? trial.result : parsedText(trial.result);
  const value = at(output, grader.path);
  if (value === undefined) return absent(grader.path ?? '');
  const { all, found, missing } = countLeaves(value, expected);
  const first =
    missing === null ? '' : ` The first that is missing or differs: ${missing || 'the whole value'}.`;
  return { value: found / all, explanation: `${found} of ${all} expected values are there.${first}` };
};

const gradeToolCalls = (grader: GraderOf<'tool_calls'>, trial: GradedTrial): Outcome => {
  const wanted = grader.calls ?? trial.recordedCalls ?? (grader.never.length > 0 ? [] : null);
  if (wanted === null) return noExpectation;
  return compareCalls(trial.calls, wanted, grader.match, grader.never);
};

const rowsEqual = (
  expected: readonly unknown[],
  columns: readonly string[],
  rows: readonly (readonly unknown[])[],
): boolean =>
  expected.length === rows.length &&
  expected.every((wanted, i) => {
    const row = rows[i]!;
    if (!isObject(wanted)) return sameJson(row, wanted);
    return sameJson(Object.fromEntries(columns.map((name, k) => [name, row[k]])), wanted);
  });

const gradeSql = async (
  { query, expected }: GraderOf<'sql'>,
  { queryFrames }: GradingParts,
): Promise<Outcome> => {
  let found: Awaited<ReturnType<typeof queryFrames>>;
  try {
    found = await queryFrames(query, expected ? expected.length + 1 : 1);
  } catch (error) {
    if (!(error instanceof ApiError) || error.code === 'internal_error') throw error;
    // The agent did not make the data frame: that is its fault, not that of the query.
    if (error.context.reason === 'unknown_table') return yes(false, error.message);
    return { value: null, explanation: error.message };
  }
  const { columns, rows } = found;
  if (expected) {
    const same = rowsEqual(expected, columns, rows);
    return yes(same, same ? 'The rows are equal.' : `The rows differ: ${shortly(rows)}`);
  }
  const cell = rows[0]?.[0];
  if (cell === undefined) return yes(false, 'The query returned no row.');
  if (typeof cell === 'boolean') return yes(cell, `The first cell is ${cell}.`);
  if (typeof cell === 'number' && cell >= 0 && cell <= 1) {
    return { value: cell, explanation: `The first cell is ${cell}.` };
  }
  return {
    value: null,
    explanation: `The first cell must be true, false or a number from 0 to 1: ${shortly(cell)}`,
  };
};

const gradeByModel = async (
  grader: GraderOf<'llm_judge'>,
  trial: GradedTrial,
  { openModel, signal }: GradingParts,
): Promise<Outcome> => {
  let model: AskedModel;
  try {
    model = await openModel(grader.llm_id);
  } catch (error) {
    if (!(error instanceof ApiError) || error.code === 'internal_error') throw error;
    return { value: null, explanation: `The judge cannot be asked: ${error.message}` };
  }
  const judged = { input: trial.input, expected: trial.expected, output: textOf(trial.result) };
  const { rubric, votes } = grader;
  const { llmId } = model;
  const identity = { key: judgeKey(grader, model), rubric, llmId, model: model.model, votes };
  return { ...(await judge(grader, model, judged, signal)), judge: identity };
};

const outcomeOf = (
  grader: Exclude<Grader, { type: 'human' }>,
  trial: GradedTrial,
  parts: GradingParts,
): Outcome | Promise<Outcome> => {
  switch (grader.type) {
    case 'equals':
      return gradeEquals(grader, trial);
    case 'contains':
      return gradeContains(grader, trial);
    case 'regex':
      return gradeRegex(grader, trial, parts);
    case 'json_schema':
      return gradeJsonSchema(grader, trial);
    case 'json_subset':
      return gradeJsonSubset(grader, trial);
    case 'tool_calls':
      return gradeToolCalls(grader, trial);
    case 'sql':
      return gradeSql(grader, parts);
    case 'cost':
      return yes(trial.tokens <= grader.max_tokens, `It used ${trial.tokens} tokens.`);
    case 'duration':
      return yes(trial.seconds <= grader.max_seconds, `It took ${trial.seconds.toFixed(3)} s.`);
    case 'steps':
      return yes(trial.steps <= grader.max_steps, `It made ${trial.steps} model calls.`);
    case 'llm_judge':
      return gradeByModel(grader, trial, parts);
  }
};

/** Returns the label of a value. */
export const labelOf = ({ threshold }: Pick<Grader, 'threshold'>, value: number): 'pass' | 'fail' =>
  value >= threshold - tolerance ? 'pass' : 'fail';

/** Returns the score of a trial that failed or diverged: 0, whatever the grader. */
export const zeroScore = ({ name, type }: Grader, explanation: string): Score => ({
  grader: name,
  type,
  value: 0,
  label: 'fail',
  explanation,
  usage: null,
  judge: null,
});

/** Grades a trial. A grader that cannot give a value has the label `error`. Rejects only with the reason of the signal. */
export const grade = async (grader: Grader, trial: GradedTrial, parts: GradingParts): Promise<Score> => {
  const { name, type } = grader;
  const score = { grader: name, type, value: null, explanation: null, usage: null, judge: null };
  if (type === 'human') return { ...score, label: null };
  let outcome: Outcome;
  try {
    outcome = await outcomeOf(grader as Exclude<Grader, { type: 'human' }>, trial, parts);
  } catch (error) {
    parts.signal.throwIfAborted();
    parts.log.error({ grader: name, error: messageOf(error) }, 'a grader failed');
    return { ...score, label: 'error', explanation: 'The grader failed; the logs say why.' };
  }
  const { explanation, usage = noUsage, judge: by = null } = outcome;
  const used = usage.input_tokens + usage.output_tokens > 0 ? usage : null;
  const whole = { ...score, explanation: cut(explanation), usage: used, judge: by };
  if (outcome.value === null) return { ...whole, label: 'error' };
  const value = grader.negate ? 1 - outcome.value : outcome.value;
  return { ...whole, value, label: labelOf(grader, value) };
};
