import { rootsOf } from '../access/index.ts';
import { agentCalls } from '../agents/index.ts';
import { databaseNow, notify, type Tx } from '../database/index.ts';
import type { ReviewFacts } from '../lib/announcer.ts';
import { newId } from '../lib/ids.ts';
import { type Principal, type Role, roleAllows, type Who } from '../lib/principal.ts';
import { type PendingApproval, type ReviewEnd, shownApprovals, withFields } from '../runs/index.ts';
import { announcer } from './announcing.ts';
import { countedClosings, reviewsChannel } from './closings.ts';
import { closedError, viaOf } from './reviews.ts';
import {
  closeReviews,
  findLastReview,
  findOpenReview,
  findReviewAsking,
  insertReviews,
  type NewReview,
  type OpenReview,
  type Source,
} from './store.ts';

/** A Work Item or run that waits for people from now on. */
export interface Stay {
  source: Source;
  /** The id of the Work Item or run. */
  id: string;
  /** Null for a Work Item. */
  conversation_id: string | null;
  agent_id: string;
  agent_version: number | null;
  name: string | null;
  /** The principal whose conversation it is; null: all see it. */
  owner_id: string | null;
  reason: string | null;
  approvals: readonly PendingApproval[];
  /** The outcome of a call is not known: someone must look, however long it takes. */
  isIndeterminate: boolean;
  /** Resolves to the ids of the principals who asked for the work. */
  requesters: () => Promise<readonly string[]>;
  /** When it began to wait, if that is not now. */
  since?: Date;
}

const factsOf = ({ source, agent_id, approvals }: Stay): ReviewFacts => ({
  source,
  agentId: agent_id,
  approvals: approvals.map(({ kind, tool_name, arguments: args }) => ({
    kind,
    name: tool_name,
    arguments: args,
  })),
});

const higher = (one: Role, other: Role | null): Role =>
  other !== null && !roleAllows(one, other) ? other : one;

/** Only administrators decide on budgets. */
const isAboutBudget = ({ approvals }: Stay): boolean => approvals.some(({ kind }) => kind === 'budget');

/**
 * Opens the reviews of what waits from now on, by the ids of the Work Items or runs. What has an open one already is left
 * out. `isSilent`: no one is told.
 */
const open = async (
  tx: Tx,
  stays: readonly Stay[],
  { isSilent = false }: { isSilent?: boolean } = {},
): Promise<Map<string, OpenReview>> => {
  if (stays.length === 0) return new Map();
  const pins = stays.map(({ agent_id: id, agent_version: version }) => ({ id, version }));
  const agents = await agentCalls.findPinned(tx, pins);
  const now = await databaseNow(tx);
  const made: { stay: Stay; facts: ReviewFacts; review: NewReview }[] = [];
  for (const [i, stay] of stays.entries()) {
    const agent = agents[i];
    const facts = factsOf(stay);
    const role = isAboutBudget(stay) ? 'admin' : (agent?.approval_role ?? 'builder');
    const neverExpires =
      stay.isIndeterminate || stay.approvals.some(({ kind }) => kind === 'unknown_outcome');
    const timeout = neverExpires ? null : (agent?.approval_timeout_seconds ?? null);
    const since = stay.since?.getTime() ?? now;
    const expires_at = timeout === null ? null : new Date(since + timeout * 1_000);
    const until = { expires_at: expires_at?.toISOString() ?? null };
    const review: NewReview = {
      id: newId(),
      source: stay.source,
      work_item_id: stay.source === 'work_item' ? stay.id : null,
      conversation_id: stay.conversation_id,
      run_id: stay.source === 'conversation' ? stay.id : null,
      agent_id: stay.agent_id,
      agent_name: agent?.name ?? '',
      name: stay.name,
      owner_id: stay.owner_id,
      reason: stay.reason,
      approvals: shownApprovals(stay.approvals, until).map((approval) => ({
        ...withFields(approval),
        decision: null,
        decision_reason: null,
      })),
      required_role: higher(role, await announcer.decideRoleFor(tx, facts)),
      barred: agent?.settings.approver_not_requester
        ? [...new Set((await rootsOf(tx, await stay.requesters())).values())]
        : null,
      timeout_seconds: timeout,
      on_expiry: timeout === null ? null : (agent?.approval_timeout_outcome ?? null),
      expires_at,
      opened_at: new Date(since),
    };
    made.push({ stay, facts, review });
  }
  const inserted = await insertReviews(
    tx,
    made.map(({ review }) => review),
  );
  const opened = new Map<string, OpenReview>();
  for (const { stay, facts, review } of made) {
    const { id, expires_at } = review;
    if (!inserted.has(id)) continue;
    if (!isSilent) await announcer.opened(tx, { type: 'review', id, facts });
    opened.set(stay.id, { id, expires_at: expires_at?.toISOString() ?? null });
  }
  return opened;
};

type Closer = Who & { sessionId?: string | null };

/** Closes what is open of these reviews, or of those of these Work Items, runs or conversations. They are withdrawn without `end`. */
const close = async (
  tx: Tx,
  of: Parameters<typeof closeReviews>[1],
  ids: readonly string[],
  by: Closer,
  end?: ReviewEnd,
): Promise<void> => {
  if (ids.length === 0) return;
  const { state = 'withdrawn', via = viaOf(by), verdicts } = end ?? {};
  for (const id of await closeReviews(tx, of, ids, { state, by, via, verdicts })) {
    await announcer.changed(tx, { type: 'review', id }, 'closed');
    countedClosings.set(id, { state, via: via ?? 'system' });
    await notify(tx, reviewsChannel, id);
  }
};

/**
 * The 412 for decisions about what does not wait any more, in a Work Item or conversation; null if no review of it asked for
 * them.
 */
const refusalOfLate = async (
  tx: Tx,
  source: Source,
  id: string,
  approvalIds: readonly string[],
  principal: Principal,
  context: Record<string, unknown>,
) => {
  const review = await findReviewAsking(tx, source, id, approvalIds);
  return review && review.state !== 'open' ? closedError(tx, review.id, principal, context) : null;
};

/** The calls of those who open and close reviews. Each needs nothing but its transaction. */
export const reviewCalls = {
  open,
  close,
  findOpen: findOpenReview,
  findLast: findLastReview,
  refusalOfLate,
  closedError,
  viaOf,
};
