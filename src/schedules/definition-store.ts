import { type Executor, type Json, json, type RawBuilder, sql, type Tx } from '../database/index.ts';
import type { Principal } from '../lib/principal.ts';
import type { ScheduleRow } from './store.ts';

/** Times of a schedule from one moment until that of the next row, which a reconciliation computes with. */
export interface DefinitionVersion {
  schedule_id: string;
  /** The revision of the schedule that this came with. */
  revision: number;
  /** Moment after which, strictly, the version defines the occurrences. */
  from_at: Date;
  cron_expression: string;
  timezone: string;
  enabled: boolean;
}

export const definitionActions = ['create', 'update', 'pause', 'resume'] as const;
type DefinitionAction = (typeof definitionActions)[number];

type ChangedBy = Pick<Principal, 'kind' | 'id' | 'name'>;

/** Origin of a version. Null: older releases did not record it. */
interface DefinitionChange {
  action: DefinitionAction | null;
  principal: ChangedBy | null;
  /** Reason why it was paused, resumed or changed, in the words of who did. */
  reason: string | null;
  /** The fields that an update changed. */
  changed: string[] | null;
}

/** A version with how it came to be. */
export type HistoryRow = DefinitionVersion &
  DefinitionChange & { catch_up: boolean | null; overlap: ScheduleRow['overlap'] | null };

declare module '../database/database.ts' {
  interface Schema {
    schedule_definitions: Omit<HistoryRow, 'principal'> & { principal: Json<ChangedBy | null> };
  }
}

const columns = ['schedule_id', 'revision', 'from_at', 'cron_expression', 'timezone', 'enabled'] as const;
const historyColumns = [
  ...columns,
  'catch_up',
  'overlap',
  'action',
  'principal',
  'reason',
  'changed',
] as const;

type NewChange = DefinitionChange & { principal: ChangedBy };

/**
 * The statement that records what the schedules in `source`, which has their columns, are from `at` on; also as a part of
 * the statement that makes them so.
 */
export const definitionInsertion = (
  source: RawBuilder<unknown>,
  at: number,
  { action, principal, reason, changed }: NewChange,
): RawBuilder<unknown> => {
  const { kind, id, name } = principal;
  return sql`insert into schedule_definitions (schedule_id, revision, from_at, cron_expression, timezone, enabled,
      catch_up, overlap, action, principal, reason, changed)
    select s.id, s.revision, ${new Date(at)}::timestamptz, s.cron_expression, s.timezone, s.enabled, s.catch_up,
      s.overlap, ${action}, ${json({ kind, id, name })}::jsonb, ${reason}, ${changed}::text[]
    from ${source} s`;
};

/** Records what these schedules are from `at` on, in the transaction that made them so. */
export const recordDefinitionVersions = async (
  tx: Tx,
  ids: readonly string[],
  at: number,
  change: NewChange,
): Promise<void> => {
  if (ids.length === 0) return;
  const changed = sql`(select * from schedules where id = any(${ids}::uuid[]))`;
  await definitionInsertion(changed, at, change).execute(tx);
};

/** The versions that define the occurrences in (from, to], and the one before them, oldest first. */
export const listDefinitionVersions = (
  executor: Executor,
  scheduleId: string,
  from: Date,
  to: Date,
): Promise<DefinitionVersion[]> =>
  executor
    .selectFrom('schedule_definitions')
    .select(columns)
    .where('schedule_id', '=', scheduleId)
    .where('from_at', '<', to)
    .where('revision', '>=', (eb) =>
      eb
        .selectFrom('schedule_definitions')
        .select((of) => of.fn.coalesce(of.fn.max('revision'), sql<number>`0`).as('revision'))
        .where('schedule_id', '=', scheduleId)
        .where('from_at', '<=', from),
    )
    .orderBy('revision')
    .execute();

/** Returns the beginning of the records of a schedule's definition; undefined if there are none. */
export const findFirstVersion = (executor: Executor, scheduleId: string): Promise<HistoryRow | undefined> =>
  executor
    .selectFrom('schedule_definitions')
    .select(historyColumns)
    .where('schedule_id', '=', scheduleId)
    .orderBy('revision')
    .limit(1)
    .executeTakeFirst();

/** The history, newest first: `limit` versions before the revision `before` (null: the newest). */
export const listHistory = (
  executor: Executor,
  scheduleId: string,
  { limit, before }: { limit: number; before: number | null },
): Promise<HistoryRow[]> => {
  let query = executor
    .selectFrom('schedule_definitions')
    .select(historyColumns)
    .where('schedule_id', '=', scheduleId);
  if (before !== null) query = query.where('revision', '<', before);
  return query.orderBy('revision', 'desc').limit(limit).execute();
};

/** The versions that began in [from, to), newest first. Null: there is no such bound. */
export const listVersionsBetween = (
  executor: Executor,
  scheduleId: string,
  { from, to, limit }: { from: Date | null; to: Date | null; limit: number },
): Promise<HistoryRow[]> => {
  let query = executor
    .selectFrom('schedule_definitions')
    .select(historyColumns)
    .where('schedule_id', '=', scheduleId);
  if (from !== null) query = query.where('from_at', '>=', from);
  if (to !== null) query = query.where('from_at', '<', to);
  return query.orderBy('revision', 'desc').limit(limit).execute();
};

/** The versions around an instant, oldest first: `most` that began before it, and `most` that began later. */
export const listVersionsAround = async (
  executor: Executor,
  scheduleId: string,
  at: Date,
  most: number,
): Promise<HistoryRow[]> => {
  const select = sql`select ${sql.join(historyColumns.map((column) => sql.ref(column)))} from schedule_definitions
    where schedule_id = ${scheduleId}`;
  const { rows } = await sql<HistoryRow>`
    (${select} and from_at < ${at} order by revision desc limit ${most})
    union all (${select} and from_at >= ${at} order by revision limit ${most})
    order by revision`.execute(executor);
  return rows;
};

/** The versions of these schedules in (from, to) and the ones before, oldest first. */
export const listVersionsOf = async (
  executor: Executor,
  ids: readonly string[],
  from: Date,
  to: Date,
): Promise<HistoryRow[]> => {
  const { rows } = await sql<HistoryRow>`
    select ${sql.join(historyColumns.map((column) => sql.ref(`d.${column}`)))}
    from unnest(${ids}::uuid[]) as s(id)
    cross join lateral (select max(revision) as revision from schedule_definitions
      where schedule_id = s.id and from_at <= ${from}) held
    join schedule_definitions d on d.schedule_id = s.id and d.revision >= coalesce(held.revision, 0)
      and d.from_at < ${to}
    order by d.schedule_id, d.revision`.execute(executor);
  return rows;
};

/** The changes of schedules at these instants: what skipped occurrences that were due then. */
export const listChangesAt = async (
  executor: Executor,
  at: readonly { schedule_id: string; at: Date }[],
): Promise<HistoryRow[]> => {
  const { rows } = await sql<HistoryRow>`
    select ${sql.join(historyColumns.map((column) => sql.ref(`d.${column}`)))} from schedule_definitions d
    join unnest(${at.map((one) => one.schedule_id)}::uuid[], ${at.map((one) => one.at)}::timestamptz[])
      as changed(schedule_id, at) on d.schedule_id = changed.schedule_id and d.from_at = changed.at`.execute(
    executor,
  );
  return rows;
};

/** The last pause of each of these schedules. */
export const listLastPauses = async (executor: Executor, ids: readonly string[]): Promise<HistoryRow[]> => {
  const { rows } = await sql<HistoryRow>`
    select pause.* from unnest(${ids}::uuid[]) as s(id) cross join lateral (
      select ${sql.join(historyColumns.map((column) => sql.ref(column)))} from schedule_definitions
      where schedule_id = s.id and action = 'pause' order by revision desc limit 1) pause`.execute(executor);
  return rows;
};

/**
 * Deletes at most `limit` versions that a later one had replaced more than `days` ago (0: none). The records of the
 * occurrences that they defined are gone by then.
 */
export const deleteReplacedVersions = async (tx: Tx, days: number, limit: number): Promise<number> => {
  if (days <= 0) return 0;
  const { numAffectedRows } = await sql`delete from schedule_definitions where (schedule_id, revision) in (
    select d.schedule_id, d.revision from schedule_definitions later join schedule_definitions d
      on d.schedule_id = later.schedule_id and d.revision < later.revision
    where later.revision > 1 and later.from_at < platform_now() - ${days}::int * interval '1 day'
      -- Who paused a schedule that is still paused stays known.
      and (d.action is distinct from 'pause' or exists (select from schedule_definitions resumed
        where resumed.schedule_id = d.schedule_id and resumed.revision > d.revision and resumed.enabled))
    limit ${limit})`.execute(tx);
  return Number(numAffectedRows ?? 0);
};
