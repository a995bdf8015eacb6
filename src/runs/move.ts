import { json, type RawBuilder, sql, type Tx } from '../database/index.ts';
import type { Principal, Who } from '../lib/principal.ts';
import { type Moved, type RunKind, type RunRow, sqlOf } from './kind.ts';
import type { ReviewEnd } from './types.ts';

/** Entry of the history for a change of status. */
export interface MoveReason<Row extends RunRow> {
  action: string;
  /** `sessionId`: that of a person in the application. */
  principal: Who & Partial<Pick<Principal, 'sessionId'>>;
  /** How the review of the run that waited ended; absent: it is withdrawn. */
  reviewEnd?: ReviewEnd | undefined;
  /** Details of all rows, or a function that returns those of each row. */
  details?: Record<string, unknown> | ((row: Moved<Row>) => Record<string, unknown>) | undefined;
}

/** A change of status of all runs that match `where`, `w` being the row before it. */
export interface Move<Row extends RunRow> extends MoveReason<Row> {
  where: RawBuilder<unknown>;
  /** Values for each run, with its `id`: `g` in the expressions. `columns` are their types. */
  given?: { rows: readonly { id: string }[]; columns: RawBuilder<unknown> };
  /** The next status, as an expression of `w`. */
  to: RawBuilder<unknown>;
  /** Further assignments; they may use `w` and `moving.to_status`. */
  set?: readonly RawBuilder<unknown>[] | undefined;
  /** Largest number of runs, without those that another transaction has locked. */
  limit?: number;
  /** Leaves out those that another transaction has locked. */
  skipLocked?: boolean;
  /** Called with the rows before their history is written: what it stores is there first. */
  before?: (rows: readonly Moved<Row>[]) => Promise<void>;
}

/**
 * Returns what moves runs of a kind: one conditional UPDATE, and what belongs to every change of a status. The condition
 * is checked on the locked row, so that of two that would move the same run the second sees what the first has made of
 * it. A run that is not in progress any more gives up its lease. The lease is the locked row's, as the status is:
 * PostgreSQL checks constraints on a row as the statement first saw it, and only then looks whether it was changed in
 * the meantime, so the two must not come from different versions of the row.
 */
export const moveOf = <Row extends RunRow>(kind: RunKind<Row>) => {
  const { table, from, locked, word, isFinished } = sqlOf(kind);
  const to = sql`moving.to_status`;
  const isExecuting = sql`${to} = ${word('EXECUTING')}`;
  const always = [
    sql`status = ${to}`,
    sql`finished_at = case when ${isFinished(to)} then platform_now() end`,
    sql`lease_owner = case when ${isExecuting} then moving.lease_owner end`,
    sql`lease_expires_at = case when ${isExecuting} then moving.lease_expires_at end`,
    ...(kind.unsafeColumn
      ? [sql`${sql.ref(kind.unsafeColumn)} = ${isExecuting} and w.${sql.ref(kind.unsafeColumn)}`]
      : []),
    ...kind.onMove,
  ];
  return async (tx: Tx, move: Move<Row>): Promise<Moved<Row>[]> => {
    const bound = move.limit === undefined ? sql`` : sql`limit ${move.limit}`;
    const skip = move.limit !== undefined || move.skipLocked ? sql`skip locked` : sql``;
    const { given } = move;
    const list = given
      ? sql`given as (select * from jsonb_to_recordset(${json(given.rows)}::jsonb) as g(${given.columns})), `
      : sql``;
    const { rows } = await sql<Moved<Row>>`
      with ${list}moving as (
        select w.id, w.status as from_status, ${move.to} as to_status, w.lease_owner, w.lease_expires_at
        from ${from} ${given ? sql`join given g on g.id = w.id` : sql``} where ${move.where} ${bound}
        for update of ${locked} ${skip}
      )
      update ${table} w set ${sql.join([...always, ...(move.set ?? [])])}
      from moving ${given ? sql`join given g on g.id = moving.id` : sql``} where w.id = moving.id
      returning ${kind.columns}, moving.from_status`.execute(tx);
    if (rows.length === 0) return rows;
    await move.before?.(rows);
    await kind.onMoved(tx, rows, move);
    return rows;
  };
};
