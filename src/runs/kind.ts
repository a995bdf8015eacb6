import { type RawBuilder, sql, type Tx } from '../database/index.ts';
import type { StoredUsage } from '../lib/usage.ts';
import type { MoveReason } from './move.ts';
import type { Lease, PendingApproval, RunError, StoredDecision } from './types.ts';

/** The states of a run: waiting, in progress, waiting for a person (twice), ended. A table may have other words for them. */
export type RunState =
  | 'PENDING'
  | 'EXECUTING'
  | 'NEEDS_REVIEW'
  | 'INDETERMINATE'
  | 'COMPLETED'
  | 'ERROR'
  | 'CANCELLED';

/** The columns that rows of every kind have. */
export interface RunRow {
  id: string;
  status: string;
  error: RunError | null;
  /** The version that the run is pinned to; null before its first claim. */
  agent_version: number | null;
  usage: StoredUsage | null;
  /** The decisions that a person is asked for; null is an empty list. */
  pending_approvals: PendingApproval[] | null;
  /** The decisions that were made last; null is an empty list. */
  decisions: StoredDecision[] | null;
}

/** A row after its status changed. */
export type Moved<Row extends RunRow> = Row & { from_status: Row['status'] };

/**
 * One kind of run: its table, its words, and what else happens when a run moves.
 *
 * The table has the columns `id`, `agent_id`, `agent_version`, `status`, `attempts`, `fencing`, `lease_owner`, `lease_expires_at`,
 * `not_before`, `created_at`, `finished_at`, `error`, `usage`, `model`, `trace_id`, `pending_approvals`, `decisions`,
 * `unsafe_calls` and `tokens_before`. Every expression calls its row `w`.
 */
export interface RunKind<Row extends RunRow> {
  table: string;
  columns: RawBuilder<unknown>;
  /**
   * The words of the table for the states; absent: the same. Without one for INDETERMINATE, such runs are
   * NEEDS_REVIEW, and have no error.
   */
  words?: Readonly<Record<Exclude<RunState, 'INDETERMINATE'>, Row['status']>> & {
    INDETERMINATE?: Row['status'];
  };
  /** A row that is always locked before the run: its table, and the column that has its id. */
  parent?: { table: string; key: string };
  /** The time at which a cancel of a run in progress was requested; absent: a cancel ends it at once. */
  cancelColumn?: string;
  /** True if calls are in flight that must not be repeated; absent: `unsafe_calls` says it. */
  unsafeColumn?: string;
  /** True if another attempt may follow `w`; absent: as the version says that the run is pinned to. */
  attemptsLeft?: RawBuilder<unknown>;
  /** Assignments of a claim. */
  onClaim: readonly RawBuilder<unknown>[];
  /** Assignments of every other change of status. */
  onMove: readonly RawBuilder<unknown>[];
  /** Assignments that store how an execution ended: expressions for the result (jsonb) and why people are asked (text). */
  onEnd(result: RawBuilder<unknown>, reason: RawBuilder<unknown>): readonly RawBuilder<unknown>[];
  /** Assignments of what makes a run wait for a budget (jsonb); absent: such runs never wait. */
  onBudgetWait?(wait: RawBuilder<unknown>): readonly RawBuilder<unknown>[];
  /** Parts left out of the prompt: an expression that reads them, and an assignment or a statement that stores them. */
  contextCut: {
    read: RawBuilder<unknown>;
    save(
      cut: RawBuilder<unknown>,
      lease: Lease,
    ): { set: RawBuilder<unknown> } | { alongside: RawBuilder<unknown> };
  };
  /** A statement that stores the traces of `items` (`id`, `trace_id`) elsewhere too. */
  onTrace?(items: RawBuilder<unknown>): RawBuilder<unknown>;
  /** True if messages of the conversation of `w` are stored; absent: perhaps. */
  hasMessages?: RawBuilder<unknown>;
  /** Called in the transaction of every change of status, a claim included. */
  onMoved(tx: Tx, rows: readonly Moved<Row>[], reason: MoveReason<Row>): Promise<void>;
  /** Called for an end that came after the lease was lost. */
  onLate?(tx: Tx, lease: Required<Lease>, details: Record<string, unknown>): Promise<void>;
}

/** SQL that the modules of runs share, for one kind. */
export const sqlOf = <Row extends RunRow>({
  table,
  words,
  parent,
  cancelColumn,
  unsafeColumn,
}: RunKind<Row>) => {
  const wordOf = (status: RunState): string => (words ? (words[status] ?? words.NEEDS_REVIEW) : status);
  const word = (status: RunState) => sql.lit(wordOf(status));
  return {
    table: sql.table(table),
    wordOf,
    word,
    /** The table as `w`, with what is locked before it. */
    from: parent
      ? sql`${sql.table(table)} w join ${sql.table(parent.table)} c on c.id = w.${sql.ref(parent.key)}`
      : sql`${sql.table(table)} w`,
    locked: parent ? sql`c, w` : sql`w`,
    holds: ({ id, fencing }: Lease) =>
      sql`w.id = ${id} and w.fencing = ${fencing} and w.status = ${word('EXECUTING')}`,
    cancelRequested: cancelColumn ? sql`w.${sql.ref(cancelColumn)} is not null` : sql`false`,
    isUnsafe: unsafeColumn ? sql`w.${sql.ref(unsafeColumn)}` : sql`w.unsafe_calls is not null`,
    isFinished: (status: RawBuilder<unknown>) =>
      sql`${status} in (${word('COMPLETED')}, ${word('ERROR')}, ${word('CANCELLED')})`,
  };
};
