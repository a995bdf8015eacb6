import { setTimeout as sleep } from 'node:timers/promises';
import { type Database, sql } from '../src/database/index.ts';

/** Milliseconds that the database has spent on statements so far. A connection reports them at most once a second. */
export const activeMs = async (db: Database): Promise<number> => {
  await sleep(1_100);
  await db.run((reader) => sql`select 1`.execute(reader));
  const { rows } = await db.run((reader) =>
    sql<{ ms: number }>`select pg_stat_clear_snapshot(), active_time as ms from pg_stat_database
      where datname = current_database()`.execute(reader),
  );
  return rows[0]!.ms;
};
