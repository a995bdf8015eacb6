import { type Executor, type Json, json, notify, sql, type Table, type Tx } from '../database/index.ts';

/**
 * The channel on which a write notifies when the schedule that it made or changed is next due (milliseconds since
 * 1970).
 */
export const schedulesChannel = 'schedules';

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

declare module '../database/database.ts' {
  interface Schema {
    schedules: Table<
      Omit<ScheduleRow, 'payload' | 'metadata'> &
        Record<'payload' | 'metadata', Json<Record<string, unknown>>>,
      'enabled' | 'revision' | 'created_at' | 'updated_at'
    >;
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

/** What a client defines of a schedule: the body of create and replace, with its defaults filled in. */
export type Definition = Pick<
  ScheduleRow,
  'cron_expression' | 'timezone' | 'catch_up' | 'work_item_name' | 'message' | 'payload' | 'metadata'
>;

/** The mode of an agent, with the schedule if it is this agent's; undefined for an unknown agent. */
export const findScheduleOfAgent = async (
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

/** Newest first. */
export const listSchedules = (executor: Executor, agentId: string): Promise<ScheduleRow[]> =>
  executor
    .selectFrom('schedules')
    .select(columns)
    .where('agent_id', '=', agentId)
    .orderBy('id', 'desc')
    .execute();

export const countSchedules = async (tx: Tx, agentId: string): Promise<number> =>
  (
    await tx
      .selectFrom('schedules')
      .select((eb) => eb.fn.countAll<number>().as('n'))
      .where('agent_id', '=', agentId)
      .executeTakeFirstOrThrow()
  ).n;

/** The schedule, locked until the transaction ends: in the meantime firing leaves it out. */
export const findLockedSchedule = (tx: Tx, id: string): Promise<ScheduleRow | undefined> =>
  tx.selectFrom('schedules').select(columns).where('id', '=', id).forUpdate().executeTakeFirst();

const toRow = (definition: Definition) => ({
  ...definition,
  payload: json(definition.payload),
  metadata: json(definition.metadata),
});

export const insertSchedule = (
  tx: Tx,
  id: string,
  agentId: string,
  definition: Definition,
  next: Pick<ScheduleRow, 'next_run_at' | 'zone_rules'>,
): Promise<ScheduleRow> =>
  tx
    .insertInto('schedules')
    .values({ id, agent_id: agentId, ...toRow(definition), ...next })
    .returning(columns)
    .executeTakeFirstOrThrow();

/** Writes a change through the API, which raises the revision. */
export const updateScheduleRow = (
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
      ...(definition ? toRow(definition) : {}),
      ...rest,
      revision: sql<number>`revision + 1`,
      updated_at: sql<Date>`platform_now()`,
    })
    .where('id', '=', id)
    .returning(columns)
    .executeTakeFirstOrThrow();
};

export const deleteScheduleRow = async (tx: Tx, id: string): Promise<void> => {
  await tx.deleteFrom('schedules').where('id', '=', id).execute();
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

/** Wakes the replicas in time for the next occurrence of `row`, when the transaction commits. */
export const notifyNextRun = async (tx: Tx, row: ScheduleRow): Promise<void> => {
  if (row.next_run_at) await notify(tx, schedulesChannel, String(row.next_run_at.getTime()));
};
