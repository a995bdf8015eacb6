import { type Executor, json, sql, type Tx } from '../database/index.ts';
import type { Principal } from '../lib/principal.ts';
import type { NewApproval } from './approvals.ts';
import { hasEvent, recordEvents } from './history-store.ts';
import type { Status } from './states.ts';
import { stepTrace } from './step-store.ts';
import type { WorkItem, WorkItemError, WorkItemUsage } from './store.ts';
import { transition } from './transitions.ts';

/** Whom the history names for what the platform does by itself. */
export const worker = { kind: 'system', id: 'worker', name: 'worker' } as const;

/** Who did something, for the history. */
export type Who = Pick<Principal, 'kind' | 'id' | 'name'>;

/** A claimed Work Item and the fencing token of the claim. */
export interface Lease {
  id: string;
  fencing: number;
  /** Whom the history names; by default the worker of the platform. */
  by?: Who;
}

const holds = ({ id, fencing }: Lease) =>
  sql`w.id = ${id} and w.fencing = ${fencing} and w.status = 'EXECUTING'`;

/** Extends the lease. Not `alive`: it was lost, and nothing that its holder does counts any more. */
export const heartbeat = async (
  executor: Executor,
  lease: Lease & { leaseSeconds: number },
): Promise<{ alive: boolean; cancelRequested: boolean }> => {
  const { rows } = await sql<{ cancel: boolean }>`
    update work_items w set lease_expires_at = platform_now() + make_interval(secs => ${lease.leaseSeconds})
    where ${holds(lease)} returning w.cancel_requested_at is not null as cancel`.execute(executor);
  return { alive: rows.length === 1, cancelRequested: rows[0]?.cancel ?? false };
};

/** Records that a tool call that must not be repeated begins or has ended. False if the lease was lost. */
export const setToolInFlight = async (tx: Tx, lease: Lease & { inFlight: boolean }): Promise<boolean> => {
  const { rows } = await sql`update work_items w set unsafe_tool_in_flight = ${lease.inFlight}
    where ${holds(lease)} returning 1`.execute(tx);
  return rows.length === 1;
};

/** Records the trace of the current attempt. False if the lease was lost. */
export const setTrace = async (tx: Tx, lease: Lease & { traceId: string }): Promise<boolean> => {
  const { rows } = await sql`with held as (
      update work_items w set trace_id = ${lease.traceId} where ${holds(lease)} returning w.id, w.trace_id
    ), ${stepTrace(sql`held`)}
    select 1 from held`.execute(tx);
  return rows.length === 1;
};

const jsonOrNull = (value: unknown) => (value == null ? null : json(value));
const attemptsLeft = sql`w.attempts < (select max_attempts from agents where id = w.agent_id)`;

/** Records a result that came after the lease was lost, once however often it comes. Nothing else changes. */
export const recordLateResult = async (
  tx: Tx,
  { id, fencing, by = worker }: Lease,
  details: Record<string, unknown>,
): Promise<void> => {
  const { rows } = await sql<{ status: Status }>`
    select status from work_items where id = ${id} for update`.execute(tx);
  const late = { ...details, fencing };
  for (const { status } of rows) {
    if (await hasEvent(tx, id, 'late_result', late)) continue;
    const moved = [{ id, from: status, to: status, details: late }];
    await recordEvents(tx, { action: 'late_result', principal: by, moved });
  }
};

/** A JSON list of approvals as it is stored when people are asked. */
const askedNow = (
  approvals: ReturnType<typeof sql>,
) => sql`(select jsonb_agg(a || jsonb_build_object('expires_at', null,
  'requested_at', to_char(platform_now() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')))
  from jsonb_array_elements(${approvals}) a)`;

export interface Outcome extends Lease {
  status: 'COMPLETED' | 'NEEDS_REVIEW' | 'INDETERMINATE' | 'ERROR' | 'CANCELLED';
  result?: unknown;
  error?: WorkItemError | null;
  usage?: WorkItemUsage | null;
  /** The model that replied last. */
  model?: string | null;
  /** Why a person is asked, and to decide what: NEEDS_REVIEW and INDETERMINATE only. */
  review?: { reason: string | null; approvals: readonly NewApproval[] };
  /** CANCELLED instead, without a result, if that was requested: whichever is committed first counts. */
  unlessCancelled?: boolean;
}

/** How `finishAll` goes about it. */
interface Finishing {
  by?: Who | undefined;
  /** Leaves those alone that another transaction has locked. */
  skipLocked?: boolean;
  /** Called with the rows before their history is written. */
  before?: (rows: readonly WorkItem[]) => Promise<void>;
}

const given = sql`id uuid, fencing bigint, unless_cancelled boolean, status text, result jsonb, error jsonb,
  usage jsonb, model text, review_reason text, approvals jsonb`;

const asGiven = ({ id, fencing, status, result, error, usage, model, review, unlessCancelled }: Outcome) => ({
  id,
  fencing,
  unless_cancelled: unlessCancelled ?? false,
  status,
  result,
  error,
  usage,
  model,
  review_reason: review?.reason,
  approvals: review?.approvals.length ? review.approvals : null,
});

const ifAsGiven = (value: ReturnType<typeof sql>) =>
  sql`case when moving.to_status = g.status then ${value} end`;

/** Ends executions together. Returns those that ended: the others lost their leases, or were left alone. */
export const finishAll = (
  tx: Tx,
  outcomes: readonly Outcome[],
  { by = worker, ...how }: Finishing = {},
): Promise<WorkItem[]> =>
  transition(tx, {
    given: { rows: outcomes.map(asGiven), columns: given },
    where: sql`w.fencing = g.fencing and w.status = 'EXECUTING'`,
    to: sql`case when g.unless_cancelled and w.cancel_requested_at is not null then 'CANCELLED' else g.status end`,
    set: [
      sql`result = ${ifAsGiven(sql`g.result`)}`,
      sql`error = ${ifAsGiven(sql`g.error`)}`,
      sql`usage = coalesce(g.usage, w.usage)`,
      sql`model = coalesce(g.model, w.model)`,
      sql`review_reason = ${ifAsGiven(sql`g.review_reason`)}`,
      sql`pending_approvals = ${ifAsGiven(askedNow(sql`g.approvals`))}`,
    ],
    action: 'finish',
    principal: by,
    details: ({ status, error }) => ({ outcome: status, ...(error ? { error } : {}) }),
    ...how,
  });

/** Records that an execution would have ended so, but its lease was lost. */
export const recordLateFinish = (tx: Tx, { status, error, ...lease }: Outcome): Promise<void> =>
  recordLateResult(tx, lease, { outcome: status, ...(error ? { error } : {}), action: 'finish' });

/** Ends the execution. Returns null if the lease was lost: only the history changes. */
export const finish = async (tx: Tx, outcome: Outcome): Promise<WorkItem | null> => {
  const [moved] = await finishAll(tx, [outcome], { by: outcome.by });
  if (moved) return moved;
  await recordLateFinish(tx, outcome);
  return null;
};

/**
 * After a failed attempt: PENDING again after 2, 4, 8 … at most 300 s while attempts are left, but not before
 * `waitSeconds` (after exactly `afterSeconds` if that is given); otherwise ERROR; CANCELLED if that was requested.
 * Returns null if the lease was lost.
 */
export const retry = async (
  tx: Tx,
  {
    error,
    usage,
    model,
    waitSeconds = 0,
    afterSeconds = null,
    ...lease
  }: Lease & {
    error: WorkItemError;
    usage?: WorkItemUsage | null;
    model?: string | null;
    waitSeconds?: number;
    afterSeconds?: number | null;
  },
): Promise<WorkItem | null> => {
  const [moved] = await transition(tx, {
    where: holds(lease),
    to: sql`case when w.cancel_requested_at is not null then 'CANCELLED' when ${attemptsLeft} then 'PENDING'
      else 'ERROR' end`,
    set: [
      sql`error = case when moving.to_status = 'ERROR' then ${json(error)}::jsonb end`,
      sql`usage = coalesce(${jsonOrNull(usage)}::jsonb, w.usage)`,
      sql`model = coalesce(${model ?? null}, w.model)`,
      sql`not_before = case when moving.to_status = 'PENDING'
        then platform_now() + coalesce(${afterSeconds}::double precision,
          greatest(${waitSeconds}::double precision, least(300, 2 ^ least(w.attempts, 10)))) * interval '1 second' end`,
    ],
    action: 'retry',
    principal: lease.by ?? worker,
    details: { error },
  });
  if (moved) return moved;
  await recordLateResult(tx, lease, { error, action: 'retry' });
  return null;
};

/** The next status of `w`, whose worker can do nothing more for it. */
const statusWithoutWorker = (otherwise: ReturnType<typeof sql>) =>
  sql`case when w.cancel_requested_at is not null then 'CANCELLED' when w.unsafe_tool_in_flight then 'INDETERMINATE'
    ${otherwise} end`;

/** After a loss in the middle of such calls people are asked about each of them. */
const askAboutUnsafeCalls = [
  sql`pending_approvals = case when moving.to_status = 'INDETERMINATE' then ${askedNow(sql`w.unsafe_calls`)} end`,
  sql`review_reason = case when moving.to_status = 'INDETERMINATE' and w.unsafe_calls is not null
    then 'It is not known whether a call that must not be repeated took effect.' end`,
];

const lossError = (unsafe: string, otherwise: string) =>
  sql`error = case moving.to_status
    when 'INDETERMINATE' then ${json({ code: 'indeterminate', message: unsafe })}::jsonb
    when 'ERROR' then ${json({ code: 'lease_lost', message: otherwise })}::jsonb end`;

/**
 * At shutdown: releases the Work Item to another worker; the attempt does not count. Returns null if the lease was
 * lost.
 */
export const release = async (
  tx: Tx,
  { usage, model, ...lease }: Lease & { usage?: WorkItemUsage | null; model?: string | null },
): Promise<WorkItem | null> => {
  const [moved] = await transition(tx, {
    where: holds(lease),
    to: statusWithoutWorker(sql`else 'PENDING'`),
    set: [
      sql`usage = coalesce(${jsonOrNull(usage)}::jsonb, w.usage)`,
      sql`model = coalesce(${model ?? null}, w.model)`,
      sql`attempts = w.attempts - case when moving.to_status = 'PENDING' then 1 else 0 end`,
      lossError('The worker was stopped during a tool call that must not be repeated.', ''),
      ...askAboutUnsafeCalls,
    ],
    action: 'hand_back',
    principal: lease.by ?? worker,
  });
  return moved ?? null;
};

/**
 * Takes up to `limit` Work Items, or the one with `id`, from workers that sent no heartbeat within the lease: PENDING while attempts are
 * left, otherwise ERROR; INDETERMINATE if a tool call that must not be repeated was in flight; CANCELLED if that was
 * requested.
 */
export const recoverLost = (tx: Tx, limit: number, id: string | null = null): Promise<WorkItem[]> =>
  transition(tx, {
    where: sql`w.status = 'EXECUTING' and w.lease_expires_at <= (select platform_now())
      ${id === null ? sql`` : sql`and w.id = ${id}`}`,
    limit,
    to: statusWithoutWorker(sql`when ${attemptsLeft} then 'PENDING' else 'ERROR'`),
    set: [
      lossError(
        'The worker was lost during a tool call that must not be repeated.',
        'The worker was lost, and no attempts are left.',
      ),
      ...askAboutUnsafeCalls,
    ],
    action: 'lease_lost',
    principal: worker,
  });

/** What a worker can do now, and when there is more. */
export interface WorkAhead {
  /** Something is due. Perhaps none of it can be claimed: its agents may have no room. */
  isDue: boolean;
  /**
   * Milliseconds until a retry is due or a lease expires, whichever comes first; 0 if a lease has expired; null if
   * there is neither. A retry that is due is left out: if no claim took it, its agent has no room, and the end of an
   * execution notifies the workers.
   */
  nextIn: number | null;
}

/** Looks for it, without a lock. */
export const lookForWork = async (executor: Executor): Promise<WorkAhead> => {
  const { rows } = await sql<{ due: boolean; at: Date | null; now: Date }>`
    select exists (select from work_items where status = 'PENDING' and not_before is null)
      or exists (select from work_items where status = 'PENDING' and not_before <= (select platform_now())) as due,
    least(
      (select min(not_before) from work_items where status = 'PENDING' and not_before > (select platform_now())),
      (select min(lease_expires_at) from work_items where status = 'EXECUTING')
    ) as at, platform_now() as now`.execute(executor);
  const { due, at, now } = rows[0]!;
  return { isDue: due, nextIn: at && Math.max(0, at.getTime() - now.getTime()) };
};

/** When there is more (`WorkAhead`). */
export const nextWorkIn = async (executor: Executor): Promise<number | null> =>
  (await lookForWork(executor)).nextIn;
