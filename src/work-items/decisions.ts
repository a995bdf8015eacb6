import { agentCalls } from '../agents/index.ts';
import { advisoryRowLock, type Tx } from '../database/index.ts';
import { ApiError } from '../lib/errors.ts';
import type { Actor } from '../lib/principal.ts';
import { textPart } from '../messages/index.ts';
import { type ContinueBody, shownApprovals } from '../runs/index.ts';
import { appendMessages, listRequesters } from './history-store.ts';
import { workItemRuns } from './runs.ts';
import { allowedActions, nextStatus } from './states.ts';
import { findWorkItem, type WorkItem } from './store.ts';

/** The 412 for decisions about what is not asked, or not any more. */
const stale = (item: WorkItem): ApiError =>
  new ApiError(
    'precondition_failed',
    `A decision is about something that does not wait for one. The Work Item is ${item.status}.`,
    {
      status: item.status,
      allowed_actions: allowedActions(item.status, item.agent_exists),
      pending_approvals: shownApprovals(item.pending_approvals),
    },
  );

/**
 * Applies what a person decided, before the Work Item continues: stores the results of the calls that they denied and
 * their message, and returns what the next attempt makes. No other request decides on it until the transaction ends, so
 * of two the second finds nothing pending; if it moves otherwise, the transition finds that. Throws 403, 412 and 422.
 */
export const lockAndSettle = async (tx: Tx, id: string, actor: Actor, body: ContinueBody) => {
  // Not a lock of the row: a worker that finds the row locked by a request that is then refused would not claim it.
  await advisoryRowLock(tx, 'decisions on a Work Item', id);
  const item = (await findWorkItem(tx, id))!;
  const { message, decisions = [] } = body;
  if (decisions.length > 0) {
    const agent = item.agent_exists
      ? await agentCalls.getPinned(tx, item.agent_id, item.agent_version)
      : null;
    const requesters = async () => [item.created_by, ...(await listRequesters(tx, id))];
    await workItemRuns.checkDeciders(tx, actor, agent, requesters, decisions);
  }
  if (nextStatus('continue', item.status) === undefined) {
    if (decisions.length > 0) throw stale(item);
    // The transition refuses it.
    return { decisions: [], details: {}, audited: {} };
  }
  const { refusals, ...settled } = workItemRuns.settle(
    item.pending_approvals ?? [],
    item.decisions ?? [],
    body,
    () => stale(item),
  );
  const of = { work_item_id: item.id, conversation_id: item.conversation_id };
  await appendMessages(tx, [
    ...refusals.map((part) => ({ ...of, role: 'tool' as const, content: [part] })),
    ...(message ? [{ ...of, role: 'user' as const, content: [textPart(message)] }] : []),
  ]);
  return settled;
};
