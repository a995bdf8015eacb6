import { randomBytes } from 'node:crypto';
import type { Tx } from '../database/index.ts';
import { canonicalJson } from '../lib/canonical-json.ts';
import { sha256 } from '../lib/crypto.ts';
import { ApiError, notFound, unprocessable } from '../lib/errors.ts';
import { newId } from '../lib/ids.ts';
import type { Principal } from '../lib/principal.ts';
import {
  addUsage,
  allowedActions,
  appendMessage,
  finish,
  getWorkItem,
  type Lease,
  type NewApproval,
  recordLateResult,
  recoverLost,
  release,
  retry,
  type WorkItem,
} from '../work-items/index.ts';
import { resultFaults } from './result.ts';
import type { FinishBody, HeartbeatBody } from './schemas.ts';
import { extendLease, type LeaseState, lockLease, updateFinishHash, updateUsage } from './store.ts';

/** Returns a new lease token: 256 bits of chance as 43 characters. */
export const newToken = (): string => randomBytes(32).toString('base64url');

/** What the database has of a token. */
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
    { status, allowed_actions: allowedActions(status, agent_exists) },
  );
};

const lockState = async (tx: Tx, id: string, token: string): Promise<LeaseState> => {
  const state = await lockLease(tx, id, hashOf(token));
  if (!state) throw notFound('Work Item');
  return state;
};

/** Called if a run ends in this transaction, with the status that it leaves the Work Item in. */
export type Ended = (status: WorkItem['status']) => void;

/** Whether the token holds the lease. A lease that has expired ends here, if no worker was there first. */
const isHeld = async (
  tx: Tx,
  id: string,
  { isCurrent, isExpired }: LeaseState,
  ended: Ended,
): Promise<boolean> => {
  if (isCurrent && isExpired) for (const { status } of await recoverLost(tx, 1, id)) ended(status);
  return isCurrent && !isExpired;
};

/** Stores what the worker reports: messages and what was used. */
const storeReport = async (
  tx: Tx,
  id: string,
  { conversationId, usage: before }: LeaseState,
  { messages, usage }: Pick<HeartbeatBody, 'messages' | 'usage'>,
): Promise<void> => {
  for (const { role, content } of messages) {
    await appendMessage(tx, { work_item_id: id, conversation_id: conversationId, role, content });
  }
  if (Object.values(usage).some((n) => n !== undefined)) await updateUsage(tx, id, addUsage(before, usage));
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
  const at = await extendLease(tx, id, { leaseSeconds, unsafeToolInFlight: unsafe_tool_in_flight });
  return { lease_expires_at: at, cancel_requested: state.cancelRequested };
};

const approvalsOf = ({ review }: FinishBody): NewApproval[] =>
  (review?.approvals ?? []).map(({ approval_id, ...approval }) => ({
    approval_id: approval_id ?? newId(),
    ...approval,
    tool_server_id: null,
  }));

const noReason = { code: 'worker_error', message: 'The external worker gave no reason.' };
const inUnsafeCall = {
  code: 'indeterminate',
  message: 'The worker gave up during a tool call that must not be repeated.',
};

/** Ends the execution as the worker asks for, or by a cancel that was requested before. */
const end = async (
  tx: Tx,
  lease: Lease,
  body: FinishBody,
  { cancelRequested, unsafeToolInFlight }: LeaseState,
): Promise<WorkItem | null> => {
  if (body.outcome === 'HANDED_BACK') return release(tx, lease);
  if (cancelRequested) return finish(tx, { ...lease, status: 'CANCELLED' });
  switch (body.outcome) {
    case 'COMPLETED':
      return finish(tx, { ...lease, status: 'COMPLETED', result: body.result });
    case 'ERROR':
      return finish(tx, { ...lease, status: 'ERROR', error: body.error ?? noReason });
    case 'NEEDS_REVIEW': {
      const review = { reason: body.review?.reason ?? null, approvals: approvalsOf(body) };
      return finish(tx, { ...lease, status: 'NEEDS_REVIEW', review });
    }
    case 'RETRY':
      // Another attempt might repeat the call.
      if (unsafeToolInFlight) {
        return finish(tx, { ...lease, status: 'INDETERMINATE', error: body.error ?? inUnsafeCall });
      }
      return retry(tx, {
        ...lease,
        error: body.error ?? noReason,
        afterSeconds: body.retry_after_seconds ?? null,
      });
    case 'CANCELLED':
      return finish(tx, { ...lease, status: 'CANCELLED' });
  }
};

/**
 * Ends the execution under the lease. The same finish again changes nothing; one that comes too late is recorded.
 */
export const finishLease = async (
  tx: Tx,
  by: Principal,
  item: Pick<WorkItem, 'id' | 'agent_id'>,
  { lease_token, ...body }: FinishBody,
  ended: Ended,
): Promise<WorkItem | LeaseRefused> => {
  const { id } = item;
  const state = await lockState(tx, id, lease_token);
  if (state.fencing === null) return refused;
  const finishHash = sha256(canonicalJson(body));
  if (state.finishHash === finishHash) return getWorkItem(tx, id);
  const lease = { id, fencing: state.fencing, by };
  if (!(await isHeld(tx, id, state, ended))) {
    const { outcome, error } = body;
    await recordLateResult(tx, lease, { action: 'finish', outcome, ...(error ? { error } : {}) });
    return refused;
  }
  if (body.outcome === 'COMPLETED' && !state.cancelRequested) {
    const faults = await resultFaults(tx, item.agent_id, body.result);
    if (faults.length > 0) throw unprocessable(faults);
  }
  await storeReport(tx, id, state, body);
  const moved = (await end(tx, lease, { ...body, lease_token }, state))!;
  await updateFinishHash(tx, hashOf(lease_token), finishHash);
  ended(moved.status);
  return moved;
};
