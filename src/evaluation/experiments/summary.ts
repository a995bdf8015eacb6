import { type Executor, sql } from '../../database/index.ts';
import { addRunUsage, noUsage, type RunUsage, type Usage } from '../../lib/usage.ts';
import type { ExperimentRow, ExperimentState } from './store.ts';

/** Figures of experiments, counted from their trials. */

interface Counts {
  experiment_id: string;
  total: number;
  queued: number;
  running: number;
  completed: number;
  failed: number;
  diverged: number;
  error: number;
  cancelled: number;
  score: number | null;
  /** Trials with a score, and those of them whose graders all pass. */
  scored: number;
  passed: number;
  usage: Partial<RunUsage> | null;
  p50: number | null;
  p95: number | null;
  started_at: Date | null;
}

interface GraderCounts {
  experiment_id: string;
  grader: string;
  mean: number | null;
  pass_rate: number | null;
  scored: number;
  unlabelled: number;
  usage: Partial<Usage> | null;
}

const sums = (column: ReturnType<typeof sql>, names: readonly string[]) =>
  sql`jsonb_build_object(${sql.join(
    names.flatMap((name) => [
      sql`${sql.lit(name)}::text`,
      sql`coalesce(sum((${column} ->> ${sql.lit(name)})::bigint), 0)`,
    ]),
  )})`;

const tokens = ['input_tokens', 'output_tokens', 'cached_input_tokens', 'reasoning_tokens'];

const countTrials = async (executor: Executor, ids: readonly string[]): Promise<Counts[]> => {
  const of = (column: string, value: string) =>
    sql`(count(*) filter (where t.${sql.ref(column)} = ${sql.lit(value)}))::integer`;
  const { rows } = await sql<Counts>`select t.experiment_id, count(*)::integer as total,
      ${of('status', 'queued')} as queued, ${of('status', 'running')} as running,
      ${of('outcome', 'completed')} as completed, ${of('outcome', 'failed')} as failed,
      ${of('outcome', 'diverged')} as diverged, ${of('outcome', 'error')} as error,
      ${of('outcome', 'cancelled')} as cancelled, avg(t.score) as score, count(t.score)::integer as scored,
      (count(*) filter (where t.score is not null and not exists (
        select from scores s where s.trial_id = t.id and s.label in ('fail', 'error'))))::integer as passed,
      ${sums(sql`t.usage`, [...tokens, 'model_calls', 'tool_calls'])} as usage,
      percentile_disc(0.5) within group (order by t.duration_ms) as p50,
      percentile_disc(0.95) within group (order by t.duration_ms) as p95, min(t.started_at) as started_at
    from trials t where t.experiment_id = any(${[...ids]}::uuid[]) group by t.experiment_id`.execute(
    executor,
  );
  return rows;
};

const countScores = async (executor: Executor, ids: readonly string[]): Promise<GraderCounts[]> => {
  const { rows } = await sql<GraderCounts>`select t.experiment_id, s.grader, avg(s.value) as mean,
      avg(case when s.value is not null then (s.label = 'pass')::integer end)::double precision as pass_rate,
      count(s.value)::integer as scored,
      (count(*) filter (where s.type in ('human', 'llm_judge') and not exists (
        select from labels l where l.trial_id = s.trial_id and l.grader = s.grader)))::integer as unlabelled,
      ${sums(sql`s.usage`, tokens)} as usage
    from trials t join scores s on s.trial_id = t.id where t.experiment_id = any(${[...ids]}::uuid[])
    group by t.experiment_id, s.grader order by min(s.position), s.grader`.execute(executor);
  return rows;
};

const stateOf = ({ cancelled_at }: ExperimentRow, { total, queued, running }: Counts): ExperimentState => {
  if (cancelled_at !== null) return 'cancelled';
  if (queued + running === 0) return 'done';
  return queued === total ? 'queued' : 'running';
};

/** Returns experiments as the responses show them. */
export const toResponses = async (executor: Executor, rows: readonly ExperimentRow[]) => {
  const ids = rows.map(({ id }) => id);
  const trials = new Map((await countTrials(executor, ids)).map((one) => [one.experiment_id, one]));
  const scores = Map.groupBy(await countScores(executor, ids), ({ experiment_id }) => experiment_id);
  return rows.map((row) => {
    const counts = trials.get(row.id)!;
    const { total, queued, running, completed, failed, diverged, error, cancelled, scored, passed } = counts;
    const ofGraders = scores.get(row.id) ?? [];
    const judged = ofGraders.reduce((sum, { usage }) => addRunUsage(sum, usage ?? {}), addRunUsage(null, {}));
    const { model_calls: _, tool_calls: __, ...judge_usage } = judged;
    return {
      ...row,
      state: stateOf(row, counts),
      trials: { total, queued, running, completed, failed, diverged, error, cancelled },
      score: counts.score,
      pass_rate: scored === 0 ? null : passed / scored,
      scores: ofGraders.map(({ experiment_id: _id, usage: _usage, ...one }) => one),
      usage: addRunUsage(null, counts.usage ?? {}),
      judge_usage: { ...noUsage, ...judge_usage },
      duration_ms: counts.p50 === null ? null : { p50: counts.p50, p95: counts.p95! },
      started_at: counts.started_at,
    };
  });
};
