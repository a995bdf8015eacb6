import { statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import type pg from 'pg';
import { itemTables } from './seed.ts';

export interface TableSize {
  name: string;
  table: number;
  indexes: number;
  dead: number;
  removed: number;
  autovacuums: number;
}

const megabyte = 2 ** 20;

/** Sizes in bytes, and what the statistics of PostgreSQL count. */
export const tableSizes = async (db: pg.Client): Promise<TableSize[]> => {
  const { rows } = await db.query<TableSize>(
    `select relname as name, pg_table_size(relid)::float8 as table, pg_indexes_size(relid)::float8 as indexes,
      n_dead_tup::float8 as dead, n_tup_del::float8 as removed, autovacuum_count::float8 as autovacuums
      from pg_stat_user_tables where relname = any($1) order by array_position($1, relname::text)`,
    [[...itemTables, 'schedules']],
  );
  return rows;
};

/** One row for each table. */
export const growth = (before: TableSize[], after: TableSize[], workItems: number) =>
  before.map((was, n) => {
    const is = after[n]!;
    const percent = (from: number, to: number): string => `${(((to - from) / from) * 100).toFixed(1)} %`;
    return {
      table: was.name,
      'bytes a Work Item': Math.round((was.table + was.indexes) / workItems),
      'table MB': Math.round(was.table / megabyte),
      'grew by': percent(was.table, is.table),
      'indexes MB': Math.round(was.indexes / megabyte),
      'grew by ': percent(was.indexes, is.indexes),
      removed: is.removed - was.removed,
      'dead rows': is.dead,
      autovacuums: is.autovacuums - was.autovacuums,
    };
  });

/** Disk of a Work Item with all its rows, of a schedule, and of the write-ahead log: rounded up from what was measured. */
const bytes = { workItem: 5_000, schedule: 1_200, log: 8 * 2 ** 30 };

/**
 * Throws if the disk of temporary files has too little room. `HISTORY_DISK=compressed`: the file system compresses, so
 * what fits is not known.
 */
export const refuseTooMuch = async (workItems: number, schedules: number): Promise<void> => {
  if (process.env.HISTORY_DISK === 'compressed') return;
  const needed = workItems * bytes.workItem + schedules * bytes.schedule + bytes.log;
  const { bavail, bsize } = await statfs(tmpdir());
  const gigabytes = (n: number): string => `${Math.ceil(n / 2 ** 30)} GB`;
  if (needed > bavail * bsize)
    throw new Error(
      `This needs some ${gigabytes(needed)} in ${tmpdir()}, which has ${gigabytes(bavail * bsize)}. Set HISTORY_WORK_ITEMS or HISTORY_SCHEDULES lower.`,
    );
};
