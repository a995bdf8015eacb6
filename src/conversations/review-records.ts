import type { Tx } from '../database/index.ts';
import { reviewCalls, type Stay } from '../reviews/index.ts';
import type { Moved, MoveReason, ReviewEnd } from '../runs/index.ts';
import type { ConversationRun } from './run-store.ts';
import { findConversation } from './store.ts';

/** The reviews of runs of conversations: each stay in `needs_review` is one. */

/** A run that waits for a person, as the one who opens its review needs it. Undefined if its conversation is gone. */
export const stayOf = async (tx: Tx, run: ConversationRun): Promise<Stay | undefined> => {
  const conversation = await findConversation(tx, run.conversation_id);
  if (!conversation) return undefined;
  const asked = run.pending_approvals ?? [];
  return {
    source: 'conversation',
    id: run.id,
    conversation_id: run.conversation_id,
    agent_id: run.agent_id,
    agent_version: run.agent_version,
    name: conversation.name ?? conversation.title,
    owner_id: conversation.created_by,
    reason: asked.find(({ reason }) => reason !== null)?.reason ?? null,
    approvals: asked,
    isIndeterminate: false,
    requesters: async () => [run.created_by],
  };
};

/** Closes the reviews of runs that wait no more, and opens those of runs that wait from now on. */
export const recordReviews = async (
  tx: Tx,
  runs: readonly Moved<ConversationRun>[],
  principal: MoveReason<ConversationRun>['principal'],
  end: ReviewEnd | undefined,
): Promise<void> => {
  const left = runs.filter((run) => run.from_status === 'needs_review' && run.status !== 'needs_review');
  await reviewCalls.close(
    tx,
    'run_id',
    left.map(({ id }) => id),
    principal,
    end,
  );
  for (const run of runs) {
    if (run.status !== 'needs_review' || run.from_status === 'needs_review') continue;
    const stay = await stayOf(tx, run);
    run.open_review = (stay && (await reviewCalls.open(tx, [stay])).get(run.id)) ?? null;
  }
};
