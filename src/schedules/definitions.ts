import { type Executor, sql, type Tx } from '../database/index.ts';
import type { ScheduleRow } from './store.ts';

/** When a schedule was due from some moment on, until the next row says otherwise: what an audit recomputes with. */
export interface DefinitionRow {
  schedule_id: string;
  /** The schedule's revision that this came with. */
  revision: number;
  /** Occurrences strictly after this are its own. */
  from_at: Date;
  cron_expression: string;
  timezone: string;
  enabled: boolean;
}

declare module '../database/database.ts' {
  interface Schema {
    schedule_definitions: DefinitionRow;
  }
}

/** Keep when `row` is due from `at` on, in the transaction that made it so. */
export const keepDefinition = async (tx: Tx, row: ScheduleRow, at: number): Promise<void> => {
  const { id, revision, cron_expression, timezone, enabled } = row;
  await sql`insert into schedule_definitions (schedule_id, revision, from_at, cron_expression, timezone, enabled)
    values (${id}, ${revision}, ${new Date(at)}, ${cron_expression}, ${timezone}, ${enabled})`.execute(tx);
};

/** All that are known, oldest first. */
export const definitionsOf = (executor: Executor, scheduleId: string): Promise<DefinitionRow[]> =>
  executor
    .selectFrom('schedule_definitions')
    .select(['schedule_id', 'revision', 'from_at', 'cron_expression', 'timezone', 'enabled'])
    .where('schedule_id', '=', scheduleId)
    .orderBy('revision')
    .execute();
