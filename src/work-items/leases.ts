import { type Executor, json, sql, type Tx } from '../database/index.ts';
import { recordEvents } from './history-store.ts';
import type { Status } from './states.ts';
import {
  type Transition,
  transition,
  type WorkItem,
  type WorkItemError,
  type WorkItemUsage,
} from './store.ts';

/** Who the history names for what the platform does by itself. */
export const worker = { kind: 'system', id: 'worker', name: 'worker' } as const;

/** A claim: the Work Item and the token that the claim gave. */
export interface Lease {
  id: string;
  fencing: number;
}

const holds = ({ id, fencing }: Lease) =>
  sql`w.id = ${id} and w.fencing = ${fencing} and w.status = 'EXECUTING'`;

/** Prolong the lease. Not `alive`: it was lost, and nothing that its bearer does counts any more. */
export const heartbeat = async (
  executor: Executor,
  lease: Lease & { leaseSeconds: number },
): Promise<{ alive: boolean; cancelRequested: boolean }> => {
  const { rows } = await sql<{ cancel: boolean }>`
    update work_items w set lease_expires_at = platform_now() + make_interval(secs => ${lease.leaseSeconds})
    where ${holds(lease)} returning w.cancel_requested_at is not null as cancel`.execute(executor);
  return { alive: rows.length === 1, cancelRequested: rows[0]?.cancel ?? false };
};

/** Say that a tool call that must not be repeated begins or has ended. False where the lease was lost. */
export const setToolInFlight = async (tx: Tx, lease: Lease & { inFlight: boolean }): Promise<boolean> => {
  const { rows } = await sql`update work_items w set unsafe_tool_in_flight = ${lease.inFlight}
    where ${holds(lease)} returning 1`.execute(tx);
  return rows.length === 1;
};

/** Note the trace of the present attempt. False where the lease was lost. */
export const setTrace = async (tx: Tx, lease: Lease & { traceId: string }): Promise<boolean> => {
  const { rows } = await sql`update work_items w set trace_id = ${lease.traceId}
    where ${holds(lease)} returning 1`.execute(tx);
  return rows.length === 1;
};

const jsonOrNull = (value: unknown) => (value == null ? null : json(value));
const attemptsLeft = sql`w.attempts < (select max_attempts from agents where id = w.agent_id)`;

/** Move what the lease holds; a result that comes too late changes nothing and is recorded. */
const endWith = async (
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

/** End the execution. null where the lease was lost: nothing changes but the history. */
export const finish = (tx: Tx, { status, result, error, usage, ...lease }: Outcome) =>
  endWith(tx, lease, {
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
 * `waitSeconds`; else ERROR; CANCELLED where that was asked for. null where the lease was lost.
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
  endWith(tx, lease, {
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

/** Of `w`, whose worker can do nothing more for it. */
const withoutWorker = (otherwise: ReturnType<typeof sql>) =>
  sql`case when w.cancel_requested_at is not null then 'CANCELLED' when w.unsafe_tool_in_flight then 'INDETERMINATE'
    ${otherwise} end`;

const whyLost = (unsafe: string, otherwise: string) =>
  sql`error = case moving.to_status
    when 'INDETERMINATE' then ${json({ code: 'indeterminate', message: unsafe })}::jsonb
    when 'ERROR' then ${json({ code: 'lease_lost', message: otherwise })}::jsonb end`;

/** At shutdown: give the Work Item to another worker, without having used an attempt. null where it was lost. */
export const release = async (tx: Tx, lease: Lease): Promise<WorkItem | null> => {
  const [moved] = await transition(tx, {
    where: holds(lease),
    to: withoutWorker(sql`else 'PENDING'`),
    set: [
      sql`attempts = w.attempts - case when moving.to_status = 'PENDING' then 1 else 0 end`,
      whyLost('The worker was stopped during a tool call that must not be repeated.', ''),
    ],
    action: 'hand_back',
    principal: worker,
  });
  return moved ?? null;
};

/**
 * Take up to `limit` Work Items from workers that have not been heard of within the lease: PENDING while
 * attempts are left, else ERROR; INDETERMINATE where a tool call that must not be repeated was in flight;
 * CANCELLED where that was asked for.
 */
export const recoverLost = (tx: Tx, limit: number): Promise<WorkItem[]> =>
  transition(tx, {
    where: sql`w.status = 'EXECUTING' and w.lease_expires_at <= (select platform_now())`,
    limit,
    to: withoutWorker(sql`when ${attemptsLeft} then 'PENDING' else 'ERROR'`),
    set: [
      whyLost(
        'The worker was lost during a tool call that must not be repeated.',
        'The worker was lost, and no attempts are left.',
      ),
    ],
    action: 'lease_lost',
    principal: worker,
  });

/**
 * Milliseconds until a retry is due or a lease runs out, whichever comes first; 0 where one has; null where
 * there is neither. A retry that is due but has no room is left out: the end of an execution will tell of it.
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
