import type { Tx } from '../database/index.ts';
import type { Ending, Lease, RunRow, Runs } from '../runs/index.ts';
import type { AttemptOutcome, RunEnd, RunOutcome } from './run-store.ts';

/** Returns the end of an execution for the outcome of its attempt, unless a cancel was first. */
export const endingOf = (
  { id, fencing }: Lease,
  outcome: RunOutcome | { status: 'cancelled' },
  { usage, model }: RunEnd,
): Ending => {
  const used = { id, fencing, usage, model, unlessCancelled: true };
  switch (outcome.status) {
    case 'cancelled':
      return { ...used, status: 'CANCELLED' };
    case 'NEEDS_REVIEW':
      return { ...used, status: 'NEEDS_REVIEW', review: outcome };
    case 'INDETERMINATE': {
      const { error, approvals } = outcome;
      return { ...used, status: 'INDETERMINATE', error, review: { reason: error.message, approvals } };
    }
    case 'COMPLETED':
      return { ...used, status: 'COMPLETED', result: outcome.result };
    case 'ERROR':
      return { ...used, status: 'ERROR', error: outcome.error };
  }
};

/**
 * Ends an attempt in a transaction of its own. `store` is called first if the lease is held; `isOpened` is whether the
 * attempt has stored its trace. Returns null if the lease was lost.
 */
export const endAttempt = async <Row extends RunRow>(
  tx: Tx,
  runs: Runs<Row>,
  lease: Lease & { leaseSeconds: number },
  outcome: AttemptOutcome,
  end: RunEnd,
  { isOpened, store }: { isOpened: boolean; store: () => Promise<void> },
): Promise<Row | null> => {
  const { alive, cancelRequested } = await runs.heartbeat(tx, lease);
  if (alive) {
    await store();
    if (!isOpened && end.traceId !== null) await runs.setTrace(tx, { ...lease, traceId: end.traceId });
  }
  const used = { ...lease, usage: end.usage, model: end.model };
  if (outcome.status === 'stopped') return runs.release(tx, used);
  if (outcome.status === 'WAIT') {
    return runs.postpone(tx, { ...used, wait: outcome.wait, until: outcome.until });
  }
  // Whichever was committed first counts, a cancel or the end: the heartbeat has locked the row.
  if (cancelRequested) return runs.finish(tx, { ...used, status: 'CANCELLED' });
  if (outcome.status !== 'RETRY') return runs.finish(tx, endingOf(lease, outcome, end));
  return runs.retry(tx, { ...used, error: outcome.error, waitSeconds: outcome.waitSeconds });
};
