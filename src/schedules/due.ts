import type { Reader } from '../database/index.ts';
import { sql, type Tx } from '../database/index.ts';
import { firedInsertion } from '../work-items/index.ts';
import type { ScheduleRow } from './store.ts';

/** The SQL of the firing loop. */

/** What deciding needs: no message and no payload, which go from table to table without leaving the database. */
export type DueRow = Pick<ScheduleRow, 'id' | 'cron_expression' | 'timezone' | 'catch_up'> & {
  next_run_at: Date;
  /** False where the agent is gone, which a foreign key should make impossible. */
  has_agent: boolean;
  /** The database's time, the same one that said what is due. */
  now: Date;
};

/**
 * Claim up to `limit` schedules that are due by the database's clock, the longest due first, `only` one of them
 * where it is given. A row that another transaction holds is passed over, so that replicas share a herd and one
 * locked schedule delays only itself: the row lock, the first guard against firing an occurrence twice.
 *
 * The time is asked for once: the function costs 4 µs, and is called for every row where it is not a subquery.
 */
export const claimDue = async (tx: Tx, limit: number, only: string | null = null): Promise<DueRow[]> => {
  const { rows } = await sql<DueRow>`
    with clock as materialized (select platform_now() as now)
    select s.id, s.cron_expression, s.timezone, s.catch_up, s.next_run_at, (select now from clock) as now,
      exists (select from agents a where a.id = s.agent_id) as has_agent
    from schedules s
    where s.next_run_at <= (select now from clock) ${only === null ? sql`` : sql`and s.id = ${only}`}
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
  /** The occurrence that becomes a Work Item, with that one's id; null where none does. */
  fire: { workItemId: string; occurrence: Date; outcome: 'fired' | 'caught_up' } | null;
}

/** A PostgreSQL array of ids, instants or words, none of which need quotes. The driver's own is ten times slower. */
const array = (values: readonly (string | null)[]): string =>
  `{${values.map((value) => value ?? 'NULL').join(',')}}`;

const times = (values: readonly (Date | null | undefined)[]): string =>
  array(values.map((value) => value?.toISOString() ?? null));

/**
 * Advance the claimed schedules, make the Work Items of what fires and record those occurrences, in one statement.
 * A schedule moves only from the occurrence that was claimed, and only what moved becomes a Work Item
 * (compare-and-set, the second guard); an occurrence that has its Work Item already gets no other and is not recorded
 * again (the unique key, the third). Answers how many rows moved, and the Work Items made; null for all of them.
 *
 * Its plan must hold where statistics are old: schedules are only found by id (`is not distinct from` cannot use the
 * index of `next_run_at`, on which a whole herd is equal), and no two results of a batch are joined.
 */
export const fireClaimed = async (
  tx: Tx,
  moves: readonly Advance[],
  now: Date,
  zoneRules: string,
): Promise<{ moved: number; made: string[] | null }> => {
  const fires = moves.map((m) => m.fire);
  const caughtUp = fires.flatMap((f) => (f?.outcome === 'caught_up' ? [f.workItemId] : []));
  const { rows } = await sql<{ moved: number; made: string[] | null }>`
    with moved as (
      update schedules s set next_run_at = m.next, last_occurrence = m.last, zone_rules = ${zoneRules},
        last_run_at = case when m.item is null then s.last_run_at else ${now}::timestamptz end
      from unnest(
        ${array(moves.map((m) => m.id))}::uuid[], ${times(moves.map((m) => m.from))}::timestamptz[],
        ${times(moves.map((m) => m.to))}::timestamptz[], ${times(moves.map((m) => m.lastOccurrence))}::timestamptz[],
        ${array(fires.map((f) => f?.workItemId ?? null))}::uuid[],
        ${times(fires.map((f) => f?.occurrence))}::timestamptz[]) as m(id, due, next, last, item, occurrence)
      where s.id = m.id and s.next_run_at is not distinct from m.due
      returning m.item as id, s.agent_id, s.id as schedule_id, m.occurrence, s.work_item_name, s.message, s.payload
    ), firing as (
      select * from moved where id is not null
    ), ${firedInsertion(sql`firing`)}, recorded as (
      insert into occurrences (id, schedule_id, scheduled_for, outcome, work_item_id, at)
      select id, schedule_id, occurrence,
        case when id in (select unnest(${array(caughtUp)}::uuid[])) then 'caught_up' else 'fired' end,
        id, ${now}::timestamptz
      from inserted
    )
    select (select count(*) from moved) as moved, case
      when (select count(*) from inserted) < (select count(*) from firing) then array(select id from inserted)
    end as made`.execute(tx);
  return rows[0]!;
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
    select id from schedules where next_run_at <= (select platform_now()) order by next_run_at limit ${limit}`.execute(
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
    select id, cron_expression, timezone, next_run_at, last_occurrence, (select platform_now()) as now from schedules
    where zone_rules < ${zoneRules} and next_run_at > (select platform_now())
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
    select count(*) as n from schedules where next_run_at < (select platform_now() - interval '5 seconds')`.execute(
    reader,
  );
  return rows[0]!.n;
};
