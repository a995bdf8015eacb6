import { json, type RawBuilder, sql, type Tx } from '../database/index.ts';
import type { Who } from '../lib/principal.ts';
import type { StoredUsage } from '../lib/usage.ts';
import { asked } from './approvals.ts';
import { withFields } from './field-order.ts';
import { type Moved, type RunKind, type RunRow, sqlOf } from './kind.ts';
import { moveOf } from './move.ts';
import { type BudgetWait, type Lease, type NewApproval, type RunError, worker } from './types.ts';

/** Usage of all attempts of a run so far. Absent and null fields do not change. */
interface Used {
  usage?: StoredUsage | null;
  /** The model that replied last. */
  model?: string | null;
}

export interface Ending extends Lease, Used {
  status: 'COMPLETED' | 'NEEDS_REVIEW' | 'INDETERMINATE' | 'ERROR' | 'CANCELLED';
  result?: unknown;
  error?: RunError | null;
  /** Reason why a person is asked, and to decide what: NEEDS_REVIEW and INDETERMINATE only. */
  review?: { reason: string | null; approvals: readonly NewApproval[] };
  /** CANCELLED instead, without a result, if that was requested: whichever is committed first counts. */
  unlessCancelled?: boolean;
}

/** A failed attempt after which another may follow. */
export interface Retry extends Lease, Used {
  error: RunError;
  /** The shortest time until the next attempt; default 0. */
  waitSeconds?: number;
  /** The exact time instead; default null. */
  afterSeconds?: number | null;
}

/** An attempt that a budget stopped until its next period. */
export interface Postponement extends Lease, Used {
  wait: BudgetWait;
  /** The end of the period. */
  until: Date;
}

/** Options of `finishAll`. */
interface Finishing<Row extends RunRow> {
  by?: Who | undefined;
  /** Leaves those alone that another transaction has locked. */
  skipLocked?: boolean;
  /** Called with the rows before their history is written. */
  before?: (rows: readonly Moved<Row>[]) => Promise<void>;
}

/** Seconds until the attempt after `w.attempts`: 2, 4, 8 … at most 300. */
const backoff = sql`least(300, 2 ^ least(w.attempts, 10))`;

/** True if another attempt may follow, by the version that the run is pinned to. */
const attemptsOfVersion = sql`w.attempts < coalesce(
  (select (v.content ->> 'max_attempts')::integer from agent_versions v
    where v.agent_id = w.agent_id and v.number = w.agent_version),
  (select max_attempts from agents where id = w.agent_id))`;

const jsonOrNull = (value: unknown) => (value == null ? null : json(value));
const used = ({ usage, model }: Used) => [
  sql`usage = coalesce(${jsonOrNull(usage)}::jsonb, w.usage)`,
  sql`model = coalesce(${model ?? null}, w.model)`,
];

const given = sql`id uuid, fencing bigint, unless_cancelled boolean, status text, result jsonb, error jsonb,
  usage jsonb, model text, review_reason text, approvals jsonb`;

const ifAsGiven = (value: RawBuilder<unknown>) =>
  sql`case when moving.to_status = g.status then ${value} end`;

const unknownOutcome = 'It is not known whether a call that must not be repeated took effect.';

/** Returns the ends of executions of runs of a kind. */
export const endingsOf = <Row extends RunRow>(kind: RunKind<Row>) => {
  const { wordOf, word, holds, cancelRequested, isUnsafe } = sqlOf(kind);
  const move = moveOf(kind);
  const attemptsLeft = kind.attemptsLeft ?? attemptsOfVersion;
  const hasIndeterminate = wordOf('INDETERMINATE') !== wordOf('NEEDS_REVIEW');

  const asGiven = ({
    id,
    fencing,
    status,
    result,
    error,
    usage,
    model,
    review,
    unlessCancelled,
  }: Ending) => ({
    id,
    fencing,
    unless_cancelled: unlessCancelled ?? false,
    status: wordOf(status),
    result,
    error: status === 'INDETERMINATE' && !hasIndeterminate ? null : error,
    usage,
    model,
    review_reason: review?.reason,
    approvals: review?.approvals.length ? review.approvals.map(withFields) : null,
  });

  /** Ends executions together. Returns those that ended: the others lost their leases, or were left alone. */
  const finishAll = (
    tx: Tx,
    endings: readonly Ending[],
    { by = worker, ...how }: Finishing<Row> = {},
  ): Promise<Moved<Row>[]> =>
    move(tx, {
      given: { rows: endings.map(asGiven), columns: given },
      where: sql`w.fencing = g.fencing and w.status = ${word('EXECUTING')}`,
      to: sql`case when g.unless_cancelled and ${cancelRequested} then ${word('CANCELLED')} else g.status end`,
      set: [
        sql`error = ${ifAsGiven(sql`g.error`)}`,
        sql`usage = coalesce(g.usage, w.usage)`,
        sql`model = coalesce(g.model, w.model)`,
        asked(ifAsGiven(sql`g.approvals`)),
        ...kind.onEnd(ifAsGiven(sql`g.result`), ifAsGiven(sql`g.review_reason`)),
      ],
      action: 'finish',
      principal: by,
      details: (row) => ({ outcome: row.status, ...(row.error ? { error: row.error } : {}) }),
      ...how,
    });

  /** Records that an execution would have ended so, but its lease was lost. */
  const recordLateFinish = async (
    tx: Tx,
    { status, error, id, fencing, by = worker }: Ending,
  ): Promise<void> =>
    kind.onLate?.(
      tx,
      { id, fencing, by },
      { outcome: status, ...(error ? { error } : {}), action: 'finish' },
    );

  /** Ends the execution. Returns null if the lease was lost: only the history changes. */
  const finish = async (tx: Tx, ending: Ending): Promise<Moved<Row> | null> => {
    const [moved] = await finishAll(tx, [ending], { by: ending.by });
    if (moved) return moved;
    await recordLateFinish(tx, ending);
    return null;
  };

  /**
   * After a failed attempt: PENDING again after the back-off while attempts are left, but not before `waitSeconds` (after
   * exactly `afterSeconds` if that is given); otherwise ERROR; CANCELLED if that was requested. Returns null if the
   * lease was lost.
   */
  const retry = async (tx: Tx, { error, waitSeconds = 0, afterSeconds = null, ...lease }: Retry) => {
    const [moved] = await move(tx, {
      where: holds(lease),
      to: sql`case when ${cancelRequested} then ${word('CANCELLED')} when ${attemptsLeft} then ${word('PENDING')}
        else ${word('ERROR')} end`,
      set: [
        sql`error = case when moving.to_status = ${word('ERROR')} then ${json(error)}::jsonb end`,
        sql`not_before = case when moving.to_status = ${word('PENDING')} then platform_now() + coalesce(
          ${afterSeconds}::double precision, greatest(${waitSeconds}::double precision, ${backoff})) * interval '1 second' end`,
        ...used(lease),
      ],
      action: 'retry',
      principal: lease.by ?? worker,
      details: { error },
    });
    if (moved) return moved;
    await kind.onLate?.(tx, { by: worker, ...lease }, { error, action: 'retry' });
    return null;
  };

  /** The next status of `w`, whose worker can do nothing more for it. */
  const statusWithoutWorker = (otherwise: RawBuilder<unknown>) =>
    sql`case when ${cancelRequested} then ${word('CANCELLED')} when ${isUnsafe} then ${word('INDETERMINATE')}
      ${otherwise} end`;

  /** After such an end people are asked about each call that must not be repeated. */
  const withoutWorker = (unsafe: string, otherwise: string) => {
    const ifUnsafe = (value: RawBuilder<unknown>) =>
      sql`case when moving.to_status = ${word('INDETERMINATE')} then ${value} end`;
    const isUnsafeError = hasIndeterminate
      ? sql`when ${word('INDETERMINATE')} then ${json({ code: 'indeterminate', message: unsafe })}::jsonb`
      : sql``;
    return [
      sql`error = case moving.to_status ${isUnsafeError}
        when ${word('ERROR')} then ${json({ code: 'lease_lost', message: otherwise })}::jsonb end`,
      asked(ifUnsafe(sql`w.unsafe_calls`)),
      ...kind.onEnd(
        sql`null::jsonb`,
        ifUnsafe(sql`case when w.unsafe_calls is not null then ${unknownOutcome} end`),
      ),
    ];
  };

  /** Releases the run of a stopping worker. The attempt does not count. Returns null if the lease was lost. */
  const release = async (tx: Tx, lease: Lease & Used): Promise<Moved<Row> | null> => {
    const [moved] = await move(tx, {
      where: holds(lease),
      to: statusWithoutWorker(sql`else ${word('PENDING')}`),
      set: [
        sql`attempts = w.attempts - case when moving.to_status = ${word('PENDING')} then 1 else 0 end`,
        ...withoutWorker('The worker was stopped during a tool call that must not be repeated.', ''),
        ...used(lease),
      ],
      action: 'hand_back',
      principal: lease.by ?? worker,
    });
    return moved ?? null;
  };

  /**
   * PENDING until a time of the half minute after the end of a period, so that not all go on at once. The attempt does not
   * count. CANCELLED if that was requested. Returns null if the lease was lost.
   */
  const postpone = async (tx: Tx, { wait, until, ...lease }: Postponement): Promise<Moved<Row> | null> => {
    const [moved] = await move(tx, {
      where: holds(lease),
      to: sql`case when ${cancelRequested} then ${word('CANCELLED')} else ${word('PENDING')} end`,
      set: [
        sql`attempts = w.attempts - 1`,
        sql`not_before = case when moving.to_status = ${word('PENDING')} then
          ${until}::timestamptz + random() * interval '30 seconds' end`,
        ...(kind.onBudgetWait?.(sql`${json(wait)}::jsonb`) ?? []),
        ...used(lease),
      ],
      action: 'hand_back',
      principal: lease.by ?? worker,
      details: { reason: 'budget', budget_id: wait.budget_id, until: until.toISOString() },
    });
    return moved ?? null;
  };

  /**
   * Takes up to `limit` runs, or the one with `id`, from workers that sent no heartbeat within the lease: PENDING while
   * attempts are left, otherwise ERROR; INDETERMINATE if a tool call that must not be repeated was in flight; CANCELLED
   * if that was requested.
   */
  const recoverLost = (tx: Tx, limit: number, id: string | null = null): Promise<Moved<Row>[]> =>
    move(tx, {
      where: sql`w.status = ${word('EXECUTING')} and w.lease_expires_at <= (select platform_now())
        ${id === null ? sql`` : sql`and w.id = ${id}`}`,
      limit,
      to: statusWithoutWorker(sql`when ${attemptsLeft} then ${word('PENDING')} else ${word('ERROR')}`),
      set: withoutWorker(
        'The worker was lost during a tool call that must not be repeated.',
        'The worker was lost, and no attempts are left.',
      ),
      action: 'lease_lost',
      principal: worker,
    });

  return { move, finishAll, recordLateFinish, finish, retry, release, postpone, recoverLost };
};
