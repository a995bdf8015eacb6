import {
  type Executor,
  json,
  type Page,
  type RawBuilder,
  selectPage,
  sql,
  type Tx,
} from '../database/index.ts';
import {
  type ChangesOf,
  column,
  type RecordOf,
  resource,
  stamps,
  type TableOf,
  type ValuesOf,
} from '../resource/index.ts';
import type { PeriodKey } from './engine/store.ts';
import { fields } from './fields.ts';

export const budgets = resource('budgets', fields, {
  id: column<string>(),
  effective_from: column<Date>(),
  ...stamps,
});

declare module '../database/database.ts' {
  interface Schema {
    budgets: TableOf<typeof budgets>;
  }
}

export type Budget = RecordOf<typeof budgets>;
export type NewBudget = ValuesOf<typeof budgets>;
export type BudgetChanges = ChangesOf<typeof budgets>;

const { columns } = budgets;

/** Every replica knows a new budget by then: each confirms its copy within two seconds. */
const effectiveAfter = sql<Date>`platform_now() + interval '2 seconds'`;

const select = (executor: Executor, withPeople: boolean) => {
  const all = executor.selectFrom('budgets').select(columns);
  return withPeople ? all : all.where(sql<string>`scope ->> 'kind'`, '<>', 'person');
};

/** Newest first. `withPeople`: also those of persons. */
export const listBudgets = async (executor: Executor, page: Page, withPeople: boolean): Promise<Budget[]> =>
  (await selectPage(select(executor, withPeople), page)).map((row) => budgets.read(row));

export const findBudget = async (
  executor: Executor,
  id: string,
  withPeople: boolean,
): Promise<Budget | undefined> => {
  const row = await select(executor, withPeople).where('id', '=', id).executeTakeFirst();
  return row && budgets.read(row);
};

/** The budget, locked until the transaction ends. */
export const findLockedBudget = async (tx: Tx, id: string): Promise<Budget | undefined> => {
  const row = await select(tx, true).where('id', '=', id).forNoKeyUpdate().executeTakeFirst();
  return row && budgets.read(row);
};

/** The id of the budget with this name; undefined if there is none. */
export const findBudgetIdByName = async (executor: Executor, name: string): Promise<string | undefined> =>
  (await executor.selectFrom('budgets').select('id').where('name', '=', name).executeTakeFirst())?.id;

export const insertBudget = async (tx: Tx, id: string, values: NewBudget): Promise<Budget> => {
  const row = await tx
    .insertInto('budgets')
    .values({ id, effective_from: effectiveAfter, ...budgets.write(values) })
    .returning(columns)
    .executeTakeFirstOrThrow();
  return budgets.read(row);
};

/** Deletes the budget. Its periods are locked before its shares, and those before what was settled of them, as everywhere. */
export const deleteBudgetRow = async (tx: Tx, id: string): Promise<void> => {
  const periods = sql`select id from budget_periods where budget_id = ${id}`;
  await sql`${periods} order by id for update`.execute(tx);
  await sql`select from budget_shares where period_id in (${periods}) order by id for update`.execute(tx);
  await sql`delete from budget_settlements where period_id in (${periods})`.execute(tx);
  await tx.deleteFrom('budgets').where('id', '=', id).execute();
};

const subjects: Record<string, RawBuilder<unknown>> = {
  agent: sql`s.id from agents s where s.id = g.id`,
  schedule: sql`s.id from schedules s where s.id = g.id`,
  trigger: sql`s.id from triggers s where s.id = g.id`,
  person: sql`s.id from users s where s.id = g.id`,
  // The first key of the service account, whichever of its keys is given: a rotation keeps its id.
  api_key: sql`coalesce(s.account_id, s.id) from api_keys s
    where s.kind = 'service_account' and g.id in (s.id, s.account_id)`,
  llm_configuration: sql`s.id from llm_configurations s where s.id = g.id`,
};

/** Returns the id of a subject as budgets name it; undefined if there is none. */
export const findSubjectId = async (tx: Tx, kind: string, id: string): Promise<string | undefined> => {
  const { rows } = await sql<{ id: string }>`select found.id from (select ${id}::uuid as id) g
    cross join lateral (select ${subjects[kind]} limit 1) found(id)`.execute(tx);
  return rows[0]?.id;
};

/** What a period holds, in the unit of its budget. */
export interface PeriodFigures {
  id: string;
  starts_at: Date;
  ends_at: Date | null;
  spent: number;
  assumed: number;
  reserved: number;
  extra: number;
  exhausted_at_limit: number | null;
}

const figures = sql`p.id, p.starts_at, p.ends_at, t.spent, t.assumed, t.reserved, p.extra, p.exhausted_at_limit`;

/** The periods of these keys, by the ids of their budgets. A period without calls has no row. */
export const findPeriods = async (
  executor: Executor,
  keys: readonly PeriodKey[],
): Promise<ReadonlyMap<string, PeriodFigures>> => {
  if (keys.length === 0) return new Map();
  const { rows } = await sql<PeriodFigures & { budget_id: string }>`
    select p.budget_id, ${figures}
    from jsonb_to_recordset(${json(keys)}::jsonb) as k(budget_id uuid, subject_id text, starts_at timestamptz)
    join budget_periods p on p.budget_id = k.budget_id and p.subject_id = k.subject_id and p.starts_at = k.starts_at
    join budget_totals t on t.period_id = p.id`.execute(executor);
  return new Map(rows.map((row) => [row.budget_id, row]));
};

/** The periods of a budget, newest first. `from`: those that end after it. */
export const listPeriods = async (
  executor: Executor,
  budgetId: string,
  { limit, next, subject_id, from }: Page & { subject_id?: string | undefined; from?: Date | undefined },
): Promise<(PeriodFigures & { subject_id: string })[]> => {
  const { rows } = await sql<PeriodFigures & { subject_id: string }>`
    select p.subject_id, ${figures} from budget_periods p join budget_totals t on t.period_id = p.id
    where p.budget_id = ${budgetId} and (${next}::uuid is null or p.id < ${next})
      and (${subject_id ?? null}::text is null or p.subject_id = ${subject_id ?? null})
      and (${from ?? null}::timestamptz is null or p.ends_at is null or p.ends_at > ${from ?? null})
    order by p.id desc limit ${limit + 1}`.execute(executor);
  return rows;
};

/** The names of subjects of a kind that are not principals, by their ids. */
export const subjectNames = async (
  executor: Executor,
  kind: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> => {
  const from =
    kind === 'agent'
      ? sql`select id, name from agents`
      : kind === 'llm_configuration'
        ? sql`select id, name from llm_configurations`
        : kind === 'trigger'
          ? sql`select id, name from triggers`
          : sql`select s.id, coalesce(s.work_item_name, a.name) as name from schedules s join agents a on a.id = s.agent_id`;
  const { rows } = await sql<{ id: string; name: string }>`
    select id, name from (${from}) s where id = any(${ids}::uuid[])`.execute(executor);
  return new Map(rows.map(({ id, name }) => [id, name]));
};

/** A period that has not ended, with its enabled budget. */
export interface AttentionRow extends PeriodFigures {
  budget_id: string;
  name: string;
  unit: Budget['unit'];
  action: Budget['action'];
  limit: number;
  notify_percent: number[];
}

/** The periods that have not ended and in which half of the limit is spent or a call was refused; the emptiest first. */
export const listOpenPeriods = async (executor: Executor, withPeople: boolean): Promise<AttentionRow[]> => {
  const { rows } = await sql<AttentionRow>`
    select b.id as budget_id, b.name, b.unit, b.action, b."limit", b.notify_percent, ${figures}
    from budgets b join budget_periods p on p.budget_id = b.id join budget_totals t on t.period_id = p.id
    where b.enabled and (p.ends_at is null or p.ends_at > platform_now()) and p.starts_at <= platform_now()
      and (${withPeople} or b.scope ->> 'kind' <> 'person')
      and (p.exhausted_at_limit is not null or p.notified_percent > 0 or t.spent * 2 >= b."limit" + p.extra)
    order by t.spent::float8 / (b."limit" + p.extra), p.id`.execute(executor);
  return rows;
};
