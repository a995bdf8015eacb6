import { agentCalls } from '../agents/index.ts';
import { sql, type Tx } from '../database/index.ts';
import { asksOther, noReview, type ReviewSource } from '../reviews/index.ts';
import { noReplyWithin, type ReviewEnd } from '../runs/index.ts';
import { lockDecisions, settleAll } from './decisions.ts';
import { stayOf, waits } from './review-records.ts';
import { findLockedWorkItem, findWorkItem, type WorkItem, wakeWorkers } from './store.ts';
import { endForBudget, moveBy } from './transitions.ts';
import { act, getWorkItem } from './work-items.ts';

const waiting = sql`w.status in ('NEEDS_REVIEW', 'INDETERMINATE')`;

/**
 * Locks a Work Item if it waits for a person. Undefined if it goes on in the meantime: a worker that found it locked is
 * notified to look again.
 */
const lockWaiting = async (tx: Tx, id: string): Promise<WorkItem | undefined> => {
  const item = await findLockedWorkItem(tx, id);
  if (item && waits(item.status)) return item;
  await wakeWorkers(tx);
  return undefined;
};

const expired = (verdicts: ReviewEnd['verdicts']): ReviewEnd => ({
  state: 'expired',
  via: 'expiry',
  verdicts,
});

/** Work Items, as what waits for reviews. */
export const workItemReviews: ReviewSource = {
  decide: async (tx, actor, review, body, by) => {
    const item = await getWorkItem(tx, review.work_item_id!);
    await act(tx, item, 'continue', actor, body, { review, by });
  },
  lock: async (tx, { agent_id, work_item_id }) => {
    // In the order of a request that decides, and of one that deletes the agent.
    await agentCalls.lockForShare(tx, agent_id);
    await lockDecisions(tx, work_item_id!);
    await lockWaiting(tx, work_item_id!);
  },
  deny: async (tx, { principal }, { work_item_id }, time) => {
    const item = (await findWorkItem(tx, work_item_id!))!;
    const asked = item.pending_approvals ?? [];
    const isQuestion = asked.length === 0 || asked.some(({ kind }) => kind === 'question');
    const message = isQuestion ? noReplyWithin(time) : undefined;
    const { budget, decisions, details, verdicts } = await settleAll(tx, item, {
      message,
      undecidedFor: time,
    });
    const by = { principal, details, decisions, reviewEnd: expired(verdicts) };
    await (budget ? endForBudget(tx, item.id, budget, by) : moveBy(tx, 'continue', item.id, by));
  },
  cancel: async (tx, { principal }, { work_item_id }) => {
    const details = { reason: 'no one decided in time' };
    await moveBy(tx, 'cancel', work_item_id!, { principal, details, reviewEnd: expired({}) });
  },
  unreviewed: sql`select w.id from work_items w where ${waiting} and ${noReview('work_item')}`,
  lockWaiting: async (tx, id) => {
    const item = await lockWaiting(tx, id);
    return item && { ...stayOf(tx, item), since: item.updated_at };
  },
  outdated: [
    sql`not exists (select from work_items w where w.id = r.work_item_id and ${waiting})`,
    sql`exists (select from work_items w where w.id = r.work_item_id and ${asksOther})`,
  ],
};
