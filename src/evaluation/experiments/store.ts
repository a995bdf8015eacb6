import { type Executor, json, type Page, sql, type Tx } from '../../database/index.ts';
import type { Grader } from '../../trial-options/index.ts';
import type { TrialModes } from './trial-run.ts';

/** SQL of experiments. */

/** A model that trials ask, and the revision of its configuration. */
export interface NamedLlm {
  llm_id: string;
  revision: number;
  model: string;
}

export interface ExperimentRow extends TrialModes {
  id: string;
  dataset_id: string;
  agent_id: string;
  version: number;
  repetitions: number;
  graders: Grader[];
  tags: string[];
  reuse: boolean;
  llms: NamedLlm[];
  publication_id: string | null;
  trials: number;
  cancelled_at: Date | null;
  finished_at: Date | null;
  cost_nano_usd: number;
  /** Calls of models without a known amount. */
  unknown_calls: number;
  created_by: string;
  created_at: Date;
}

const columns = sql`e.id, e.dataset_id, e.agent_id, e.agent_version as version, e.repetitions, e.tools,
  e.replay_order as order, e.on_divergence, e.model, e.approvals, e.graders, e.tags, e.reuse, e.llms, e.publication_id,
  e.trials, e.cancelled_at, e.finished_at, e.cost_nano_usd, e.unknown_calls,
  e.created_by, e.created_at`;

export const findExperiment = async (executor: Executor, id: string): Promise<ExperimentRow | undefined> => {
  const { rows } = await sql<ExperimentRow>`select ${columns} from experiments e where e.id = ${id}`.execute(
    executor,
  );
  return rows[0];
};

export const findLockedExperiment = async (tx: Tx, id: string): Promise<ExperimentRow | undefined> => {
  const { rows } = await sql<ExperimentRow>`select ${columns} from experiments e where e.id = ${id}
    for update`.execute(tx);
  return rows[0];
};

export type ExperimentState = 'queued' | 'running' | 'cancelled' | 'done';

export interface ExperimentFilter {
  agent_id?: string | undefined;
  dataset_id?: string | undefined;
  state?: ExperimentState | undefined;
}

const hasBegun = sql`exists (select from trials t where t.experiment_id = e.id and t.status <> 'queued')`;
const stateIs: Record<ExperimentState, ReturnType<typeof sql>> = {
  cancelled: sql`e.cancelled_at is not null`,
  done: sql`e.cancelled_at is null and not exists (
    select from trials t where t.experiment_id = e.id and t.status in ('queued', 'running'))`,
  running: sql`e.cancelled_at is null and e.finished_at is null and ${hasBegun} and exists (
    select from trials t where t.experiment_id = e.id and t.status in ('queued', 'running'))`,
  queued: sql`e.cancelled_at is null and e.finished_at is null and not ${hasBegun}`,
};

/** Newest first, one more than `limit`. */
export const listExperiments = async (
  executor: Executor,
  { limit, next, agent_id, dataset_id, state }: Page & ExperimentFilter,
): Promise<ExperimentRow[]> => {
  const conditions = [
    sql`true`,
    ...(next === null ? [] : [sql`e.id < ${next}`]),
    ...(agent_id === undefined ? [] : [sql`e.agent_id = ${agent_id}`]),
    ...(dataset_id === undefined ? [] : [sql`e.dataset_id = ${dataset_id}`]),
    ...(state === undefined ? [] : [stateIs[state]]),
  ];
  const { rows } = await sql<ExperimentRow>`select ${columns} from experiments e
    where ${sql.join(conditions, sql` and `)} order by e.id desc limit ${limit + 1}`.execute(executor);
  return rows;
};

export type NewExperiment = Omit<
  ExperimentRow,
  'cancelled_at' | 'finished_at' | 'cost_nano_usd' | 'unknown_calls' | 'created_at'
>;

/** A trial that is to be made. */
export interface NewTrial {
  id: string;
  case: { id: string; revision: number; name: string };
  repetition: number;
}

/** Stores an experiment with all its trials. */
export const insertExperiment = async (
  tx: Tx,
  e: NewExperiment,
  trials: readonly NewTrial[],
): Promise<void> => {
  await sql`insert into experiments (id, dataset_id, agent_id, agent_version, repetitions, tools, replay_order,
      on_divergence, model, approvals, graders, tags, reuse, llms, publication_id, trials, created_by)
    values (${e.id}, ${e.dataset_id}, ${e.agent_id}, ${e.version}, ${e.repetitions}, ${e.tools}, ${e.order},
      ${e.on_divergence}, ${e.model}, ${e.approvals}, ${json(e.graders)}::json, ${e.tags}::text[], ${e.reuse},
      ${json(e.llms)}::jsonb, ${e.publication_id}, ${e.trials}, ${e.created_by})`.execute(tx);
  await sql`insert into trials (id, experiment_id, agent_id, agent_version, case_id, case_revision, case_name,
      repetition, created_by)
    select g.id, ${e.id}::uuid, ${e.agent_id}::uuid, ${e.version}::integer, g.case_id, g.revision, g.name, g.repetition,
      ${e.created_by}
    from unnest(${trials.map(({ id }) => id)}::uuid[], ${trials.map((t) => t.case.id)}::uuid[],
      ${trials.map((t) => t.case.revision)}::integer[], ${trials.map((t) => t.case.name)}::text[],
      ${trials.map(({ repetition }) => repetition)}::integer[]) as g(id, case_id, revision, name, repetition)`.execute(
    tx,
  );
};

/** Days after its end in which a trial can be taken over. */
const reusableDays = 7;

/**
 * Marks which trials of a new experiment take over an earlier one: of the same case and revision, version, repetition,
 * modes and models.
 */
export const markReused = async (tx: Tx, { id }: Pick<ExperimentRow, 'id'>): Promise<void> => {
  await sql`update trials t set reused_from = (
      select o.id from trials o join experiments p on p.id = o.experiment_id
      where o.agent_id = t.agent_id and o.agent_version = t.agent_version and o.case_id = t.case_id
        and o.case_revision = t.case_revision and o.repetition = t.repetition and o.status = 'completed'
        and o.finished_at > platform_now() - make_interval(days => ${reusableDays})
        and (p.tools, p.replay_order, p.on_divergence, p.model, p.approvals, p.llms)
          = (e.tools, e.replay_order, e.on_divergence, e.model, e.approvals, e.llms)
      order by o.finished_at desc, o.id desc limit 1)
    from experiments e where e.id = t.experiment_id and t.experiment_id = ${id}`.execute(tx);
};

/** The cases that an experiment runs, in the revisions that it runs. */
export const listTestedCases = async (executor: Executor, id: string): Promise<NewTrial['case'][]> => {
  const { rows } = await sql<
    NewTrial['case']
  >`select case_id as id, case_revision as revision, case_name as name
    from trials where experiment_id = ${id} and repetition = 1 order by id`.execute(executor);
  return rows;
};

export const updateCancelled = async (tx: Tx, id: string): Promise<void> => {
  await sql`update experiments set cancelled_at = platform_now() where id = ${id}`.execute(tx);
};

/** Requests the cancel of the running trials. Returns their ids. */
export const requestCancel = async (tx: Tx, experimentId: string): Promise<string[]> => {
  const { rows } = await sql<{ id: string }>`update trials set cancel_requested_at = platform_now()
    where experiment_id = ${experimentId} and status = 'running' and cancel_requested_at is null
    returning id`.execute(tx);
  return rows.map(({ id }) => id);
};

export const hasOpenTrials = async (executor: Executor, experimentId: string): Promise<boolean> => {
  const { rows } = await sql`select from trials where experiment_id = ${experimentId}
    and status in ('queued', 'running') limit 1`.execute(executor);
  return rows.length > 0;
};

/** Returns whether an experiment over the dataset has trials that have not ended. */
export const isDatasetInUse = async (executor: Executor, datasetId: string): Promise<boolean> => {
  const { rows } = await sql`select from experiments e join trials t on t.experiment_id = e.id
    where e.dataset_id = ${datasetId} and t.status in ('queued', 'running') limit 1`.execute(executor);
  return rows.length > 0;
};

/** Sets the end of experiments whose last trial has ended. */
export const finishExperiments = async (executor: Executor): Promise<void> => {
  await sql`update experiments e set finished_at = coalesce(
      (select max(t.finished_at) from trials t where t.experiment_id = e.id), platform_now())
    where e.finished_at is null and not exists (
      select from trials t where t.experiment_id = e.id and t.status in ('queued', 'running'))`.execute(
    executor,
  );
};

export const deleteExperimentRow = async (tx: Tx, id: string): Promise<void> => {
  await sql`delete from experiments where id = ${id}`.execute(tx);
};

/** Removes at most `limit` experiments that finished more than `days` ago. Returns how many. */
export const deleteOldExperiments = async (tx: Tx, days: number, limit: number): Promise<number> => {
  const { numAffectedRows } = await sql`delete from experiments where id in (
    select id from experiments where finished_at < platform_now() - make_interval(days => ${days})
    order by finished_at limit ${limit} for update skip locked)`.execute(tx);
  return Number(numAffectedRows ?? 0);
};

/** The models of judges, with the revisions of their configurations, each once. */
export const listJudgeLlms = async (executor: Executor, graders: readonly Grader[]): Promise<NamedLlm[]> => {
  const judges = graders.flatMap((one) => (one.type === 'llm_judge' ? [one.llm_id] : []));
  const { rows } = await sql<NamedLlm>`select l.id as llm_id, l.revision, l.model from llm_configurations l
    where l.id = any(${judges.filter((id) => id !== null)}::uuid[])
      or (${judges.includes(null)} and l.id = (select llm_id from llm_defaults)) order by l.id`.execute(
    executor,
  );
  return rows;
};

/** The models that a version asks, with the revisions of their configurations, each once. */
export const listNamedLlms = async (
  executor: Executor,
  agentId: string,
  version: number,
): Promise<NamedLlm[]> => {
  const { rows } = await sql<NamedLlm>`
    select l.id as llm_id, l.revision,
      case when g.n = 0 then coalesce(v.content ->> 'model', l.model) else l.model end as model
    from agent_versions v cross join lateral (
      select (v.content ->> 'llm_id')::uuid as id, 0::bigint as n
      union all select f.id::uuid, f.n
      from json_array_elements_text(v.content -> 'fallback_llm_ids') with ordinality f(id, n)) g
    join llm_configurations l on l.id = coalesce(g.id, (select llm_id from llm_defaults))
    where v.agent_id = ${agentId} and v.number = ${version} order by g.n`.execute(executor);
  const seen = new Set<string>();
  return rows.filter(({ llm_id }) => !seen.has(llm_id) && seen.add(llm_id));
};
