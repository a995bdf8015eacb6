import { randomBytes } from 'node:crypto';
import { insertCharges, type NewCharge } from '../charges/index.ts';
import type { Tx } from '../database/index.ts';
import { canonicalJson } from '../lib/canonical-json.ts';
import { sha256 } from '../lib/crypto.ts';
import { ApiError, notFound, unprocessable } from '../lib/errors.ts';
import { newId } from '../lib/ids.ts';
import type { Principal } from '../lib/principal.ts';
import { usageOfTokens } from '../lib/tokens.ts';
import { addRunUsage, addUsage, noUsage, type RunUsage } from '../lib/usage.ts';
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

/** Notes what a transaction does, to be counted once it is committed. */
export interface Noted {
  /** A run ends, and leaves the Work Item with this status. */
  ended(status: WorkItem['status']): void;
  /** Charges are written that were not there yet. */
  charged(charges: readonly NewCharge[]): void;
}

/** Returns whether the token holds the lease. A lease that has expired ends here, if no worker was there first. */
const isHeld = async (
  tx: Tx,
  id: string,
  { isCurrent, isExpired }: LeaseState,
  { ended }: Noted,
): Promise<boolean> => {
  if (isCurrent && isExpired)
    for (const { status } of await workItemRuns.recoverLost(tx, 1, id)) ended(status);
  return isCurrent && !isExpired;
};

/**
 * The charges as late ones: the lease was lost, but they were spent. That of usage has no id, so it gets one of the whole
 * report: a worker may send it again, because it was refused.
 */
const asLate = (
  charges: readonly NewCharge[],
  report: Pick<HeartbeatBody, 'lease_token' | 'usage'>,
): NewCharge[] => {
  const reportId = sha256(canonicalJson(report));
  return charges.map((one) => {
    const { external_id = null } = one.charge;
    return { ...one, charge: { ...one.charge, late: true, external_id: external_id ?? reportId } };
  });
};

/** Writes charges. Returns those that are new. */
const writeCharges = async (
  tx: Tx,
  charges: readonly NewCharge[],
  { charged }: Noted,
): Promise<NewCharge[]> => {
  const inserted = await insertCharges(tx, charges);
  charged(inserted);
  return inserted;
};

/** What was used: what is reported, and the tokens of the charges that are new. */
const usedBy = (usage: HeartbeatBody['usage'], charges: readonly NewCharge[]): Partial<RunUsage> => {
  const { model_calls = charges.length, tool_calls = 0 }: Partial<Record<string, number | undefined>> = usage;
  const tokens = charges.reduce((sum, { charge }) => addUsage(sum, usageOfTokens(charge)), noUsage);
  return { ...tokens, model_calls, tool_calls };
};

/** Stores what the worker reports: messages, charges and what was used. */
const storeReport = async (
  tx: Tx,
  id: string,
  { fencing, conversationId, usage: before }: LeaseState,
  { messages, usage, charges: named }: Pick<HeartbeatBody, 'messages' | 'usage' | 'charges'>,
  charges: readonly NewCharge[],
  noted: Noted,
): Promise<void> => {
  for (const { role, content } of messages) {
    await workItemCalls.appendMessage(tx, {
      work_item_id: id,
      conversation_id: conversationId,
      role,
      content,
    });
  }
  const inserted = await writeCharges(tx, charges, noted);
  // Usage without charges has made one, whose tokens it has already.
  const used = named.length > 0 ? usedBy(usage, inserted) : usage;
  if (Object.values(used).some((n) => n !== undefined)) {
    await workItemRuns.save(tx, { id, fencing: fencing! }, { usage: addRunUsage(before, used) });
  }
};

/** Extends the lease and stores what the worker reports. */
export const beat = async (
  tx: Tx,
  id: string,
  body: HeartbeatBody,
  charges: readonly NewCharge[],
  noted: Noted,
): Promise<{ lease_expires_at: Date; cancel_requested: boolean } | LeaseRefused> => {
  const { lease_token, lease_seconds, unsafe_tool_in_flight, ...report } = body;
  const state = await lockState(tx, id, lease_token);
  if (!(await isHeld(tx, id, state, noted))) {
    if (state.fencing !== null) await writeCharges(tx, asLate(charges, body), noted);
    return refused;
  }
  await storeReport(tx, id, state, report, charges, noted);
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
  charges: readonly NewCharge[],
  noted: Noted,
): Promise<WorkItem | LeaseRefused> => {
  const { id } = item;
  const state = await lockState(tx, id, lease_token);
  if (state.fencing === null) return refused;
  const finishHash = sha256(canonicalJson(body));
  if (state.finishHash === finishHash) return workItemCalls.get(tx, id);
  const lease = { id, fencing: state.fencing, by };
  if (!(await isHeld(tx, id, state, noted))) {
    const { outcome, error } = body;
    await workItemCalls.recordLateResult(tx, lease, {
      action: 'finish',
      outcome,
      ...(error ? { error } : {}),
    });
    await writeCharges(tx, asLate(charges, { lease_token, ...body }), noted);
    return refused;
  }
  if (body.outcome === 'COMPLETED' && !state.cancelRequested) {
    const faults = await resultFaults(tx, item, body.result);
    if (faults.length > 0) throw unprocessable(faults);
  }
  await storeReport(tx, id, state, body, charges, noted);
  const moved = (await end(tx, lease, { ...body, lease_token }, state))!;
  await updateFinishHash(tx, hashOf(lease_token), finishHash);
  noted.ended(moved.status);
  return moved;
};
