import { databaseNow, type Executor } from '../database/index.ts';
import { ApiError, notFound } from '../lib/errors.ts';
import { type Principal, roleAllows, scopesAllow } from '../lib/principal.ts';
import { utcTime } from '../lib/times.ts';
import type { Via } from '../runs/index.ts';
import { toReviewResponse } from './schemas.ts';
import { findReview, type Review } from './store.ts';

/** Rules of reviews: who sees and decides what, and what the second of two deciders is told. */

/** Returns whether the principal sees the review: members see only their own conversations. */
export const seesReview = ({ owner_id }: Pick<Review, 'owner_id'>, { role, id }: Principal): boolean =>
  owner_id === null || owner_id === id || roleAllows(role, 'builder');

/** Returns whether it asks only for replies, which any member gives. */
const asksOnly = ({ approvals }: Pick<Review, 'approvals'>): boolean =>
  approvals.every(({ kind }) => kind === 'question');

/**
 * Returns whether the principal may approve what the review asks for, or reply to it. `decidedBy` in the store is the same
 * condition.
 */
export const mayDecide = (
  review: Pick<Review, 'state' | 'approvals' | 'required_role' | 'barred'>,
  { role, rootId, scopes }: Principal,
): boolean =>
  review.state === 'open' &&
  scopesAllow(scopes, 'reviews') &&
  (asksOnly(review) ||
    (roleAllows(role, review.required_role) && !(review.barred?.includes(rootId) ?? false)));

/** The way in which a request came. */
export const viaOf = ({
  kind,
  sessionId,
}: Pick<Principal, 'kind'> & { sessionId?: string | null }): Via | null =>
  kind === 'system' ? null : sessionId ? 'console' : 'api';

const verbOf = (review: Review): string => {
  if (review.approvals.some(({ decision }) => decision === 'approve')) return 'approved';
  return asksOnly(review) ? 'answered' : 'denied';
};

/** Returns who decided and when, as a sentence: `Ada Lovelace approved this at 02:31 UTC.` */
const closingSentence = (review: Review, now: Date): string => {
  const { state, closed_at, closed_by } = review;
  // What waited was moved by a replica of the release before.
  if (!closed_at || !closed_by) return 'This does not wait for a decision any more.';
  const at = utcTime(closed_at, now);
  if (state === 'expired') return `This expired at ${at}.`;
  if (state === 'withdrawn') return `This was withdrawn at ${at}.`;
  return `${closed_by.name} ${verbOf(review)} this at ${at}.`;
};

/** The 412 for a decision that came too late: it says who decided and when, and has the `review`, with what `context` adds. */
export const closedError = async (
  executor: Executor,
  id: string,
  principal: Principal,
  context: Record<string, unknown>,
): Promise<ApiError> => {
  const review = await findReview(executor, id);
  // It was deleted with what waited for it.
  if (!review) return notFound('review');
  const sentence = closingSentence(review, new Date(await databaseNow(executor)));
  return new ApiError('precondition_failed', sentence, {
    ...context,
    review: toReviewResponse(review, { mayDecide: mayDecide(review, principal), messages: [] }),
  });
};
