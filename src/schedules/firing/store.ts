import { type Executor, type RawBuilder, sql, type Tx } from '../../database/index.ts';
import { workItemSql } from '../../work-items/index.ts';
import { overdueRows } from '../lateness.ts';
import { type DueRow, type FiringPlan, lastOutcomeOf } from './plan.ts';

/** The SQL of the firing loop. */

/**
 * Milliseconds since 1970 as a number: a Date for every row of a batch costs ten times as much to read and to write.
 */
const milliseconds = (time: RawBuilder<unknown>) => sql`(date_part('epoch', ${time}) * 1000)::bigint`;

/**
 * Locks and returns schedules that are due by the database's clock. A row that another transaction has locked is left
 * out, so that replicas share a herd and one locked schedule delays only itself: the row lock is the first guard
 * against firing an occurrence twice.
 *
 * The time is read once: the function costs 4 µs, and is called for every row unless it is a subquery.
 */
const claim = async (tx: Tx, which: RawBuilder<unknown>, order: RawBuilder<unknown>): Promise<DueRow[]> => {
  const { rows } = await sql<DueRow>`
    with clock as materialized (select platform_now() as now)
    select s.id, s.cron_expression, s.timezone, s.catch_up, s.overlap, ${milliseconds(sql`s.next_run_at`)} as due,
      (select ${milliseconds(sql`now`)} from clock) as now,
      case when s.overlap <> 'queue' then (${workItemSql.runningOf(sql`s.id`)}) end as running,
      exists (select from agents a where a.id = s.agent_id) as has_agent
    from schedules s
    where s.next_run_at <= (select now from clock) and ${which}
    order by s.next_run_at ${order}
    for update of s skip locked`.execute(tx);
  return rows;
};

/** Order of the claims: first the schedules that have been due longest, or shortest. */
export type DueOrder = 'longest' | 'shortest';

/** Claims up to `limit` schedules that are due. */
export const claimDue = (tx: Tx, limit: number, order: DueOrder = 'longest'): Promise<DueRow[]> =>
  claim(tx, sql`true`, order === 'longest' ? sql`limit ${limit}` : sql`desc limit ${limit}`);

/** Claims those of the schedules `ids` that are still due and not locked by others. */
export const claimAgain = (tx: Tx, ids: readonly string[]): Promise<DueRow[]> =>
  claim(tx, sql`s.id = any(${array(ids)}::uuid[])`, sql``);

/** A PostgreSQL array of values that need no quotes. The driver's own is ten times slower. */
const array = (values: readonly (string | number | null)[]): string =>
  `{${values.map((value) => value ?? 'NULL').join(',')}}`;

/** A time from an array of milliseconds; exact, since a double holds microseconds beyond the year 2101. */
const time = (column: string) => sql`to_timestamp(${sql.ref(column)}::float8 / 1000)`;

/**
 * Advances the claimed schedules, inserts the Work Items of what fires and records those occurrences, in one
 * statement; `advance.sql` next to this file shows it whole. A schedule moves only from the occurrence that was
 * claimed, and only what moved becomes a Work Item (compare-and-set, the second guard); an occurrence that already has
 * its Work Item gets no other and is not recorded again (the unique key, the third). Returns how many rows moved, and
 * the ids of the Work Items made, or null if that is all of them. `now` in milliseconds since 1970.
 *
 * The query plan must hold with outdated statistics: schedules are found only by id (`is not distinct from` cannot use
 * the index of `next_run_at`, on which a whole herd is equal), and no two results of a batch are joined.
 */
export const advance = async (
  tx: Tx,
  plans: readonly FiringPlan[],
  now: number,
  zoneRules: string,
): Promise<{ moved: number; made: string[] | null }> => {
  const fires = plans.map((p) => p.fire);
  const caughtUp = fires.flatMap((f) => (f?.outcome === 'caught_up' ? [f.workItemId] : []));
  const at = new Date(now);
  const { rows } = await sql<{ moved: number; made: string[] | null }>`
    with moved as (
      update schedules s set next_run_at = m.next, last_occurrence = m.last, zone_rules = ${zoneRules},
        last_outcome = m.outcome,
        last_run_at = case when m.item is null then s.last_run_at else ${at}::timestamptz end
      from (
        select id, ${time('due')} as due, ${time('next')} as next, ${time('last')} as last, item,
          ${time('occurrence')} as occurrence, outcome
        from unnest(
          ${array(plans.map((p) => p.id))}::uuid[], ${array(plans.map((p) => p.due))}::bigint[],
          ${array(plans.map((p) => p.next))}::bigint[], ${array(plans.map((p) => p.last))}::bigint[],
          ${array(fires.map((f) => f?.workItemId ?? null))}::uuid[],
          ${array(fires.map((f) => f?.at ?? null))}::bigint[],
          ${array(plans.map((p) => lastOutcomeOf(p, now)))}::text[]) as u(id, due, next, last, item, occurrence, outcome)
      ) m
      where s.id = m.id and s.next_run_at is not distinct from m.due
      returning m.item as id, s.agent_id, s.id as schedule_id, m.occurrence, s.work_item_name, s.message, s.payload,
        s.overlap <> 'queue' as overlap_watched
    ), firing as (
      select * from moved where id is not null
    ), ${workItemSql.firedInsertion(sql`firing`)}, recorded as (
      insert into occurrences (id, schedule_id, scheduled_for, outcome, work_item_id, at)
      select id, schedule_id, occurrence,
        case when id in (select unnest(${array(caughtUp)}::uuid[])) then 'caught_up' else 'fired' end,
        id, ${at}::timestamptz
      from inserted
    )
    select (select count(*) from moved) as moved, case
      when (select count(*) from inserted) < (select count(*) from firing) then array(select id from inserted)
    end as made`.execute(tx);
  return rows[0]!;
};

/**
 * Returns whether anything is due (locked by another transaction or not), when the first of what is not yet due will be, and
 * the database's time: two reads of one index.
 */
export const lookAhead = async (
  executor: Executor,
): Promise<{ isDue: boolean; upcoming: Date | null; now: Date }> => {
  const { rows } = await sql<{ isDue: boolean; upcoming: Date | null; now: Date }>`
    with clock as materialized (select platform_now() as now)
    select coalesce((select next_run_at from schedules where next_run_at is not null order by next_run_at limit 1)
        <= (select now from clock), false) as "isDue",
      (select next_run_at from schedules where next_run_at > (select now from clock)
        order by next_run_at limit 1) as upcoming,
      (select now from clock) as now`.execute(executor);
  return rows[0]!;
};

export interface RulesRow {
  id: string;
  cron_expression: string;
  timezone: string;
  next_run_at: Date;
  last_occurrence: Date | null;
  now: Date;
}

/**
 * Locks and returns schedules that are not yet due and whose `next_run_at` was made by older time-zone rules than
 * `zoneRules`. Versions are ordered as text is: after `2026z` comes `2026za` (theory.html of the time zone database).
 */
export const claimOlderRules = async (tx: Tx, zoneRules: string, limit: number): Promise<RulesRow[]> => {
  const { rows } = await sql<RulesRow>`
    select id, cron_expression, timezone, next_run_at, last_occurrence, (select platform_now()) as now from schedules
    where zone_rules < ${zoneRules} and next_run_at > (select platform_now())
    limit ${limit} for update skip locked`.execute(tx);
  return rows;
};

export const updateRecomputed = async (
  tx: Tx,
  rows: { id: string; next: Date | null }[],
  zoneRules: string,
): Promise<void> => {
  await sql`update schedules s set next_run_at = r.next, zone_rules = ${zoneRules}
    from unnest(${rows.map((r) => r.id)}::uuid[], ${rows.map((r) => r.next)}::timestamptz[]) as r(id, next)
    where s.id = r.id`.execute(tx);
};

/** The count of overdue schedules ends here: counting a million takes the database 100 ms. */
const maxCounted = 10_000;

/**
 * Returns the number of schedules that have been due for more than 5 s, at most 10,000: read from the head of the index of `next_run_at`.
 */
export const countOverdue = async (executor: Executor): Promise<number> => {
  const { rows } = await sql<{ n: number }>`
    select count(*) as n from (
      select from schedules where ${overdueRows}
      order by next_run_at limit ${maxCounted}) overdue`.execute(executor);
  return rows[0]!.n;
};
