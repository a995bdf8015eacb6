import { getAgent, lockAgentForShare, requireWorker } from '../agents/index.ts';
import { audit } from '../audit/index.ts';
import type { Database, Executor, Tx } from '../database/index.ts';
import { ApiError, badRequest, notFound } from '../lib/errors.ts';
import { isId, newId } from '../lib/ids.ts';
import type { Actor, Principal } from '../lib/principal.ts';
import { readSettings } from '../settings/index.ts';
import { appendMessage } from './history-store.ts';
import { textPart } from './messages.ts';
import { type Action, actions, allowedActions, type Status } from './states.ts';
import { findWorkItem, insertWorkItems, type WorkItem } from './store.ts';
import { moveAllBy, moveBy } from './transitions.ts';

/** Returns the Work Item. Throws 404 if there is none, also for a malformed id. */
export const getWorkItem = async (executor: Executor, id: string): Promise<WorkItem> => {
  const item = isId(id) ? await findWorkItem(executor, id) : undefined;
  if (!item) throw notFound('Work Item');
  return item;
};

/**
 * Throws the faults of a create body that come before those of its schema: 404 for an unknown agent, 400 for its mode,
 * 400 for a payload over MAX_WORK_ITEM_PAYLOAD_SIZE_IN_KB.
 */
export const checkNewWorkItem = async (db: Database, body: Record<string, unknown>): Promise<void> => {
  const { agent_id, payload } = body;
  if (typeof agent_id === 'string') {
    requireWorker(
      await db.run((executor) => getAgent(executor, agent_id)),
      'Work Items can only be created for worker agents.',
    );
  }
  await checkPayloadSize(db, payload);
};

/** Throws 400 for a payload over MAX_WORK_ITEM_PAYLOAD_SIZE_IN_KB, measured as compact UTF-8 JSON. */
export const checkPayloadSize = async (db: Database, payload: unknown): Promise<void> => {
  if (payload === undefined || payload === null) return;
  const bytes = Buffer.byteLength(JSON.stringify(payload));
  const { MAX_WORK_ITEM_PAYLOAD_SIZE_IN_KB: kb } = await db.run(readSettings);
  if (bytes <= kb * 1024) return;
  throw badRequest(`payload: has ${bytes} bytes as JSON; the maximum is ${kb} KB (${kb * 1024} bytes).`, {
    setting: 'MAX_WORK_ITEM_PAYLOAD_SIZE_IN_KB',
  });
};

/** Creates a Work Item, PENDING or DRAFT. Throws 404 if the agent is gone. The caller audits it. */
export const createWorkItem = async (
  tx: Tx,
  item: {
    agentId: string;
    /** The schedule that a person ran; null if there is none. */
    scheduleId: string | null;
    workItemName: string | null;
    message: string;
    payload: Record<string, unknown>;
    draft: boolean;
    principal: Principal;
  },
): Promise<WorkItem> => {
  if (!(await lockAgentForShare(tx, item.agentId))) throw notFound('agent');
  const row = {
    id: newId(),
    agent_id: item.agentId,
    schedule_id: item.scheduleId,
    occurrence: null,
    work_item_name: item.workItemName,
    message: item.message,
    payload: item.payload,
  };
  await insertWorkItems(tx, [row], item.draft ? 'DRAFT' : 'PENDING', item.principal);
  return getWorkItem(tx, row.id);
};

const refusal = (item: WorkItem, action: Action): ApiError => {
  const allowed = allowedActions(item.status, item.agent_exists);
  const reason =
    !item.agent_exists && allowedActions(item.status).includes(action)
      ? `The agent of this Work Item was deleted, so it cannot ${action}.`
      : `A Work Item that is ${item.status} does not allow ${action}.`;
  return new ApiError('precondition_failed', reason, { status: item.status, allowed_actions: allowed });
};

/**
 * Does what a person wants done to a Work Item, and audits it. Throws 412 with `status` and `allowed_actions` if the
 * table of states does not allow it. `message` is added to the conversation (continue).
 */
export const act = async (
  tx: Tx,
  item: WorkItem,
  action: Action,
  actor: Actor,
  message?: string,
): Promise<WorkItem> => {
  const { id } = item;
  const toPending = Object.values<Status>(actions[action]).includes('PENDING');
  if (toPending && !(await lockAgentForShare(tx, item.agent_id)))
    throw refusal(await getWorkItem(tx, id), action);
  const moved = await moveBy(tx, action, id, { principal: actor.principal });
  if (!moved) {
    const now = await getWorkItem(tx, id);
    if (action === 'cancel' && now.status === 'EXECUTING') return now;
    throw refusal(now, action);
  }
  if (message) {
    const { conversation_id } = moved;
    const content = [textPart(message)];
    await appendMessage(tx, { work_item_id: id, conversation_id, role: 'user', content });
  }
  await audit(tx, actor, `work_item.${action}`, id, { status: moved.status });
  return moved;
};

/** Cancels the open Work Items of an agent that was deleted. */
export const cancelOpenWorkItems = (tx: Tx, agentId: string, { principal }: Actor): Promise<void> =>
  moveAllBy(tx, 'cancel', agentId, { principal, details: { reason: 'the agent was deleted' } });
