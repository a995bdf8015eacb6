import { type Executor, json, sql, type Tx } from '../database/index.ts';
import { newId } from '../lib/ids.ts';

export interface ScheduleRow {
  id: string;
  agent_id: string;
  cron_expression: string;
  timezone: string;
  enabled: boolean;
  catch_up: boolean;
  work_item_name: string | null;
  message: string;
  payload: Record<string, unknown>;
  metadata: Record<string, unknown>;
  last_run_at: Date | null;
  next_run_at: Date | null;
  last_occurrence: Date | null;
  zone_rules: string;
  revision: number;
  created_at: Date;
  updated_at: Date;
}

type Outcome = 'fired' | 'caught_up' | 'skipped' | 'manual';

export interface OccurrenceRow {
  id: string;
  schedule_id: string;
  scheduled_for: Date;
  outcome: Outcome;
  work_item_id: string | null;
  at: Date;
  count: number;
  reason: string | null;
}

declare module '../database/database.ts' {
  interface Schema {
    schedules: ScheduleRow;
    occurrences: OccurrenceRow;
  }
}

/** Listed, because a named statement with `*` fails after a migration that adds a column. */
const columns = [
  'id',
  'agent_id',
  'cron_expression',
  'timezone',
  'enabled',
  'catch_up',
  'work_item_name',
  'message',
  'payload',
  'metadata',
  'last_run_at',
  'next_run_at',
  'last_occurrence',
  'zone_rules',
  'revision',
  'created_at',
  'updated_at',
] as const satisfies readonly (keyof ScheduleRow)[];

const occurrenceColumns = [
  'id',
  'schedule_id',
  'scheduled_for',
  'outcome',
  'work_item_id',
  'at',
  'count',
  'reason',
] as const satisfies readonly (keyof OccurrenceRow)[];

/** What a client may say of a schedule: the body of create and replace, with its defaults filled in. */
export type Definition = Pick<
  ScheduleRow,
  'cron_expression' | 'timezone' | 'catch_up' | 'work_item_name' | 'message' | 'payload' | 'metadata'
>;

/** The mode of an agent with, where it is this agent's, one of its schedules; undefined for an unknown agent. */
export const findOfAgent = async (
  executor: Executor,
  agentId: string,
  scheduleId: string,
): Promise<{ mode: 'worker' | 'conversational'; schedule: ScheduleRow | null } | undefined> => {
  const row = await executor
    .selectFrom('agents as a')
    .leftJoin('schedules as s', (join) => join.onRef('s.agent_id', '=', 'a.id').on('s.id', '=', scheduleId))
    .select('a.mode')
    .select(columns.map((column) => `s.${column}` as const))
    .where('a.id', '=', agentId)
    .executeTakeFirst();
  if (!row) return undefined;
  const { mode, ...schedule } = row;
  return { mode, schedule: schedule.id === null ? null : (schedule as ScheduleRow) };
};

export const listOfAgent = (executor: Executor, agentId: string): Promise<ScheduleRow[]> =>
  executor
    .selectFrom('schedules')
    .select(columns)
    .where('agent_id', '=', agentId)
    .orderBy('id', 'desc')
    .execute();

export const countOfAgent = async (tx: Tx, agentId: string): Promise<number> =>
  (
    await tx
      .selectFrom('schedules')
      .select((eb) => eb.fn.countAll<number>().as('n'))
      .where('agent_id', '=', agentId)
      .executeTakeFirstOrThrow()
  ).n;

/** The schedule, locked until the transaction ends: firing passes over it meanwhile. */
export const lockSchedule = (tx: Tx, id: string): Promise<ScheduleRow | undefined> =>
  tx.selectFrom('schedules').select(columns).where('id', '=', id).forUpdate().executeTakeFirst();

const stored = (definition: Definition) => ({
  ...definition,
  payload: json(definition.payload),
  metadata: json(definition.metadata),
});

export const insertSchedule = (
  tx: Tx,
  agentId: string,
  definition: Definition,
  next: { at: Date; zoneRules: string },
): Promise<ScheduleRow> =>
  tx
    .insertInto('schedules')
    .values({
      id: newId(),
      agent_id: agentId,
      ...stored(definition),
      next_run_at: next.at,
      zone_rules: next.zoneRules,
    } as never)
    .returning(columns)
    .executeTakeFirstOrThrow();

/** A change through the API: raises the revision. */
export const changeSchedule = (
  tx: Tx,
  id: string,
  change: Partial<Pick<ScheduleRow, 'enabled' | 'next_run_at' | 'zone_rules' | 'last_occurrence'>> & {
    definition?: Definition;
  },
): Promise<ScheduleRow> => {
  const { definition, ...rest } = change;
  return tx
    .updateTable('schedules')
    .set({
      ...(definition ? stored(definition) : {}),
      ...rest,
      revision: sql`revision + 1`,
      updated_at: sql`platform_now()`,
    } as never)
    .where('id', '=', id)
    .returning(columns)
    .executeTakeFirstOrThrow();
};

export const deleteSchedule = async (tx: Tx, id: string): Promise<void> => {
  await tx.deleteFrom('schedules').where('id', '=', id).execute();
};

export const insertOccurrences = async (tx: Tx, rows: readonly OccurrenceRow[]): Promise<void> => {
  if (rows.length === 0) return;
  await sql`insert into occurrences (id, schedule_id, scheduled_for, outcome, work_item_id, at, count, reason)
    select * from unnest(
      ${rows.map((r) => r.id)}::uuid[], ${rows.map((r) => r.schedule_id)}::uuid[],
      ${rows.map((r) => r.scheduled_for)}::timestamptz[], ${rows.map((r) => r.outcome)}::text[],
      ${rows.map((r) => r.work_item_id)}::uuid[], ${rows.map((r) => r.at)}::timestamptz[],
      ${rows.map((r) => r.count)}::int[], ${rows.map((r) => r.reason)}::text[])`.execute(tx);
};

/** Newest first, from below the id `before`, one more than `limit`. */
export const listOccurrences = (
  executor: Executor,
  scheduleId: string,
  page: { limit: number; before: string | null },
): Promise<OccurrenceRow[]> => {
  const query = executor
    .selectFrom('occurrences')
    .select(occurrenceColumns)
    .where('schedule_id', '=', scheduleId)
    .orderBy('id', 'desc')
    .limit(page.limit + 1);
  return (page.before ? query.where('id', '<', page.before) : query).execute();
};

/** The next run as it is stored and the database's time, in one look; undefined where the schedule is gone. */
export const nextRunNow = async (
  executor: Executor,
  scheduleId: string,
): Promise<{ next_run_at: Date | null; now: Date } | undefined> =>
  (
    await sql<{ next_run_at: Date | null; now: Date }>`
      select next_run_at, platform_now() as now from schedules where id = ${scheduleId}`.execute(executor)
  ).rows[0];

/**
 * What was recorded of the occurrences in (from, to], also of several together of which some lie in there: two looks
 * at two indexes, since those that begin before the span are few and the others before it are not.
 */
export const recordedWithin = async (
  executor: Executor,
  scheduleId: string,
  from: Date,
  to: Date,
): Promise<OccurrenceRow[]> => {
  const { rows } = await sql<OccurrenceRow>`
    select ${sql.join(occurrenceColumns.map(sql.ref))} from occurrences
      where schedule_id = ${scheduleId} and scheduled_for > ${from} and scheduled_for <= ${to} and outcome <> 'manual'
    union all
    select ${sql.join(occurrenceColumns.map(sql.ref))} from occurrences
      where schedule_id = ${scheduleId} and scheduled_for <= ${from} and at > ${from} and count > 1`.execute(
    executor,
  );
  return rows;
};

/** Remove what happened more than `days` ago (0: nothing), at most `limit` rows; answers how many. */
export const retainOccurrences = async (tx: Tx, days: number, limit: number): Promise<number> => {
  if (days <= 0) return 0;
  const { numAffectedRows } = await sql`delete from occurrences where (schedule_id, id) in (
    select schedule_id, id from occurrences where at < platform_now() - ${days}::int * interval '1 day'
    order by at limit ${limit})`.execute(tx);
  return Number(numAffectedRows ?? 0);
};
