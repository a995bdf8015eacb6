import { type RawBuilder, sql, type Tx } from '../../database/index.ts';
import { inTurn, type Look, mostFound, type Open, type Subject } from './condition.ts';

/** What alerts read of schedules and their occurrences. */

/** Each costs some 20 µs. */
const mostLookedAt = 300;

export interface ScheduleSubject extends Subject {
  timezone: string;
}

/** The columns of a schedule `s` and its agent `a`. */
const subject = sql`s.id, coalesce(s.work_item_name, a.name) as name, s.agent_id as "agentId", s.timezone`;

/** `schedules s` of these ids, which are enabled, with its agent. */
const from = (schedules: RawBuilder<unknown>) => sql`${schedules} s join agents a on a.id = s.agent_id`;

const isOverdue = (due: Date) => sql`next_run_at < ${due}`;
const isBlocked = sql`last_outcome = 'blocked' and enabled`;
const isWithoutNext = sql`enabled and next_run_at is null`;

/** Whether there may be schedules that `listOverdue`, `listBlocked` or `listWithoutNext` lists. */
export const mayHaveIdle = (due: Date): RawBuilder<boolean> =>
  sql`(exists (select from schedules where ${isOverdue(due)}) or exists (select from schedules where ${isBlocked})
    or exists (select from schedules where ${isWithoutNext}))`;

/** The schedules that have been due since before `due` and have not fired, those that are due the longest first. */
export const listOverdue = async (tx: Tx, due: Date): Promise<(ScheduleSubject & { due: Date })[]> => {
  const { rows } = await sql<ScheduleSubject & { due: Date }>`
    select ${subject}, s.next_run_at as due
    from ${from(sql`(select id, agent_id, work_item_name, timezone, next_run_at from schedules
      where ${isOverdue(due)} order by next_run_at limit ${sql.lit(mostFound + 1)})`)}
    order by s.next_run_at`.execute(tx);
  return rows;
};

/** The schedules that have no next time, though they are enabled, and since when. */
export const listWithoutNext = async (tx: Tx): Promise<(ScheduleSubject & { since: Date })[]> => {
  const { rows } = await sql<ScheduleSubject & { since: Date }>`
    select ${subject}, greatest(s.updated_at, s.last_occurrence) as since
    from ${from(sql`(select id, agent_id, work_item_name, timezone, updated_at, last_occurrence from schedules
      where ${isWithoutNext} order by id limit ${sql.lit(mostFound + 1)})`)}`.execute(tx);
  return rows;
};

/** An occurrence, with its schedule. */
export interface OccurrenceEvent extends ScheduleSubject {
  scheduled_for: Date;
  /** When it was handled. */
  at: Date;
  reason: string | null;
  /** An occurrence of the schedule that was handled then or later was in time: within `inTimeMs`. */
  followed: boolean;
}

/**
 * Handled at `since` or later, no more than `limit` after its time: `o` is a row of {id, since, limit}. Occurrences that are
 * skipped because one before runs were in time as well.
 */
const inTime = (id: RawBuilder<unknown>, since: RawBuilder<unknown>, limitMs: RawBuilder<unknown>) => {
  const limit = sql`${limitMs} * interval '1 millisecond'`;
  return sql<boolean>`exists (select from occurrences r where r.schedule_id = ${id}
    and r.scheduled_for >= ${since} - ${limit} and r.at >= ${since} and r.at - r.scheduled_for <= ${limit}
    and (r.outcome in ('fired', 'caught_up') or (r.outcome = 'skipped' and r.reason = 'overlap')))`;
};

/** The schedules whose last occurrence could not fire, with its record. */
export const listBlocked = async (tx: Tx): Promise<OccurrenceEvent[]> => {
  const { rows } = await sql<OccurrenceEvent>`
    select ${subject}, last.scheduled_for, last.at, last.reason, false as followed
    from ${from(sql`(select id, agent_id, work_item_name, timezone, updated_at from schedules
      where ${isBlocked} order by id limit ${sql.lit(mostFound + 1)})`)}
    cross join lateral (select outcome, reason, at, scheduled_for from occurrences
      where schedule_id = s.id order by id desc limit 1) last
    where last.outcome = 'skipped' and last.at > s.updated_at`.execute(tx);
  return rows;
};

/** The condition of an index of `occurrences` by `at`. */
const indexed = {
  missed: sql`outcome = 'skipped' and reason = 'missed'`,
  late: sql`outcome in ('fired', 'caught_up') and at - scheduled_for > interval '5 seconds'`,
};

/** Whether there may be occurrences that `listEvents` lists. */
export const mayHaveEvents = (which: keyof typeof indexed, since: Date): RawBuilder<boolean> =>
  sql`exists (select from occurrences where ${indexed[which]} and at > ${since})`;

/**
 * The latest such occurrence of each schedule since a time, if the schedule is enabled and was not edited since. Of many
 * the latest are read. `beyondMs`: only those that were handled so long after their time. `inTimeMs`: what `followed` counts
 * as in time; null: it is not needed.
 */
export const listEvents = async (
  tx: Tx,
  which: keyof typeof indexed,
  { since, beyondMs = 0, inTimeMs = null }: { since: Date; beyondMs?: number; inTimeMs?: number | null },
): Promise<OccurrenceEvent[]> => {
  const { rows } = await sql<OccurrenceEvent>`
    select ${subject}, o.scheduled_for, o.at, null as reason,
      ${inTimeMs === null ? sql`false` : inTime(sql`s.id`, sql`o.at`, sql`${inTimeMs}::float8`)} as followed
    from (
      select schedule_id, max(at) as at, (array_agg(scheduled_for order by at desc))[1] as scheduled_for from (
        select schedule_id, at, scheduled_for from occurrences
        where ${indexed[which]} and at > ${since} and at - scheduled_for > ${beyondMs}::float8 * interval '1 millisecond'
        order by at desc limit ${sql.lit(2 * mostFound)}) latest
      group by schedule_id order by 2 desc limit ${sql.lit(mostFound + 1)}
    ) o
    join schedules s on s.id = o.schedule_id join agents a on a.id = s.agent_id
    where s.enabled and s.updated_at < o.at`.execute(tx);
  return rows;
};

/**
 * Those open subjects, which are schedules, that are over: an occurrence since was in time, or the schedule was paused,
 * edited or deleted.
 */
export const listOver = async (
  { tx, open: all, now }: Look,
  inTimeMsOf: (open: Open) => number,
): Promise<Set<Open>> => {
  const open = inTurn(all, mostLookedAt, now);
  if (open.length === 0) return new Set();
  const { rows } = await sql<{ n: number }>`
    select o.n::integer as n
    from unnest(${open.map(({ id }) => id)}::uuid[], ${open.map(({ cause }) => new Date(cause))}::timestamptz[],
      ${open.map(inTimeMsOf)}::float8[]) with ordinality as o(id, cause, in_time_ms, n)
    left join schedules s on s.id = o.id
    where s.id is null or not s.enabled or s.updated_at > o.cause
      or ${inTime(sql`o.id`, sql`o.cause`, sql`o.in_time_ms`)}`.execute(tx);
  return new Set(rows.map(({ n }) => open[n - 1]!));
};
