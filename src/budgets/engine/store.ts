import { type Executor, json, sql, type Tx } from '../../database/index.ts';
import type { PeriodKind } from './periods.ts';

export const scopeKinds = [
  'workspace',
  'agent',
  'schedule',
  'trigger',
  'person',
  'api_key',
  'llm_configuration',
] as const;
export const units = ['nano_usd', 'tokens'] as const;
export const actions = ['refuse', 'wait', 'ask', 'cheaper'] as const;
export type BudgetAction = (typeof actions)[number];

/** A budget as the engine counts by it. */
export interface CountedBudget {
  id: string;
  name: string;
  /** `id` null: each subject of the kind has the limit for itself. */
  scope: { kind: (typeof scopeKinds)[number]; id: string | null };
  unit: (typeof units)[number];
  limit: number;
  period: PeriodKind;
  timezone: string;
  action: BudgetAction;
  llm_id: string | null;
  from_percent: number;
  notify_percent: number[];
  enabled: boolean;
  effective_from: Date;
  revision: number;
}

/** The period of a subject, by what identifies it in every replica. */
export interface PeriodKey {
  budget_id: string;
  subject_id: string;
  starts_at: Date;
  ends_at: Date | null;
}

/** The room that a call needs of a period. */
export interface Need extends PeriodKey {
  /** The id of the period if it is not there yet. */
  period_id: string;
  share_id: string;
  /** What it must get. */
  short: number;
  /** The bound of one call. */
  bound: number;
  /** Asks for more than that, for the calls that follow. */
  more: boolean;
}

/** What became of a need, and the figures of its period. */
export interface Granted {
  /** The number of the call, and of the need in it, from 1 on. */
  call: number;
  need: number;
  /** False: the call got nothing. */
  ok: boolean;
  period_id: string;
  /** All that was granted to the share so far; null if not ok. */
  granted: number | null;
  spent: number;
  assumed: number;
  limit: number;
  extra: number;
}

/** The state of the database as one replica needs it each second. */
interface Confirmed {
  /** Milliseconds since 1970. */
  now: number;
  /** Changes with every change of a budget. */
  version: string;
  /** False: the replica is lost, or was never registered. */
  held: boolean;
  /** True if replicas were not seen for the lease, or are lost. */
  lost: boolean;
  /** The periods, of those that the replica has shares of, in which others find no room. */
  wanted: string[];
  /** The number of its shares. */
  shares: number;
}

/** Says that the replica is alive, and reads what it must know. `id` null: it is not registered. */
export const confirmReplica = async (
  executor: Executor,
  id: string | null,
  leaseSeconds: number,
): Promise<Confirmed> => {
  const { rows } = await sql<Omit<Confirmed, 'now'> & { now: Date }>`
    with renewed as (
      update budget_replicas set seen_at = platform_now() where id = ${id} and not lost returning id
    )
    select platform_now() as now,
      (select md5(coalesce(string_agg(id::text || revision, ',' order by id), '')) from budgets) as version,
      exists (select from renewed) as held,
      exists (select from budget_replicas
        where lost or seen_at < platform_now() - make_interval(secs => ${leaseSeconds})) as lost,
      array(select distinct s.period_id from budget_shares s join budget_periods p on p.id = s.period_id
        where s.replica_id = ${id} and p.wanted_at > platform_now() - interval '3 seconds') as wanted,
      (select count(*)::integer from budget_shares where replica_id = ${id}) as shares`.execute(executor);
  const row = rows[0]!;
  return { ...row, now: row.now.getTime() };
};

/** All budgets, with the version of exactly these. */
export const readBudgets = async (
  executor: Executor,
): Promise<{ version: string; budgets: CountedBudget[] }> => {
  const { rows } = await sql<{ version: string; budgets: (CountedBudget & { effective_from: string })[] }>`
    select md5(coalesce(string_agg(id::text || revision, ',' order by id), '')) as version,
      coalesce(jsonb_agg(jsonb_build_object('id', id, 'name', name, 'scope', scope, 'unit', unit, 'limit', "limit",
        'period', period, 'timezone', timezone, 'action', action, 'llm_id', llm_id, 'from_percent', from_percent,
        'notify_percent', notify_percent, 'enabled', enabled, 'revision', revision,
        'effective_from', date_part('epoch', effective_from) * 1000) order by id), '[]') as budgets
    from budgets`.execute(executor);
  const { version, budgets } = rows[0]!;
  return {
    version,
    budgets: budgets.map((one) => ({ ...one, effective_from: new Date(one.effective_from) })),
  };
};

export const insertReplica = async (executor: Executor, id: string): Promise<void> => {
  await sql`insert into budget_replicas (id) values (${id})`.execute(executor);
};

/** Deletes the replica, which must hold no share any more; one that does is found as lost. */
export const deleteReplica = async (executor: Executor, id: string): Promise<void> => {
  await sql`delete from budget_replicas r where r.id = ${id}
    and not exists (select from budget_shares s where s.replica_id = r.id)`.execute(executor);
};

// What locks periods or shares is one statement, with its COMMIT: a replica that stands still holds no lock.

/** Asks for room, all that a call needs or nothing. Null: the replica is lost. */
export const grantShares = async (
  executor: Executor,
  replicaId: string,
  calls: readonly (readonly Need[])[],
): Promise<Granted[] | null> => {
  const { rows } = await sql<{ granted: Granted[] | null }>`
    select grant_budget_shares(${replicaId}, ${json(calls)}::jsonb) as granted`.execute(executor);
  return rows[0]!.granted;
};

/** The ids of all shares of a replica. */
export const listShareIds = async (executor: Executor, replicaId: string): Promise<string[]> => {
  const { rows } = await sql<{ id: string }>`
    select id from budget_shares where replica_id = ${replicaId}`.execute(executor);
  return rows.map(({ id }) => id);
};

/** Gives back what the shares hold beyond `keep`; null closes a share. Returns the ids of those that are gone. */
export const returnShares = async (
  executor: Executor,
  shares: readonly { id: string; keep: number | null }[],
): Promise<string[]> => {
  const { rows } = await sql<{ closed: string[] }>`
    select return_budget_shares(${json(shares)}::jsonb) as closed`.execute(executor);
  return rows[0]!.closed;
};

/**
 * Adds what was settled to the shares of a replica (null: it has none), and to these periods what is late. Not at the same time
 * as its grants and returns, which lock shares too.
 */
export const addSettlements = async (
  executor: Executor,
  replicaId: string | null,
  periodIds: readonly string[],
): Promise<void> => {
  await sql`select add_budget_settlements(${replicaId}, ${periodIds}::uuid[])`.execute(executor);
};

/** Closes shares of replicas that were not seen for so long. Returns how many it closed, 200 at most. */
export const closeLostShares = async (executor: Executor, leaseSeconds: number): Promise<number> => {
  const { rows } = await sql<{ closed: number }>`
    select close_lost_budget_shares(${leaseSeconds}) as closed`.execute(executor);
  return rows[0]!.closed;
};

/** Makes sure of the periods. Returns their ids in this order; null for one whose budget is gone. */
export const createPeriods = async (
  tx: Tx,
  periods: readonly (PeriodKey & { period_id: string })[],
): Promise<(string | null)[]> => {
  await sql`select create_budget_periods(${json(periods)}::jsonb)`.execute(tx);
  const { rows } = await sql<{ id: string | null }>`
    select p.id from jsonb_array_elements(${json(periods)}::jsonb) with ordinality w(value, i)
    left join budget_periods p on p.budget_id = (w.value ->> 'budget_id')::uuid and p.subject_id = w.value ->> 'subject_id'
      and p.starts_at = (w.value ->> 'starts_at')::timestamptz
    order by w.i`.execute(tx);
  return rows.map(({ id }) => id);
};

/** A text that identifies a period in this process. */
export const idOf = ({
  budget_id,
  subject_id,
  starts_at,
}: Pick<PeriodKey, 'budget_id' | 'subject_id' | 'starts_at'>) =>
  `${budget_id} ${starts_at.getTime()} ${subject_id}`;

/** What was spent in a period. */
export interface Totals {
  id: string;
  spent: number;
  extra: number;
  /** The limit for which a call was last refused. */
  exhausted_at_limit: number | null;
}

/** What was spent in these periods and added to their limits, by `idOf`; none of those in which no call began. */
export const readTotals = async (
  executor: Executor,
  periods: readonly PeriodKey[],
): Promise<ReadonlyMap<string, Totals>> => {
  const { rows } = await sql<PeriodKey & Totals>`
    select p.id, p.budget_id, p.subject_id, p.starts_at, t.spent, p.extra, p.exhausted_at_limit
    from jsonb_to_recordset(${json(periods)}::jsonb) as k(budget_id uuid, subject_id text, starts_at timestamptz)
    join budget_periods p on p.budget_id = k.budget_id and p.subject_id = k.subject_id and p.starts_at = k.starts_at
    join budget_totals t on t.period_id = p.id`.execute(executor);
  return new Map(rows.map((row) => [idOf(row), row]));
};
