import { agentCalls } from '../agents/index.ts';
import { advisoryRowLock, type Tx } from '../database/index.ts';
import { ApiError } from '../lib/errors.ts';
import type { Actor } from '../lib/principal.ts';
import { textPart } from '../messages/index.ts';
import { type Deciding, type Review, reviewCalls } from '../reviews/index.ts';
import { type ContinueBody, type ReviewEnd, shownApprovals } from '../runs/index.ts';
import { inputCalls } from '../tool-inputs/index.ts';
import { appendMessages, listRequesters } from './history-store.ts';
import { workItemRuns } from './runs.ts';
import { allowedActions, nextStatus } from './states.ts';
import { findWorkItem, type WorkItem } from './store.ts';

const stateOf = (item: WorkItem) => ({
  status: item.status,
  allowed_actions: allowedActions(item.status, item.agent_exists),
});

/** The 412 for decisions about what is not asked, or not any more. */
const stale = (item: WorkItem): ApiError =>
  new ApiError(
    'precondition_failed',
    `A decision is about something that does not wait for one. The Work Item is ${item.status}.`,
    { ...stateOf(item), pending_approvals: shownApprovals(item.pending_approvals, item.open_review) },
  );

/** Throws 412 for decisions about what does not wait. If they were asked for earlier, it says who decided, and when. */
const checkAsked = async (
  tx: Tx,
  item: WorkItem,
  { principal }: Actor,
  { decisions = [] }: ContinueBody,
): Promise<void> => {
  const asked = new Set(item.pending_approvals?.map(({ approval_id }) => approval_id));
  const others = decisions.map(({ approval_id }) => approval_id).filter((id) => !asked.has(id));
  if (others.length === 0) return;
  const late = stale(item);
  throw (await reviewCalls.refusalOfLate(tx, 'work_item', item.id, others, principal, late.context)) ?? late;
};

/** Stores the results of the calls that were denied and the message, and returns what the next attempt makes. */
export const settleAll = async (tx: Tx, item: WorkItem, body: ContinueBody) => {
  const { refusals, ...settled } = workItemRuns.settle(
    item.pending_approvals ?? [],
    item.decisions ?? [],
    body,
    () => stale(item),
  );
  const owner = { work_item_id: item.id };
  await inputCalls.answer(tx, owner, settled.answers);
  await inputCalls.end(
    tx,
    owner,
    refusals.map(({ tool_call_id }) => tool_call_id),
  );
  const { message } = body;
  const of = { work_item_id: item.id, conversation_id: item.conversation_id };
  await appendMessages(tx, [
    ...refusals.map((part) => ({ ...of, role: 'tool' as const, content: [part] })),
    ...(message ? [{ ...of, role: 'user' as const, content: [textPart(message)] }] : []),
  ]);
  return settled;
};

/** What is left of a decision if nothing waited: the transition refuses it, unless the Work Item had failed. */
const nothingSettled = {
  decisions: [],
  budget: null,
  details: {},
  audited: {},
  reviewEnd: undefined,
  reviewId: undefined,
};

/** Waits until no other request decides on the Work Item. */
export const lockDecisions = async (tx: Tx, id: string): Promise<void> => {
  // Not a lock of the row: a worker that finds the row locked by a request that is then refused would not claim it.
  await advisoryRowLock(tx, 'decisions on a Work Item', id);
};

/**
 * Applies what a person decided, before the Work Item continues: see `settleAll`. `reviewEnd` is how its review `reviewId` ends. No other
 * request decides on it until the transaction ends, so of two the second finds the review closed; if it moves otherwise, the
 * transition finds that. Throws 403, 412 and 422.
 */
export const lockAndSettle = async (
  tx: Tx,
  id: string,
  actor: Actor,
  body: ContinueBody,
  { review: wanted, by }: Deciding,
) => {
  await lockDecisions(tx, id);
  const item = (await findWorkItem(tx, id))!;
  const { decisions = [] } = body;
  const waits = nextStatus('continue', item.status) !== undefined;
  const review: Review | undefined = waits ? await reviewCalls.findOpen(tx, 'work_item', id) : undefined;
  const asksForBudget = waits && item.pending_approvals?.some(({ kind }) => kind === 'budget');
  if (asksForBudget) workItemRuns.checkBudgetDecider(actor, item.pending_approvals);
  else if (decisions.length > 0) {
    const agent = item.agent_exists
      ? await agentCalls.getPinned(tx, item.agent_id, item.agent_version)
      : null;
    const required = (wanted ?? review)?.required_role ?? agent?.approval_role ?? null;
    const requesters = async () => [item.created_by, ...(await listRequesters(tx, id))];
    await workItemRuns.checkDeciders(tx, actor, agent, required, requesters, decisions);
  }
  if (wanted && wanted.id !== review?.id) {
    throw await reviewCalls.closedError(tx, wanted.id, actor.principal, stale(item).context);
  }
  await checkAsked(tx, item, actor, body);
  if (!waits) return nothingSettled;
  const settled = await settleAll(tx, item, body);
  const { via, details } = by;
  const reviewEnd: ReviewEnd = { state: 'decided', via, verdicts: settled.verdicts };
  const audited = review ? { ...settled.audited, review_id: review.id, via, ...details } : settled.audited;
  return { ...settled, audited, reviewEnd: review && reviewEnd, reviewId: review?.id };
};
