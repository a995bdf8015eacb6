import { budgetCalls } from '../budgets/index.ts';
import { json, type RawBuilder, sql, type Tx } from '../database/index.ts';
import { newId } from '../lib/ids.ts';
import type { Actor, Principal } from '../lib/principal.ts';
import { type MessagePart, textOf } from '../messages/index.ts';
import {
  type BudgetDecision,
  budgetDenied,
  type Continuation,
  type ContinueBody,
  type ReviewEnd,
} from '../runs/index.ts';
import { inputCalls } from '../tool-inputs/index.ts';
import { appendEvents } from './event-store.ts';
import { conversationRuns } from './kind.ts';
import { countRunMessages } from './message-store.ts';
import { recordMessages } from './messages.ts';
import type { ConversationRun } from './run-store.ts';
import { refusal } from './runs.ts';
import type { Conversation } from './store.ts';

/** Queues a run that waited, with the events of its continuation. */
const queueRun = async (
  tx: Tx,
  run: ConversationRun,
  {
    firstSeq,
    continuation,
    set,
    by,
    reviewEnd,
  }: {
    firstSeq: number;
    continuation: Continuation;
    set: readonly RawBuilder<unknown>[];
    by: Principal;
    reviewEnd?: ReviewEnd | undefined;
  },
): Promise<void> => {
  await conversationRuns.move(tx, {
    where: sql`w.id = ${run.id}`,
    to: sql`'queued'`,
    set: [
      sql`first_seq = ${firstSeq}`,
      sql`continuations = coalesce(w.continuations, '[]') || ${json([continuation])}::jsonb`,
      ...set,
    ],
    action: 'continue',
    principal: by,
    reviewEnd,
  });
};

/** Continues a run that waited for a budget, because there is room. The conversation is locked. */
export const resumeRun = async (
  tx: Tx,
  conversation: Conversation,
  run: ConversationRun,
  by: Principal,
): Promise<void> => {
  const of = { conversationId: conversation.id, runId: run.id };
  const continuation: Continuation = {
    after: await countRunMessages(tx, run.id),
    stopped: 'needs_review',
    decisions: [],
    message: null,
  };
  const started = [{ type: 'run.started' as const, data: { message_id: run.message_id } }];
  const firstSeq = await appendEvents(tx, of, started);
  const set = [sql`attempts = 0`, sql`not_before = null`, conversationRuns.nothingAsked];
  await queueRun(tx, run, { firstSeq, continuation, set, by });
};

/** Ends a run for which a budget got no more room. */
const endForBudget = async (
  tx: Tx,
  run: ConversationRun,
  decision: BudgetDecision,
  by: Principal,
  reviewEnd: ReviewEnd,
): Promise<void> => {
  await conversationRuns.move(tx, {
    where: sql`w.id = ${run.id}`,
    to: sql`'error'`,
    set: [sql`error = ${json(budgetDenied(decision))}::jsonb`, conversationRuns.nothingAsked],
    action: 'continue',
    principal: by,
    reviewEnd,
  });
};

/** How a run that waits is continued. */
interface HowContinued {
  actor: Actor;
  parts: MessagePart[];
  body: Omit<ContinueBody, 'message'>;
  end: Omit<ReviewEnd, 'verdicts'>;
}

/** Continues a run that waits for people, with decisions and a message. Returns what the audit log says of them. */
export const continueRun = async (
  tx: Tx,
  conversation: Conversation,
  run: ConversationRun,
  { actor, parts, body, end }: HowContinued,
): Promise<Record<string, unknown>> => {
  const of = { conversationId: conversation.id, runId: run.id };
  const message = parts.length > 0 ? textOf(parts) : undefined;
  const stale = () => refusal(conversation, 'A decision is about something that does not wait for one.', run);
  const settled = conversationRuns.settle(
    run.pending_approvals ?? [],
    run.decisions ?? [],
    { ...body, message },
    stale,
    'content',
  );
  const owner = { run_id: run.id };
  await inputCalls.answer(tx, owner, settled.answers);
  await inputCalls.end(
    tx,
    owner,
    settled.refusals.map(({ tool_call_id }) => tool_call_id),
  );
  const reviewEnd: ReviewEnd = { ...end, verdicts: settled.verdicts };
  const { budget } = settled;
  if (budget?.approved) await budgetCalls.extend(tx, actor, budget);
  if (budget && !budget.approved) {
    await endForBudget(tx, run, budget, actor.principal, reviewEnd);
    return settled.audited;
  }
  const messageId = newId();
  const continuation: Continuation = {
    after: await countRunMessages(tx, run.id),
    stopped: 'needs_review',
    decisions: settled.made,
    message: message ?? null,
  };
  const firstSeq = await appendEvents(tx, of, [
    { type: 'run.started', data: { message_id: parts.length > 0 ? messageId : run.message_id } },
  ]);
  await recordMessages(tx, of, [
    ...settled.refusals.map((result) => ({ id: newId(), role: 'tool' as const, content: [result] })),
    ...(parts.length > 0 ? [{ id: messageId, role: 'user' as const, content: parts }] : []),
  ]);
  const set = conversationRuns.decided(settled.decisions);
  await queueRun(tx, run, { firstSeq, continuation, set, by: actor.principal, reviewEnd });
  return settled.audited;
};
