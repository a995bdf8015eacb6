import { type Executor, type Page, sql, type Table, type Tx } from '../../database/index.ts';

type ExtractionStatus = 'PENDING' | 'RUNNING' | 'COMPLETED' | 'ERROR';

export interface ExtractionRow {
  id: string;
  status: ExtractionStatus;
  /** Sealed. */
  record: string;
  /** Sealed: what a list shows. Null for rows of an earlier version. */
  summary: string | null;
  created_by: string;
  replica: string;
  alive_at: Date;
  created_at: Date;
  finished_at: Date | null;
}

declare module '../../database/database.ts' {
  interface Schema {
    extractions: Table<ExtractionRow, 'alive_at' | 'created_at' | 'finished_at'>;
  }
}

const columns = [
  'id',
  'status',
  'record',
  'summary',
  'created_by',
  'replica',
  'alive_at',
  'created_at',
  'finished_at',
] as const;
const now = sql<Date>`platform_now()`;

export const findExtraction = (executor: Executor, id: string): Promise<ExtractionRow | undefined> =>
  executor.selectFrom('extractions').select(columns).where('id', '=', id).executeTakeFirst();

/** Those that `createdBy` made, newest first, without their records. */
export const listExtractions = (
  executor: Executor,
  createdBy: string,
  { limit, next }: Page,
): Promise<Omit<ExtractionRow, 'record'>[]> =>
  executor
    .selectFrom('extractions')
    .select(columns.filter((column) => column !== 'record'))
    .where('created_by', '=', createdBy)
    .where('summary', 'is not', null)
    .$if(next !== null, (query) => query.where('id', '<', next!))
    .orderBy('id', 'desc')
    .limit(limit + 1)
    .execute();

export const insertExtraction = (
  tx: Tx,
  row: Pick<ExtractionRow, 'id' | 'record' | 'summary' | 'created_by' | 'replica'>,
): Promise<ExtractionRow> =>
  tx
    .insertInto('extractions')
    .values({ ...row, status: 'PENDING' })
    .returning(columns)
    .executeTakeFirstOrThrow();

/** Writes that one that is open runs. */
export const markRunning = async (tx: Tx, id: string): Promise<void> => {
  await tx
    .updateTable('extractions')
    .set({ status: 'RUNNING' })
    .where('id', '=', id)
    .where('status', '=', 'PENDING')
    .execute();
};

/** Ends one that is open. Nothing happens to one that has ended or was deleted. */
export const finishExtraction = async (
  tx: Tx,
  { id, status, record, summary }: Pick<ExtractionRow, 'id' | 'status' | 'record' | 'summary'>,
): Promise<void> => {
  await tx
    .updateTable('extractions')
    .set({ status, record, summary, finished_at: now })
    .where('id', '=', id)
    .where('finished_at', 'is', null)
    .execute();
};

/** Writes that these are alive. Returns those that still are: the others were deleted, or ended by another replica. */
export const keepAlive = async (tx: Tx, ids: readonly string[]): Promise<Set<string>> => {
  const rows = await tx
    .updateTable('extractions')
    .set({ alive_at: now })
    .where('id', 'in', ids)
    .where('finished_at', 'is', null)
    .returning('id')
    .execute();
  return new Set(rows.map(({ id }) => id));
};

/** Locks the open ones that no replica works on any more: silent for `seconds`, or of a `replica` that starts. */
export const lockAbandoned = (
  tx: Tx,
  { seconds, replica }: { seconds: number; replica: string | null },
): Promise<ExtractionRow[]> =>
  tx
    .selectFrom('extractions')
    .select(columns)
    .where('finished_at', 'is', null)
    .where((where) =>
      where.or([
        where('alive_at', '<', sql<Date>`platform_now() - ${seconds} * interval '1 second'`),
        where('replica', '=', replica ?? ''),
      ]),
    )
    .orderBy('alive_at')
    .limit(100)
    .forUpdate()
    .skipLocked()
    .execute();

export const deleteExtractionRow = async (tx: Tx, id: string): Promise<void> => {
  await tx.deleteFrom('extractions').where('id', '=', id).execute();
};

/** Removes at most `limit` that ended more than `hours` ago. Returns how many. */
export const deleteOldExtractions = async (tx: Tx, hours: number, limit: number): Promise<number> => {
  const { rows } = await sql`delete from extractions where id in (
    select id from extractions where finished_at < platform_now() - ${hours} * interval '1 hour' limit ${limit}
  ) returning id`.execute(tx);
  return rows.length;
};
