import { randomBytes } from 'node:crypto';
import type { Tx } from '../database/index.ts';
import { canonicalJson } from '../lib/canonical-json.ts';
import { sha256 } from '../lib/crypto.ts';
import { ApiError, notFound, unprocessable } from '../lib/errors.ts';
import { newId } from '../lib/ids.ts';
import type { Principal } from '../lib/principal.ts';
import { addRunUsage } from '../lib/usage.ts';
import type { Ending, Lease, NewApproval } from '../runs/index.ts';
import { type WorkItem, workItemCalls, workItemRuns } from '../work-items/index.ts';
import { resultFaults } from './result.ts';
import type { FinishBody, HeartbeatBody } from './schemas.ts';
import { type LeaseState, lockLease, updateFinishHash } from './store.ts';

/** Returns a new lease token: 256 bits of chance as 43 characters. */
export const newToken = (): string => randomBytes(32).toString('base64url');

/** Returns the hash of a token, which is all that the database has of it. */
export const hashOf = (token: string): string => sha256(token);

/** The token does not hold the lease. It is a value and no error, because what was recorded must be committed. */
class LeaseRefused {}
const refused = new LeaseRefused();

/** Throws the 412 that tells a worker that its lease is gone; returns anything else as it is. */
export const throwIfRefused = async <T>(
  result: T | LeaseRefused,
  find: () => Promise<WorkItem>,
): Promise<T> => {
  if (!(result instanceof LeaseRefused)) return result;
  const { status, agent_exists } = await find();
  throw new ApiError(
    'precondition_failed',
    `The lease token does not hold this Work Item, which is ${status}. Stop working on it.`,
    { status, allowed_actions: workItemCalls.allowedActions(status, agent_exists) },
  );
};

const lockState = async (tx: Tx, id: string, token: string): Promise<LeaseState> => {
  const state = await lockLease(tx, id, hashOf(token));
  if (!state) throw notFound('Work Item');
  return state;
};

/** Called if a run ends in this transaction, with the status that it leaves the Work Item in. */
export type Ended = (status: WorkItem['status']) => void;

/** Returns whether the token holds the lease. A lease that has expired ends here, if no worker was there first. */
const isHeld = async (
  tx: Tx,
  id: string,
  { isCurrent, isExpired }: LeaseState,
  ended: Ended,
): Promise<boolean> => {
  if (isCurrent && isExpired)
    for (const { status } of await workItemRuns.recoverLost(tx, 1, id)) ended(status);
  return isCurrent && !isExpired;
};

/** Stores what the worker reports: messages and what was used. */
const storeReport = async (
  tx: Tx,
  id: string,
  { fencing, conversationId, usage: before }: LeaseState,
  { messages, usage }: Pick<HeartbeatBody, 'messages' | 'usage'>,
): Promise<void> => {
  for (const { role, content } of messages) {
    await workItemCalls.appendMessage(tx, {
      work_item_id: id,
      conversation_id: conversationId,
      role,
      content,
    });
  }
  if (Object.values(usage).some((n) => n !== undefined)) {
    await workItemRuns.save(tx, { id, fencing: fencing! }, { usage: addRunUsage(before, usage) });
  }
};

/** Extends the lease and stores what the worker reports. */
export const beat = async (
  tx: Tx,
  id: string,
  { lease_token, lease_seconds, unsafe_tool_in_flight, ...report }: HeartbeatBody,
  ended: Ended,
): Promise<{ lease_expires_at: Date; cancel_requested: boolean } | LeaseRefused> => {
  const state = await lockState(tx, id, lease_token);
  if (!(await isHeld(tx, id, state, ended))) return refused;
  await storeReport(tx, id, state, report);
  const leaseSeconds = lease_seconds ?? state.leaseSeconds!;
  const lease = { id, fencing: state.fencing!, leaseSeconds, unsafe: unsafe_tool_in_flight };
  const { expiresAt, cancelRequested } = await workItemRuns.heartbeat(tx, lease);
  return { lease_expires_at: expiresAt!, cancel_requested: cancelRequested };
};

const approvalsOf = (review: NonNullable<FinishBody['review']>): NewApproval[] =>
  review.approvals.map(({ approval_id, ...approval }) => ({
    approval_id: approval_id ?? newId(),
    ...approval,
    tool_server_id: null,
  }));

const noReason = { code: 'worker_error', message: 'The external worker gave no reason.' };
const inUnsafeCall = {
  code: 'indeterminate',
  message: 'The worker gave up during a tool call that must not be repeated.',
};

const endingOf = ({ outcome, result, error, review }: FinishBody): Omit<Ending, keyof Lease> => {
  switch (outcome) {
    case 'COMPLETED':
      return { status: 'COMPLETED', result };
    case 'NEEDS_REVIEW': {
      const asked = review && { reason: review.reason, approvals: approvalsOf(review) };
      return { status: 'NEEDS_REVIEW', ...(asked ? { review: asked } : {}) };
    }
    case 'RETRY':
      // Another attempt might repeat the call.
      return { status: 'INDETERMINATE', error: error ?? inUnsafeCall };
    case 'CANCELLED':
      return { status: 'CANCELLED' };
    default:
      return { status: 'ERROR', error: error ?? noReason };
  }
};

/** Ends the execution as the worker asks for, or by a cancel that was requested before. */
const end = (
  tx: Tx,
  lease: Lease,
  body: FinishBody,
  { cancelRequested, unsafeToolInFlight }: LeaseState,
): Promise<WorkItem | null> => {
  const { outcome, error = noReason, retry_after_seconds: afterSeconds = null } = body;
  if (outcome === 'HANDED_BACK') return workItemRuns.release(tx, lease);
  if (outcome === 'RETRY' && !unsafeToolInFlight && !cancelRequested) {
    return workItemRuns.retry(tx, { ...lease, error, afterSeconds });
  }
  return workItemRuns.finish(tx, { ...lease, ...endingOf(body), unlessCancelled: true });
};

/**
 * Ends the execution under the lease. The same finish again changes nothing; one that comes too late is recorded.
 */
export const finishLease = async (
  tx: Tx,
  by: Principal,
  item: Pick<WorkItem, 'id' | 'agent_id' | 'agent_version'>,
  { lease_token, ...body }: FinishBody,
  ended: Ended,
): Promise<WorkItem | LeaseRefused> => {
  const { id } = item;
  const state = await lockState(tx, id, lease_token);
  if (state.fencing === null) return refused;
  const finishHash = sha256(canonicalJson(body));
  if (state.finishHash === finishHash) return workItemCalls.get(tx, id);
  const lease = { id, fencing: state.fencing, by };
  if (!(await isHeld(tx, id, state, ended))) {
    const { outcome, error } = body;
    await workItemCalls.recordLateResult(tx, lease, {
      action: 'finish',
      outcome,
      ...(error ? { error } : {}),
    });
    return refused;
  }
  if (body.outcome === 'COMPLETED' && !state.cancelRequested) {
    const faults = await resultFaults(tx, item, body.result);
    if (faults.length > 0) throw unprocessable(faults);
  }
  await storeReport(tx, id, state, body);
  const moved = (await end(tx, lease, { ...body, lease_token }, state))!;
  await updateFinishHash(tx, hashOf(lease_token), finishHash);
  ended(moved.status);
  return moved;
};
