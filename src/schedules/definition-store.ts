import { type Executor, sql, type Tx } from '../database/index.ts';
import type { ScheduleRow } from './store.ts';

/** When a schedule was due, from some moment until that of the next row: what a reconciliation computes with. */
export interface DefinitionVersion {
  schedule_id: string;
  /** The revision of the schedule that this came with. */
  revision: number;
  /** It defines the occurrences strictly after this. */
  from_at: Date;
  cron_expression: string;
  timezone: string;
  enabled: boolean;
}

declare module '../database/database.ts' {
  interface Schema {
    schedule_definitions: DefinitionVersion;
  }
}

/** Records when `row` is due from `at` on, in the transaction that made it so. */
export const recordDefinitionVersion = async (tx: Tx, row: ScheduleRow, at: number): Promise<void> => {
  const { id, revision, cron_expression, timezone, enabled } = row;
  await sql`insert into schedule_definitions (schedule_id, revision, from_at, cron_expression, timezone, enabled)
    values (${id}, ${revision}, ${new Date(at)}, ${cron_expression}, ${timezone}, ${enabled})`.execute(tx);
};

/** All versions, oldest first. */
export const listDefinitionVersions = (
  executor: Executor,
  scheduleId: string,
): Promise<DefinitionVersion[]> =>
  executor
    .selectFrom('schedule_definitions')
    .select(['schedule_id', 'revision', 'from_at', 'cron_expression', 'timezone', 'enabled'])
    .where('schedule_id', '=', scheduleId)
    .orderBy('revision')
    .execute();
