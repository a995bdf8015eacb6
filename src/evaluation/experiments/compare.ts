import { type Executor, sql } from '../../database/index.ts';
import { sha256 } from '../../lib/crypto.ts';
import { compareArms } from '../statistics.ts';

/** Two experiments side by side, case by case. */

/** The mean score of a case in one experiment. */
export interface CaseScore {
  case_id: string;
  name: string;
  /** Null: none of its trials has a score. */
  score: number | null;
  trials: number;
  /** Trials without a score. */
  unscored: number;
  trial_ids: string[];
}

/** The judges whose scores count, and the hashes of their graders: a trial that failed was scored without asking them. */
export interface CountedJudges {
  keys: ReadonlySet<string>;
  graders: readonly string[];
}

/** Returns the scores of the cases of an experiment. With `judges`, only graders count that no person or other judge is. */
export const listCaseScores = async (
  executor: Executor,
  experimentId: string,
  judges: CountedJudges | null = null,
): Promise<CaseScore[]> => {
  const score =
    judges === null
      ? sql`t.score`
      : sql`(select avg(s.value) from scores s where s.trial_id = t.id and case s.type when 'human' then false
          when 'llm_judge' then s.judge_key = any(${[...judges.keys]}::text[])
            or (s.judge_key is null and s.definition_hash = any(${[...judges.graders]}::text[]))
          else true end)`;
  const { rows } = await sql<CaseScore>`select x.case_id, min(x.case_name) as name, avg(x.score) as score,
      count(*)::integer as trials, (count(*) filter (where x.score is null))::integer as unscored,
      array_agg(x.id order by x.repetition) as trial_ids
    from (select t.id, t.case_id, t.case_name, t.repetition, ${score} as score from trials t
      where t.experiment_id = ${experimentId}) x
    group by x.case_id order by min(x.case_name) collate "C", x.case_id`.execute(executor);
  return rows;
};

/** A case of a comparison. `before` and `after` are null where it has no score. */
export interface ComparedCase {
  case_id: string;
  name: string;
  before: number | null;
  after: number | null;
  trials: { before: string[]; after: string[] };
}

/** Pairs the cases of two experiments, the largest drop first; those without a score in both come last. */
export const pairCases = (before: readonly CaseScore[], after: readonly CaseScore[]): ComparedCase[] => {
  const later = new Map(after.map((one) => [one.case_id, one]));
  const earlier = new Set(before.map(({ case_id }) => case_id));
  const paired = before.map((one): ComparedCase => {
    const other = later.get(one.case_id);
    const trials = { before: one.trial_ids, after: other?.trial_ids ?? [] };
    return { case_id: one.case_id, name: one.name, before: one.score, after: other?.score ?? null, trials };
  });
  const added = after
    .filter(({ case_id }) => !earlier.has(case_id))
    .map(({ case_id, name, score, trial_ids }): ComparedCase => {
      return { case_id, name, before: null, after: score, trials: { before: [], after: trial_ids } };
    });
  const dropOf = ({ before: from, after: to }: ComparedCase) =>
    from === null || to === null ? Number.NEGATIVE_INFINITY : from - to;
  return [...paired, ...added].sort((a, b) => dropOf(b) - dropOf(a) || (a.name < b.name ? -1 : 1));
};

type Figures = Awaited<ReturnType<typeof compareArms>>;

/** Figures of the last comparisons, by what they were computed from: a page asks for them again with each of its pages. */
const known = new Map<string, Promise<Figures>>();
const mostKnown = 50;

/** Resolves to the figures of paired cases: of those with a score in both. */
export const figuresOf = (
  cases: readonly ComparedCase[],
  options: { confidence: number; seed: readonly string[] },
): Promise<Figures> => {
  const scored = cases.flatMap(({ before, after }) =>
    before === null || after === null ? [] : [{ before, after }],
  );
  const key = sha256(JSON.stringify([options, scored.map(({ before, after }) => [before, after])]));
  const figures = known.get(key) ?? compareArms(scored, options);
  known.delete(key);
  known.set(key, figures);
  if (known.size > mostKnown) known.delete(known.keys().next().value!);
  return figures;
};
