import { type Executor, json, sql, type Tx } from '../database/index.ts';
import { recordEvents } from './history-store.ts';
import type { Status } from './states.ts';
import type { WorkItem, WorkItemError, WorkItemUsage } from './store.ts';
import { type Transition, transition } from './transitions.ts';

/** Whom the history names for what the platform does by itself. */
export const worker = { kind: 'system', id: 'worker', name: 'worker' } as const;

/** A claimed Work Item and the fencing token of the claim. */
export interface Lease {
  id: string;
  fencing: number;
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
  const { rows } = await sql`update work_items w set trace_id = ${lease.traceId}
    where ${holds(lease)} returning 1`.execute(tx);
  return rows.length === 1;
};

const jsonOrNull = (value: unknown) => (value == null ? null : json(value));
const attemptsLeft = sql`w.attempts < (select max_attempts from agents where id = w.agent_id)`;

/** Ends the execution under the lease. A result that comes too late changes nothing and is recorded; then null. */
const endExecution = async (
  tx: Tx,
  lease: Lease,
  move: Omit<Transition, 'where' | 'principal'>,
): Promise<WorkItem | null> => {
  const [moved] = await transition(tx, { ...move, where: holds(lease), principal: worker });
  if (moved) return moved;
  const { rows } = await sql<{ status: Status }>`
    select status from work_items where id = ${lease.id} for update`.execute(tx);
  for (const { status } of rows) {
    const details = { ...move.details, action: move.action, fencing: lease.fencing };
    await recordEvents(tx, 'late_result', worker, [{ id: lease.id, from: status, to: status }], details);
  }
  return null;
};

export interface Outcome extends Lease {
  status: 'COMPLETED' | 'NEEDS_REVIEW' | 'ERROR' | 'CANCELLED';
  result?: unknown;
  error?: WorkItemError | null;
  usage?: WorkItemUsage | null;
}

/** Ends the execution. Returns null if the lease was lost: only the history changes. */
export const finish = (tx: Tx, { status, result, error, usage, ...lease }: Outcome) =>
  endExecution(tx, lease, {
    to: sql`${status}::text`,
    set: [
      sql`result = ${jsonOrNull(result)}::jsonb`,
      sql`error = ${jsonOrNull(error)}::jsonb`,
      sql`usage = coalesce(${jsonOrNull(usage)}::jsonb, w.usage)`,
    ],
    action: 'finish',
    details: { outcome: status, ...(error ? { error } : {}) },
  });

/**
 * After a failed attempt: PENDING again after 2, 4, 8 … at most 300 s while attempts are left, but not before
 * `waitSeconds`; otherwise ERROR; CANCELLED if that was requested. Returns null if the lease was lost.
 */
export const retry = (
  tx: Tx,
  {
    error,
    usage,
    waitSeconds = 0,
    ...lease
  }: Lease & { error: WorkItemError; usage?: WorkItemUsage | null; waitSeconds?: number },
) =>
  endExecution(tx, lease, {
    to: sql`case when w.cancel_requested_at is not null then 'CANCELLED' when ${attemptsLeft} then 'PENDING'
      else 'ERROR' end`,
    set: [
      sql`error = case when moving.to_status = 'ERROR' then ${json(error)}::jsonb end`,
      sql`usage = coalesce(${jsonOrNull(usage)}::jsonb, w.usage)`,
      sql`not_before = case when moving.to_status = 'PENDING'
        then platform_now() + greatest(${waitSeconds}::double precision, least(300, 2 ^ least(w.attempts, 10)))
          * interval '1 second' end`,
    ],
    action: 'retry',
    details: { error },
  });

/** The next status of `w`, whose worker can do nothing more for it. */
const statusWithoutWorker = (otherwise: ReturnType<typeof sql>) =>
  sql`case when w.cancel_requested_at is not null then 'CANCELLED' when w.unsafe_tool_in_flight then 'INDETERMINATE'
    ${otherwise} end`;

const lossError = (unsafe: string, otherwise: string) =>
  sql`error = case moving.to_status
    when 'INDETERMINATE' then ${json({ code: 'indeterminate', message: unsafe })}::jsonb
    when 'ERROR' then ${json({ code: 'lease_lost', message: otherwise })}::jsonb end`;

/**
 * At shutdown: releases the Work Item to another worker; the attempt does not count. Returns null if the lease was
 * lost.
 */
export const release = async (tx: Tx, lease: Lease): Promise<WorkItem | null> => {
  const [moved] = await transition(tx, {
    where: holds(lease),
    to: statusWithoutWorker(sql`else 'PENDING'`),
    set: [
      sql`attempts = w.attempts - case when moving.to_status = 'PENDING' then 1 else 0 end`,
      lossError('The worker was stopped during a tool call that must not be repeated.', ''),
    ],
    action: 'hand_back',
    principal: worker,
  });
  return moved ?? null;
};

/**
 * Takes up to `limit` Work Items from workers that sent no heartbeat within the lease: PENDING while attempts are
 * left, otherwise ERROR; INDETERMINATE if a tool call that must not be repeated was in flight; CANCELLED if that was
 * requested.
 */
export const recoverLost = (tx: Tx, limit: number): Promise<WorkItem[]> =>
  transition(tx, {
    where: sql`w.status = 'EXECUTING' and w.lease_expires_at <= (select platform_now())`,
    limit,
    to: statusWithoutWorker(sql`when ${attemptsLeft} then 'PENDING' else 'ERROR'`),
    set: [
      lossError(
        'The worker was lost during a tool call that must not be repeated.',
        'The worker was lost, and no attempts are left.',
      ),
    ],
    action: 'lease_lost',
    principal: worker,
  });

/**
 * Milliseconds until a retry is due or a lease expires, whichever comes first; 0 if a lease has expired; null if there
 * is neither. A retry that is due is left out: if no claim took it, its agent has no room, and the end of an execution
 * notifies the workers.
 */
export const nextWorkIn = async (executor: Executor): Promise<number | null> => {
  const { rows } = await sql<{ at: Date | null; now: Date }>`
    select least(
      (select min(not_before) from work_items where status = 'PENDING' and not_before > (select platform_now())),
      (select min(lease_expires_at) from work_items where status = 'EXECUTING')
    ) as at, platform_now() as now`.execute(executor);
  const { at, now } = rows[0]!;
  return at && Math.max(0, at.getTime() - now.getTime());
};
