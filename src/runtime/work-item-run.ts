import type { Database } from '../database/index.ts';
import type { Logger } from '../lib/log.ts';
import { noRunUsage } from '../lib/usage.ts';
import { inputCalls } from '../tool-inputs/index.ts';
import { type WorkItem, workItemCalls, workItemRuns } from '../work-items/index.ts';
import { endAttempt, endingOf } from './ending.ts';
import { type HeldLease, holdLease } from './lease.ts';
import type { Run, RunStore } from './run-store.ts';
import { messageRows, stepRows, type WorkItemBatches } from './work-item-batches.ts';

type Status = WorkItem['status'];
type Lease = { id: string; fencing: number; leaseSeconds: number };

const storeOf = (
  db: Database,
  batches: WorkItemBatches,
  item: WorkItem,
  lease: Lease,
  held: HeldLease,
): RunStore<Status> => {
  let opened = false;
  const owner = { work_item_id: item.id };
  return {
    inputs: () => db.run((executor) => inputCalls.read(executor, owner)),
    open: async (traceId, instructions) => {
      const start = await batches.open({ item, traceId, instructions });
      if (start === 'lost' || start === 'cancelled') {
        held.end(start);
        throw held.signal.reason;
      }
      opened = true;
      return start;
    },
    save: (progress) =>
      held.store(async (tx) => {
        const messages = messageRows(item, progress.messages);
        await workItemCalls.insertEndedSteps(tx, stepRows(item, progress.steps, messages), messages);
        await workItemRuns.save(tx, lease, progress);
        await inputCalls.store(tx, owner, progress);
      }),
    finish: async (outcome, end, durable) => {
      const isOver = outcome.status !== 'RETRY' && outcome.status !== 'WAIT' && outcome.status !== 'stopped';
      if (!opened || !isOver) {
        await durable;
        const moved = await db.tx((tx) =>
          endAttempt(tx, workItemRuns, lease, outcome, end, {
            isOpened: opened,
            store: () => workItemCalls.insertEndedSteps(tx, stepRows(item, end.steps, [])),
          }),
        );
        return moved?.status ?? null;
      }
      const messages = 'messages' in outcome ? (outcome.messages ?? []) : [];
      const ending = endingOf(lease, outcome, end);
      return batches.end({ item, ending, messages, steps: end.steps, durable });
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
  const held = holdLease(db, log, { ...lease, beat: (executor) => workItemRuns.heartbeat(executor, lease) });
  return {
    id: item.id,
    agentId: item.agent_id,
    agentVersion: item.agent_version,
    conversationId: item.conversation_id,
    createdBy: item.created_by,
    purpose: 'run',
    acting: {
      agentId: item.agent_id,
      agentVersion: item.agent_version,
      workItemId: item.id,
      runId: null,
      experimentId: null,
      scheduleId: item.schedule_id,
      triggerId: item.trigger_id,
    },
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
