import type { Reader } from '../database/index.ts';
import { sql, type Tx } from '../database/index.ts';
import type { ScheduleRow } from './store.ts';

/** The SQL of the firing loop. */

export type DueRow = Pick<
  ScheduleRow,
  | 'id'
  | 'agent_id'
  | 'cron_expression'
  | 'timezone'
  | 'catch_up'
  | 'work_item_name'
  | 'message'
  | 'payload'
  | 'last_occurrence'
> & {
  next_run_at: Date;
  /** False where the agent is gone, which a foreign key should make impossible. */
  has_agent: boolean;
  /** The database's time. */
  now: Date;
};

/**
 * Claim up to `limit` schedules that are due by the database's clock, the longest due first, `only` one of them
 * where it is given. A row that another transaction holds is passed over, so that replicas share a herd and one
 * locked schedule delays only itself.
 */
export const claimDue = async (tx: Tx, limit: number, only: string | null = null): Promise<DueRow[]> => {
  const { rows } = await sql<DueRow>`
    select s.id, s.agent_id, s.cron_expression, s.timezone, s.catch_up, s.work_item_name, s.message, s.payload,
      s.next_run_at, s.last_occurrence, a.id is not null as has_agent, platform_now() as now
    from schedules s left join agents a on a.id = s.agent_id
    where s.next_run_at <= platform_now() ${only === null ? sql`` : sql`and s.id = ${only}`}
    order by s.next_run_at limit ${limit}
    for update of s skip locked`.execute(tx);
  return rows;
};

export interface Advance {
  id: string;
  /** The `next_run_at` that was claimed: the row advances only from there. */
  from: Date;
  to: Date | null;
  lastOccurrence: Date;
  /** When it fired; null where it did not. */
  firedAt: Date | null;
}

/**
 * Advance the claimed schedules, each only from the occurrence that was claimed (compare-and-set): whatever went
 * wrong with the claim, an occurrence is passed once. Answers how many rows moved.
 */
export const advance = async (tx: Tx, moves: Advance[], zoneRules: string): Promise<number> => {
  const { numAffectedRows } = await sql`
    update schedules s set next_run_at = m.next, last_occurrence = m.last, zone_rules = ${zoneRules},
      last_run_at = coalesce(m.fired, s.last_run_at)
    from unnest(
      ${moves.map((m) => m.id)}::uuid[], ${moves.map((m) => m.from)}::timestamptz[],
      ${moves.map((m) => m.to)}::timestamptz[], ${moves.map((m) => m.lastOccurrence)}::timestamptz[],
      ${moves.map((m) => m.firedAt)}::timestamptz[]) as m(id, due, next, last, fired)
    where s.id = m.id and s.next_run_at = m.due`.execute(tx);
  return Number(numAffectedRows ?? 0);
};

/** The earliest occurrence that is due (`overdue`) or to come, and the database's time, in one look at the index. */
export const nextDue = async (reader: Reader): Promise<{ next: Date | null; now: Date }> => {
  const { rows } = await sql<{ next: Date | null; now: Date }>`
    select (select next_run_at from schedules where next_run_at is not null order by next_run_at limit 1) as next,
      platform_now() as now`.execute(reader);
  return rows[0]!;
};

/** The ids of schedules that are due and free, for firing one by one. */
export const dueIds = async (reader: Reader, limit: number): Promise<string[]> => {
  const { rows } = await sql<{ id: string }>`
    select id from schedules where next_run_at <= platform_now() order by next_run_at limit ${limit}`.execute(
    reader,
  );
  return rows.map((row) => row.id);
};

export interface RulesRow {
  id: string;
  cron_expression: string;
  timezone: string;
  next_run_at: Date;
  last_occurrence: Date | null;
  now: Date;
}

/** Schedules not yet due whose `next_run_at` was made by older time-zone rules than `zoneRules`. */
export const claimOlderRules = async (tx: Tx, zoneRules: string, limit: number): Promise<RulesRow[]> => {
  const { rows } = await sql<RulesRow>`
    select id, cron_expression, timezone, next_run_at, last_occurrence, platform_now() as now from schedules
    where zone_rules < ${zoneRules} and next_run_at is not null and next_run_at > platform_now()
    limit ${limit} for update skip locked`.execute(tx);
  return rows;
};

export const setRecomputed = async (
  tx: Tx,
  rows: { id: string; next: Date | null }[],
  zoneRules: string,
): Promise<void> => {
  await sql`update schedules s set next_run_at = r.next, zone_rules = ${zoneRules}
    from unnest(${rows.map((r) => r.id)}::uuid[], ${rows.map((r) => r.next)}::timestamptz[]) as r(id, next)
    where s.id = r.id`.execute(tx);
};

/** How many schedules have been due for more than 5 s. */
export const countOverdue = async (reader: Reader): Promise<number> => {
  const { rows } = await sql<{ n: number }>`
    select count(*) as n from schedules where next_run_at < platform_now() - interval '5 seconds'`.execute(
    reader,
  );
  return rows[0]!.n;
};
