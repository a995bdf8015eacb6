import { type Executor, type Page, sql } from '../../database/index.ts';
import type { Outcome } from './kind.ts';

/** SQL of what only the pages of the application show of experiments. */

interface Named {
  id: string;
  name: string;
}

/** The agents and datasets of experiments, by the ids of the experiments. */
export const listNamesOf = async (
  executor: Executor,
  ids: readonly string[],
): Promise<Map<string, { agent: Named; dataset: Named }>> => {
  const { rows } = await sql<{
    id: string;
    agent_id: string;
    agent_name: string;
    dataset_id: string;
    dataset_name: string;
  }>`select e.id, a.id as agent_id, a.name as agent_name, d.id as dataset_id, d.name as dataset_name
    from experiments e join agents a on a.id = e.agent_id join datasets d on d.id = e.dataset_id
    where e.id = any(${[...ids]}::uuid[])`.execute(executor);
  return new Map(
    rows.map(({ id, agent_id, agent_name, dataset_id, dataset_name }) => [
      id,
      { agent: { id: agent_id, name: agent_name }, dataset: { id: dataset_id, name: dataset_name } },
    ]),
  );
};

export interface CaseFilter {
  outcome?: Outcome | undefined;
  grader?: string | undefined;
  label?: 'pass' | 'fail' | undefined;
}

/** The label that the mark of a trial shows: that of one grader, or the worst of all. */
const labelOf = (grader: string | undefined) =>
  grader === undefined
    ? sql`(select case when bool_or(s.label = 'fail') then 'fail' when bool_or(s.label = 'error') then 'error'
        when bool_and(s.label = 'pass') then 'pass' end from scores s where s.trial_id = t.id)`
    : sql`(select s.label from scores s where s.trial_id = t.id and s.grader = ${grader})`;

interface TrialMark {
  id: string;
  case_id: string;
  case_name: string;
  repetition: number;
  outcome: Outcome | null;
  score: number | null;
  label: 'pass' | 'fail' | 'error' | null;
}

/** The cases of an experiment that have a trial which matches, newest case first, with all their trials. One more than `limit`. */
export const listCasesOf = async (
  executor: Executor,
  experimentId: string,
  { limit, next, outcome, grader, label }: Page & CaseFilter,
): Promise<{ id: string; name: string; trials: TrialMark[] }[]> => {
  const conditions = [
    sql`t.experiment_id = ${experimentId}`,
    ...(next === null ? [] : [sql`t.case_id < ${next}`]),
    ...(outcome === undefined ? [] : [sql`t.outcome = ${outcome}`]),
    ...(label === undefined ? [] : [sql`${labelOf(grader)} = ${label}`]),
    ...(grader === undefined
      ? []
      : [sql`exists (select from scores s where s.trial_id = t.id and s.grader = ${grader})`]),
  ];
  const { rows } = await sql<TrialMark>`
    with page as materialized (
      select t.case_id from trials t where ${sql.join(conditions, sql` and `)}
      group by t.case_id order by t.case_id desc limit ${limit + 1}
    )
    select t.id, t.case_id, t.case_name, t.repetition, t.outcome, t.score, ${labelOf(grader)} as label
    from trials t join page on page.case_id = t.case_id where t.experiment_id = ${experimentId}
    order by t.case_id desc, t.repetition`.execute(executor);
  return [...Map.groupBy(rows, ({ case_id }) => case_id)].map(([id, trials]) => ({
    id,
    name: trials[0]!.case_name,
    trials,
  }));
};

/** Returns whether the case is still in its dataset. */
export const caseExists = async (executor: Executor, id: string): Promise<boolean> => {
  const { rows } = await sql`select from cases where id = ${id}`.execute(executor);
  return rows.length > 0;
};

/** The trials of an experiment that a grader has scored and people can label, oldest first, at most `limit` of the rest. */
export const findLabelQueue = async (
  executor: Executor,
  experimentId: string,
  grader: string,
  limit: number,
): Promise<{ total: number; labelled: number; trial_ids: string[] }> => {
  const { rows } = await sql<{ id: string; labelled: boolean }>`
    select t.id, exists (select from labels l where l.trial_id = t.id and l.grader = ${grader}) as labelled
    from trials t join scores s on s.trial_id = t.id
    where t.experiment_id = ${experimentId} and s.grader = ${grader} and s.type in ('human', 'llm_judge')
    order by t.id`.execute(executor);
  const open = rows.filter(({ labelled }) => !labelled);
  return {
    total: rows.length,
    labelled: rows.length - open.length,
    trial_ids: open.slice(0, limit).map(({ id }) => id),
  };
};
