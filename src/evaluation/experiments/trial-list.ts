import { type Executor, type Page, sql } from '../../database/index.ts';
import type { RunUsage } from '../../lib/usage.ts';
import type { RunError } from '../../runs/index.ts';
import type { Outcome } from './kind.ts';
import { type Label, listLabels } from './labels.ts';
import type { Divergence } from './tape.ts';
import { listScores, type StoredMessage } from './trial-store.ts';

/** Trials as the responses show them. */

interface TrialRow {
  id: string;
  experiment_id: string;
  case_id: string;
  case_revision: number;
  case_name: string;
  repetition: number;
  outcome: Outcome | null;
  result: unknown;
  error: RunError | null;
  score: number | null;
  divergences: Divergence[] | null;
  unused_calls: number | null;
  usage: RunUsage | null;
  duration_ms: number | null;
  agent_version: number;
  transcript_hash: string | null;
  reused_from: string | null;
}

const columns = sql`t.id, t.experiment_id, t.case_id, t.case_revision, t.case_name, t.repetition, t.outcome, t.result,
  t.error, t.score, t.divergences, t.unused_calls, t.usage, t.duration_ms, t.agent_version, t.transcript_hash,
  t.reused_from`;

export interface TrialFilter {
  outcome?: Outcome | undefined;
  case_id?: string | undefined;
  grader?: string | undefined;
  label?: 'pass' | 'fail' | 'error' | undefined;
  unlabelled?: string | undefined;
}

const scoreThat = (condition: ReturnType<typeof sql>) =>
  sql`exists (select from scores s where s.trial_id = t.id and ${condition})`;

const conditionsOf = ({ outcome, case_id, grader, label, unlabelled }: TrialFilter) => {
  const ofGrader = grader === undefined ? sql`true` : sql`s.grader = ${grader}`;
  return [
    ...(outcome === undefined ? [] : [sql`t.outcome = ${outcome}`]),
    ...(case_id === undefined ? [] : [sql`t.case_id = ${case_id}`]),
    ...(label !== undefined
      ? [scoreThat(sql`${ofGrader} and s.label = ${label}`)]
      : grader === undefined
        ? []
        : [scoreThat(ofGrader)]),
    ...(unlabelled === undefined
      ? []
      : [
          scoreThat(sql`s.grader = ${unlabelled} and s.type in ('human', 'llm_judge')`),
          sql`not exists (select from labels l where l.trial_id = t.id and l.grader = ${unlabelled})`,
        ]),
  ];
};

/** The trials of an experiment, newest first, one more than `limit`. */
export const listTrials = async (
  executor: Executor,
  experimentId: string,
  { limit, next, ...filter }: Page & TrialFilter,
): Promise<TrialRow[]> => {
  const conditions = [
    sql`t.experiment_id = ${experimentId}`,
    ...(next === null ? [] : [sql`t.id < ${next}`]),
    ...conditionsOf(filter),
  ];
  const { rows } =
    await sql<TrialRow>`select ${columns} from trials t where ${sql.join(conditions, sql` and `)}
    order by t.id desc limit ${limit + 1}`.execute(executor);
  return rows;
};

export const findTrial = async (
  executor: Executor,
  experimentId: string,
  id: string,
): Promise<TrialRow | undefined> => {
  const { rows } = await sql<TrialRow>`select ${columns} from trials t
    where t.experiment_id = ${experimentId} and t.id = ${id}`.execute(executor);
  return rows[0];
};

/** The messages of a trial, oldest first; none before its end. */
export const findTrialMessages = async (executor: Executor, id: string): Promise<StoredMessage[]> => {
  const { rows } = await sql<{
    messages: StoredMessage[] | null;
  }>`select messages from trials where id = ${id}`.execute(executor);
  return rows[0]?.messages ?? [];
};

/** Returns trials with their scores and labels. */
export const toTrialResponses = async (executor: Executor, rows: readonly TrialRow[]) => {
  const ids = rows.map(({ id }) => id);
  const scores = Map.groupBy(await listScores(executor, ids), ({ trial_id }) => trial_id);
  const labels = Map.groupBy(await listLabels(executor, ids), ({ trial_id }: Label) => trial_id);
  return rows.map((row) => ({
    ...row,
    result: row.result ?? null,
    divergences: row.divergences ?? [],
    steps: row.usage?.model_calls ?? null,
    scores: scores.get(row.id) ?? [],
    labels: labels.get(row.id) ?? [],
  }));
};
