import { type Executor, json, sql, type Tx } from '../../database/index.ts';
import { newId } from '../../lib/ids.ts';
import type { RunUsage, Usage } from '../../lib/usage.ts';
import type { MessagePart } from '../../messages/index.ts';
import type { RunError } from '../../runs/index.ts';
import type { Score } from '../graders/grade.ts';
import type { Divergence } from './tape.ts';

/** SQL of what a finished trial has. */

export interface StoredMessage {
  role: 'user' | 'assistant' | 'tool' | 'system';
  content: MessagePart[];
}

/** Fields stored when a trial ends. */
export interface TrialRecord {
  verdict: 'completed' | 'failed' | 'diverged' | null;
  result: unknown;
  error: RunError | null;
  messages: StoredMessage[];
  transcript_hash: string;
  divergences: Divergence[];
  unused_calls: number;
  usage: RunUsage;
  model: string | null;
  duration_ms: number;
  score: number | null;
}

export interface StoredScore extends Score {
  /** SHA-256 of the grader. */
  definitionHash: string;
}

/** Stores what the trial ended with. The holder of its lease has locked the row. */
export const storeTrial = async (
  tx: Tx,
  trialId: string,
  record: TrialRecord,
  scores: readonly StoredScore[],
): Promise<void> => {
  const { verdict, error, messages, transcript_hash, divergences, unused_calls, duration_ms, score } = record;
  await sql`update trials set verdict = ${verdict}, error = ${error && json(error)}::jsonb,
    messages = ${json(messages)}::json, transcript_hash = ${transcript_hash}, divergences = ${json(divergences)}::json,
    unused_calls = ${unused_calls}, duration_ms = ${duration_ms}, score = ${score} where id = ${trialId}`.execute(
    tx,
  );
  for (const { judge } of scores) {
    if (!judge) continue;
    await sql`insert into judges (key, id, rubric, llm_id, model, votes)
      values (${judge.key}, ${newId()}, ${judge.rubric}, ${judge.llmId}, ${judge.model}, ${judge.votes})
      on conflict (key) do nothing`.execute(tx);
  }
  for (const [position, one] of scores.entries()) {
    await sql`insert into scores (trial_id, grader, position, type, definition_hash, value, label, explanation, usage,
        judge_key)
      values (${trialId}, ${one.grader}, ${position}, ${one.type}, ${one.definitionHash}, ${one.value}, ${one.label},
        ${one.explanation}, ${one.usage && json(one.usage)}::jsonb, ${one.judge?.key ?? null})`.execute(tx);
  }
};

/** Returns the record of a completed trial, for one that takes it over; undefined if it is gone. */
export const findRecord = async (executor: Executor, id: string): Promise<TrialRecord | undefined> => {
  const { rows } =
    await sql<TrialRecord>`select verdict, result, error, messages, transcript_hash, divergences,
    unused_calls, usage, model, duration_ms, score from trials where id = ${id} and status = 'completed'`.execute(
      executor,
    );
  return rows[0];
};

export interface ScoreRow {
  trial_id: string;
  grader: string;
  type: Score['type'];
  definition_hash: string;
  value: number | null;
  label: Score['label'];
  explanation: string | null;
  usage: Usage | null;
  judge_key: string | null;
}

/** The scores of trials, in the order of their graders. */
export const listScores = async (executor: Executor, trialIds: readonly string[]): Promise<ScoreRow[]> => {
  const { rows } =
    await sql<ScoreRow>`select trial_id, grader, type, definition_hash, value, label, explanation,
    usage, judge_key from scores where trial_id = any(${[...trialIds]}::uuid[])
    order by trial_id, position`.execute(executor);
  return rows;
};

export interface JudgeRow {
  key: string;
  rubric: string;
  llm_id: string;
  model: string;
  votes: number;
}

export const listJudgesOf = async (executor: Executor, keys: readonly string[]): Promise<JudgeRow[]> => {
  const { rows } = await sql<JudgeRow>`select key, rubric, llm_id, model, votes from judges
    where key = any(${[...keys]}::text[])`.execute(executor);
  return rows;
};
