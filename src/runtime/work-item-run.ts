import type { Database, Tx } from '../database/index.ts';
import type { Logger } from '../lib/log.ts';
import {
  appendMessages,
  finish,
  heartbeat,
  insertEndedSteps,
  type Outcome,
  release,
  retry,
  setTrace,
  updateAttempt,
  type WorkItem,
} from '../work-items/index.ts';
import { type HeldLease, holdLease } from './lease.ts';
import {
  type AttemptOutcome,
  noRunUsage,
  type Run,
  type RunEnd,
  type RunOutcome,
  type RunStore,
} from './run-store.ts';
import { messageRows, stepRows, type WorkItemBatches } from './work-item-batches.ts';

type Status = WorkItem['status'];
type Lease = { id: string; fencing: number; leaseSeconds: number };

/** How the Work Item ends, unless a cancel was first. */
const outcomeOf = (
  { id, fencing }: Lease,
  outcome: RunOutcome | { status: 'cancelled' },
  { usage, model }: RunEnd,
): Outcome => {
  const used = { id, fencing, usage, model, unlessCancelled: true };
  switch (outcome.status) {
    case 'cancelled':
      return { ...used, status: 'CANCELLED' };
    case 'NEEDS_REVIEW': {
      const { reason, approvals } = outcome;
      return { ...used, status: 'NEEDS_REVIEW', review: { reason, approvals } };
    }
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

/** Ends an attempt after which another follows, or that was not opened. */
const endAlone = async (
  tx: Tx,
  item: WorkItem,
  lease: Lease,
  outcome: AttemptOutcome,
  end: RunEnd,
  opened: boolean,
): Promise<WorkItem | null> => {
  const { alive, cancelRequested } = await heartbeat(tx, lease);
  if (alive) {
    await insertEndedSteps(tx, stepRows(item, end.steps, []));
    if (!opened && end.traceId !== null) await setTrace(tx, { ...lease, traceId: end.traceId });
  }
  const used = { ...lease, usage: end.usage, model: end.model };
  if (outcome.status === 'stopped') return release(tx, used);
  // Whichever was committed first counts, a cancel or the end: the heartbeat has locked the row.
  if (cancelRequested) return finish(tx, { ...used, status: 'CANCELLED' });
  if (outcome.status !== 'RETRY') return finish(tx, outcomeOf(lease, outcome, end));
  return retry(tx, { ...used, error: outcome.error, waitSeconds: outcome.waitSeconds });
};

const storeOf = (
  db: Database,
  batches: WorkItemBatches,
  item: WorkItem,
  lease: Lease,
  held: HeldLease,
): RunStore<Status> => {
  let opened = false;
  return {
    open: async (traceId, instructions) => {
      const start = await batches.open.add({ item, traceId, instructions });
      if (start === 'lost' || start === 'cancelled') {
        held.end(start);
        throw held.signal.reason;
      }
      opened = true;
      return start;
    },
    save: (progress) =>
      held.store(async (tx) => {
        const seqs = await appendMessages(tx, messageRows(item, progress.messages));
        await insertEndedSteps(tx, stepRows(item, progress.steps, seqs));
        await updateAttempt(tx, {
          ...lease,
          usage: progress.usage,
          model: progress.model,
          contextCut: progress.context,
          unsafeCalls: progress.unsafeCalls,
          clearDecisions: progress.newReply,
        });
      }),
    finish: async (outcome, end) => {
      if (!opened || outcome.status === 'RETRY' || outcome.status === 'stopped') {
        const moved = await db.tx((tx) => endAlone(tx, item, lease, outcome, end, opened));
        return moved?.status ?? null;
      }
      const messages = 'messages' in outcome ? (outcome.messages ?? []) : [];
      return batches.end.add({ item, outcome: outcomeOf(lease, outcome, end), messages, steps: end.steps });
    },
  };
};

/** A claimed Work Item for the loop, from now on with a heartbeat. */
export const workItemRun = (
  db: Database,
  log: Logger,
  batches: WorkItemBatches,
  item: WorkItem,
  leaseSeconds: number,
): Run<Status> => {
  const lease = { id: item.id, fencing: item.fencing, leaseSeconds };
  const held = holdLease(db, log, { ...lease, beat: (executor) => heartbeat(executor, lease) });
  return {
    id: item.id,
    agentId: item.agent_id,
    conversationId: item.conversation_id,
    createdBy: item.created_by,
    owner: { conversation_id: null, work_item_id: item.id },
    depth: item.depth,
    attributes: {
      'agent_platform.work_item.id': item.id,
      'agent_platform.work_item.attempt': item.attempts,
      ...(item.schedule_id === null ? {} : { 'agent_platform.schedule.id': item.schedule_id }),
      ...(item.occurrence === null
        ? {}
        : { 'agent_platform.schedule.occurrence': item.occurrence.toISOString() }),
    },
    usage: { ...noRunUsage, ...item.usage },
    model: item.model,
    held,
    store: storeOf(db, batches, item, lease, held),
  };
};
