import { sql } from '../database/index.ts';
import { textPart } from '../messages/index.ts';
import { asksOther, noReview, type ReviewSource } from '../reviews/index.ts';
import { noReplyWithin } from '../runs/index.ts';
import { continueRun } from './continuations.ts';
import { lockConversation } from './conversations.ts';
import { stayOf } from './review-records.ts';
import { findRun } from './run-store.ts';
import { cancelLockedRun } from './runs.ts';
import { sendMessage } from './send-message.ts';
import { findLockedConversation } from './store.ts';

const end = { state: 'expired', via: 'expiry' } as const;

/** Runs of conversations, as what waits for reviews. The conversation is locked before its run, as everywhere. */
export const conversationReviews: ReviewSource = {
  decide: async (tx, actor, review, { decisions, message }, by) => {
    const said = { content: message, decisions };
    await sendMessage(tx, review.conversation_id!, { actor, said, deciding: { review, by } });
  },
  lock: async (tx, { conversation_id }) => {
    await findLockedConversation(tx, conversation_id!);
  },
  deny: async (tx, actor, { conversation_id, run_id }, time) => {
    const conversation = await lockConversation(tx, conversation_id!);
    const run = (await findRun(tx, run_id!))!;
    const asked = run.pending_approvals ?? [];
    const isQuestion = asked.length === 0 || asked.some(({ kind }) => kind === 'question');
    const parts = isQuestion ? [textPart(noReplyWithin(time))] : [];
    await continueRun(tx, conversation, run, { actor, parts, body: { undecidedFor: time }, end });
  },
  cancel: async (tx, { principal }, { run_id }) => {
    const run = (await findRun(tx, run_id!))!;
    await cancelLockedRun(tx, run, principal, { ...end, verdicts: {} });
  },
  unreviewed: sql`select w.id from conversation_runs w where w.status = 'needs_review' and ${noReview('conversation')}`,
  lockWaiting: async (tx, id) => {
    const seen = await findRun(tx, id);
    if (!seen || !(await findLockedConversation(tx, seen.conversation_id))) return undefined;
    const run = await findRun(tx, id);
    const stay = run?.status === 'needs_review' ? await stayOf(tx, run) : undefined;
    const since = stay?.approvals[0]?.requested_at;
    return stay && { ...stay, ...(since === undefined ? {} : { since: new Date(since) }) };
  },
  outdated: [
    sql`not exists (select from conversation_runs w where w.id = r.run_id and w.status = 'needs_review')`,
    sql`exists (select from conversation_runs w where w.id = r.run_id and ${asksOther})`,
  ],
};
