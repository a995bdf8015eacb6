import {
  type Executor,
  type Generated,
  notify,
  prepared,
  type RawBuilder,
  sql,
  type Tx,
} from '../database/index.ts';
import {
  column,
  generated,
  type RowOf,
  resource,
  stamps,
  type TableOf,
  type ValuesOf,
} from '../resource/index.ts';
import { fields } from './fields.ts';
import { matchesFilter, type ScheduleFilter } from './filter.ts';

/**
 * The channel on which a write notifies when the schedule that it made or changed is next due (milliseconds since
 * 1970).
 */
export const schedulesChannel = 'schedules';

/** The fate of the last occurrence that was recorded; `blocked`: it was skipped because the schedule could not fire. */
export type LastOutcome = 'on_time' | 'late' | 'caught_up' | 'skipped' | 'blocked' | 'manual';

export const schedules = resource('schedules', fields, {
  id: column<string>(),
  agent_id: column<string>(),
  enabled: generated<boolean>(),
  last_run_at: column<Date | null>(),
  next_run_at: column<Date | null>(),
  last_occurrence: column<Date | null>(),
  zone_rules: column<string>(),
  ...stamps,
});
const { columns } = schedules;

export type ScheduleRow = RowOf<typeof schedules>;

/** The body of create and replace, with its defaults filled in. */
export type Definition = ValuesOf<typeof schedules>;

declare module '../database/database.ts' {
  interface Schema {
    schedules: TableOf<typeof schedules> & { last_outcome: Generated<LastOutcome | null> };
  }
}

const scheduleOfAgent = prepared((executor, values: { agentId: string; scheduleId: string }) =>
  executor
    .selectFrom('agents as a')
    .leftJoin('schedules as s', (join) =>
      join.onRef('s.agent_id', '=', 'a.id').on('s.id', '=', values.scheduleId),
    )
    .select('a.mode')
    .select(columns.map((column) => `s.${column}` as const))
    .where('a.id', '=', values.agentId)
    .compile(),
);

/** The mode of an agent, with the schedule if it is this agent's; undefined for an unknown agent. */
export const findScheduleOfAgent = async (
  executor: Executor,
  agentId: string,
  scheduleId: string,
): Promise<{ mode: 'worker' | 'conversational'; schedule: ScheduleRow | null } | undefined> => {
  const [row] = await scheduleOfAgent(executor, { agentId, scheduleId });
  if (!row) return undefined;
  const { mode, ...schedule } = row;
  return { mode, schedule: schedule.id === null ? null : (schedule as ScheduleRow) };
};

const schedulesOfAgent = prepared((executor, values: { agentId: string }) =>
  executor
    .selectFrom('schedules')
    .select(columns)
    .where('agent_id', '=', values.agentId)
    .orderBy('id', 'desc')
    .compile(),
);

/** Returns the schedules of an agent, newest first. */
export const listSchedules = (executor: Executor, agentId: string): Promise<ScheduleRow[]> =>
  schedulesOfAgent(executor, { agentId });

/** The schedules of all agents, the oldest first. */
export const listAllSchedules = (executor: Executor): Promise<ScheduleRow[]> =>
  executor.selectFrom('schedules').select(columns).orderBy('id').execute();

/** The schedule, locked until the transaction ends: in the meantime firing leaves it out. */
export const findLockedSchedule = (tx: Tx, id: string): Promise<ScheduleRow | undefined> =>
  tx.selectFrom('schedules').select(columns).where('id', '=', id).forUpdate().executeTakeFirst();

/** Times of a schedule: the fields that pausing and resuming need, without those of its Work Items. */
export type ScheduleTimes = Pick<
  ScheduleRow,
  'id' | 'cron_expression' | 'timezone' | 'enabled' | 'next_run_at' | 'last_occurrence'
>;

const timeColumns = [
  'id',
  'cron_expression',
  'timezone',
  'enabled',
  'next_run_at',
  'last_occurrence',
] as const satisfies readonly (keyof ScheduleTimes)[];

const timesOf = (executor: Executor, ids: readonly string[]) =>
  executor
    .selectFrom('schedules')
    .select(timeColumns)
    .where(sql<boolean>`id = any(${ids}::uuid[])`)
    .orderBy('id');

/** Returns those of these schedules that exist. */
export const findTimes = (executor: Executor, ids: readonly string[]): Promise<ScheduleTimes[]> =>
  timesOf(executor, ids).execute();

/** Locks and returns these schedules in the order of their ids, so that two such calls never wait in a circle. */
export const findLockedTimes = (tx: Tx, ids: readonly string[]): Promise<ScheduleTimes[]> =>
  timesOf(tx, ids).forUpdate().execute();

/** The ids of the schedules that match, at most `limit`. */
export const findMatchingIds = async (
  executor: Executor,
  filter: ScheduleFilter,
  limit: number,
): Promise<string[]> => {
  const { rows } = await sql<{ id: string }>`
    select s.id from schedules s join agents a on a.id = s.agent_id where ${matchesFilter(filter)}
    limit ${limit}`.execute(executor);
  return rows.map(({ id }) => id);
};

/** A schedule that is inserted. */
interface NewSchedule extends Pick<ScheduleRow, 'id' | 'agent_id' | 'zone_rules'> {
  definition: Definition;
  next_run_at: Date;
}

/**
 * Horizon of notifications. Replicas notice a later due time without one: they sleep for 15 s at most. PostgreSQL
 * commits transactions that notify one after the other, so that they share no sync to disk.
 */
const noticedWithin = sql`interval '30 seconds'`;

/**
 * Inserts a schedule and what belongs to it, and notifies of a next run that is near, in one statement: each of its own
 * is a round trip, which costs more than the row. `recorded` inserts the first version of the rows in `source`, `audited`
 * the audit entry. Resolves to undefined if the agent, which is locked, has `most` schedules.
 */
export const insertSchedule = async (
  tx: Tx,
  { id, agent_id, zone_rules, next_run_at, definition }: NewSchedule,
  most: RawBuilder<number>,
  recorded: (source: RawBuilder<unknown>) => RawBuilder<unknown>,
  audited: RawBuilder<unknown>,
): Promise<ScheduleRow | undefined> => {
  const { payload, metadata, ...texts } = schedules.write(definition);
  const { rows } = await sql<ScheduleRow>`with inserted as (
      insert into schedules (id, agent_id, cron_expression, timezone, catch_up, overlap, work_item_name, message,
        payload, metadata, next_run_at, zone_rules)
      select ${id}::uuid, ${agent_id}::uuid, ${texts.cron_expression}, ${texts.timezone}, ${texts.catch_up}::boolean,
        ${texts.overlap}, ${texts.work_item_name}, ${texts.message}, ${payload}::jsonb, ${metadata}::jsonb,
        ${next_run_at}::timestamptz, ${zone_rules}
      where (select count(*) from schedules where agent_id = ${agent_id}) < ${most}
      returning ${sql.join(columns.map((column) => sql.ref(column)))}
    ), recorded as (${recorded(sql`inserted`)}), audited as (${audited})
    select inserted.* from inserted
    cross join (select case when ${next_run_at}::timestamptz < platform_now() + ${noticedWithin}
      then pg_notify(${schedulesChannel}, ${String(next_run_at.getTime())}) end) notified`.execute(tx);
  return rows[0];
};

/** Writes a new definition and what follows from it; it raises the revision. */
export const updateScheduleRow = (
  tx: Tx,
  id: string,
  {
    definition,
    ...rest
  }: Pick<ScheduleRow, 'next_run_at' | 'zone_rules' | 'last_occurrence'> & {
    definition: Definition;
    last_outcome?: LastOutcome;
  },
): Promise<ScheduleRow> =>
  tx
    .updateTable('schedules')
    .set({
      ...schedules.write(definition),
      ...rest,
      revision: sql<number>`revision + 1`,
      updated_at: sql<Date>`platform_now()`,
    })
    .where('id', '=', id)
    .returning(columns)
    .executeTakeFirstOrThrow();

/** Pauses schedules, which are locked; `last` is the last occurrence of each that was handled, or is skipped by it. */
export const updatePausedRows = async (
  tx: Tx,
  rows: readonly { id: string; last: Date | null; skips: boolean }[],
): Promise<void> => {
  await sql`
    update schedules s set enabled = false, next_run_at = null, last_occurrence = r.last, revision = revision + 1,
      updated_at = platform_now(), last_outcome = case when r.skips then 'skipped' else s.last_outcome end
    from unnest(${rows.map((row) => row.id)}::uuid[], ${rows.map((row) => row.last)}::timestamptz[],
      ${rows.map((row) => row.skips)}::boolean[]) as r(id, last, skips)
    where s.id = r.id`.execute(tx);
};

/** Writes what became of the last occurrence, if nothing else of the schedule changes. */
export const updateLastOutcome = async (tx: Tx, id: string, outcome: LastOutcome): Promise<void> => {
  await tx.updateTable('schedules').set({ last_outcome: outcome }).where('id', '=', id).execute();
};

/** Resumes schedules, which are locked, with their next occurrences, computed by `zoneRules`. */
export const updateResumedRows = async (
  tx: Tx,
  rows: readonly { id: string; next: Date | null }[],
  zoneRules: string,
): Promise<void> => {
  await sql`
    update schedules s set enabled = true, next_run_at = r.next, zone_rules = ${zoneRules}, revision = revision + 1,
      updated_at = platform_now()
    from unnest(${rows.map((row) => row.id)}::uuid[], ${rows.map((row) => row.next)}::timestamptz[]) as r(id, next)
    where s.id = r.id`.execute(tx);
};

export const deleteScheduleRows = async (tx: Tx, ids: readonly string[]): Promise<void> => {
  await sql`delete from schedules where id = any(${ids}::uuid[])`.execute(tx);
};

/** The stored next run and the database's time, read together; undefined if the schedule is gone. */
export const findNextRun = async (
  executor: Executor,
  scheduleId: string,
): Promise<{ next_run_at: Date | null; now: Date } | undefined> =>
  (
    await sql<{ next_run_at: Date | null; now: Date }>`
      select next_run_at, platform_now() as now from schedules where id = ${scheduleId}`.execute(executor)
  ).rows[0];

/** Wakes the replicas in time for the first of these next occurrences, when the transaction commits. */
export const notifyNextRun = async (tx: Tx, next: readonly (Date | null)[]): Promise<void> => {
  let first = Number.POSITIVE_INFINITY;
  for (const time of next) first = Math.min(first, time?.getTime() ?? first);
  if (Number.isFinite(first)) await notify(tx, schedulesChannel, String(first));
};
