import { type Executor, type Page, sql } from '../../database/index.ts';
import type { CountedJudges } from './compare.ts';

/** Judges and how well they agree with people. Positive is `fail`: a judge is there to find what is wrong. */

interface JudgeCounts {
  id: string;
  key: string;
  rubric: string;
  llm_id: string;
  model: string;
  votes: number;
  /** Trials by the majority of people; ties count nowhere. */
  passed: number;
  failed: number;
  tp: number;
  fp: number;
  tn: number;
  fn: number;
}

const fewestLabels = 50;
const fewestOfEach = 10;

/** Trials with what most people and the judge say of each. */
const byMajority = sql`select l.judge_key, l.trial_id, min(l.judge_verdict) as judge,
    case when count(*) filter (where l.verdict = 'fail') > count(*) filter (where l.verdict = 'pass') then 'fail'
      when count(*) filter (where l.verdict = 'fail') < count(*) filter (where l.verdict = 'pass') then 'pass' end as people
  from labels l where l.judge_verdict is not null group by l.judge_key, l.trial_id, l.grader`;

const shown = ({ passed, failed, tp, fp, tn, fn, model: _, ...judge }: JudgeCounts) => ({
  ...judge,
  labels: { pass: passed, fail: failed },
  confusion: { tp, fp, tn, fn },
  precision: tp + fp === 0 ? null : tp / (tp + fp),
  recall: tp + fn === 0 ? null : tp / (tp + fn),
  calibrated: passed + failed >= fewestLabels && passed >= fewestOfEach && failed >= fewestOfEach,
});

const listCounts = async (
  executor: Executor,
  where: ReturnType<typeof sql>,
  limit: number,
): Promise<JudgeCounts[]> => {
  const of = (people: string, judge?: string) =>
    judge === undefined
      ? sql`(count(*) filter (where m.people = ${sql.lit(people)}))::integer`
      : sql`(count(*) filter (where m.people = ${sql.lit(people)} and m.judge = ${sql.lit(judge)}))::integer`;
  const { rows } = await sql<JudgeCounts>`
    select j.id, j.key, j.rubric, j.llm_id, j.model, j.votes, ${of('pass')} as passed, ${of('fail')} as failed,
      ${of('fail', 'fail')} as tp, ${of('pass', 'fail')} as fp, ${of('pass', 'pass')} as tn, ${of('fail', 'pass')} as fn
    from judges j left join (${byMajority}) m on m.judge_key = j.key where ${where}
    group by j.key order by j.id desc limit ${limit}`.execute(executor);
  return rows;
};

/** Judges, newest first, one more than `limit`. */
export const listJudges = async (executor: Executor, { limit, next }: Page) =>
  (await listCounts(executor, next === null ? sql`true` : sql`j.id < ${next}`, limit + 1)).map(shown);

/** Returns the calibrated ones of the judges that scored trials of these experiments. */
export const listCalibrated = async (
  executor: Executor,
  experimentIds: readonly string[],
): Promise<CountedJudges> => {
  const { rows } = await sql<{ key: string; grader: string }>`
    select distinct s.judge_key as key, s.definition_hash as grader from trials t join scores s on s.trial_id = t.id
    where t.experiment_id = any(${[...experimentIds]}::uuid[]) and s.judge_key is not null`.execute(executor);
  const keys = [...new Set(rows.map(({ key }) => key))];
  if (keys.length === 0) return { keys: new Set(), graders: [] };
  const judges = await listCounts(executor, sql`j.key = any(${keys}::text[])`, keys.length);
  const calibrated = new Set(judges.map(shown).flatMap((one) => (one.calibrated ? [one.key] : [])));
  const graders = rows.flatMap(({ key, grader }) => (calibrated.has(key) ? [grader] : []));
  return { keys: calibrated, graders };
};
