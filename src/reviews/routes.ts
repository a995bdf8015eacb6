import { z } from 'zod';
import type { Database, Executor } from '../database/index.ts';
import { cursorOf, jsonRoute, pageOf, pageQuery, type Route, sortedPage } from '../http/index.ts';
import type { SentMessage } from '../lib/announcer.ts';
import { badRequest, notFound } from '../lib/errors.ts';
import { isId } from '../lib/ids.ts';
import { type Principal, roleAllows } from '../lib/principal.ts';
import { pendingApproval } from '../runs/index.ts';
import { announcer } from './announcing.ts';
import type { Decide } from './decide.ts';
import { mayDecide, seesReview, viaOf } from './reviews.ts';
import { decideBody, publicReview, type ReviewResponse, toReviewResponse } from './schemas.ts';
import { findReview, listReviews, type Review, reviewStates, sources } from './store.ts';

const path = '/reviews';
const onePath = `${path}/{review_id}`;

const filters = pageQuery.extend({
  state: z.enum(reviewStates).optional(),
  source: z.enum(sources).optional(),
  agent_id: z.string().optional().describe('Those of this agent.'),
  kind: pendingApproval.shape.kind.optional().describe('Those that ask for something of this kind.'),
  may_decide: z
    .enum(['true', 'false'])
    .transform((value) => value === 'true')
    .optional()
    .describe('Whether the caller may approve what it asks for, or reply to it.'),
});

/** Reviews as the principal sees them. */
const shownTo = async (
  executor: Executor,
  principal: Principal,
  reviews: readonly Review[],
): Promise<ReviewResponse[]> => {
  const ids = reviews.map(({ id }) => id);
  const messages = roleAllows(principal.role, 'builder')
    ? await announcer.messagesOf(executor, 'review', ids)
    : new Map<string, SentMessage[]>();
  return reviews.map((review) =>
    toReviewResponse(review, {
      mayDecide: mayDecide(review, principal),
      messages: messages.get(review.id) ?? [],
    }),
  );
};

/** Throws 400 for a body that says nothing. */
const checkDecision = ({ decisions, message }: Record<string, unknown>): void => {
  const decides = Array.isArray(decisions) ? decisions.length > 0 : decisions != null;
  if (decides || message != null) return;
  throw badRequest('Send `decisions` about what is asked, or `message`, which replies or denies.');
};

export const reviewRoutes = (db: Database, decide: Decide): Route[] => {
  const find = async ({ params, principal }: { params: Record<string, string>; principal: Principal }) => {
    const id = params.review_id!;
    const found = isId(id) ? await db.run((executor) => findReview(executor, id)) : undefined;
    if (!found || !seesReview(found, principal)) throw notFound('review');
    return found;
  };
  const shared = { role: 'member', base: 'v2' } as const;
  return [
    jsonRoute({
      ...shared,
      id: 'listReviews',
      scope: 'reviews:read',
      request: `GET ${path}`,
      summary: 'List reviews',
      description:
        'A review is one stay of a Work Item in NEEDS_REVIEW or INDETERMINATE, or of a run of a conversation in `needs_review`. Of conversations, members see their own.',
      query: filters,
      response: pageOf('ReviewPage', publicReview),
      handler: ({ query: { limit, next, ...filter }, principal }) =>
        db.run(async (executor) => {
          const rows = await listReviews(executor, principal, filter, { limit, next });
          const shown = await shownTo(executor, principal, rows);
          return sortedPage(
            shown,
            limit,
            ({ id }) => cursorOf(id),
            (review) => review,
          );
        }),
    }),
    jsonRoute({
      ...shared,
      id: 'getReview',
      scope: 'reviews:read',
      request: `GET ${onePath}`,
      summary: 'Get a review',
      find,
      response: publicReview,
      cache: 'content',
      handler: async ({ found, principal }) =>
        (await db.run((executor) => shownTo(executor, principal, [found])))[0]!,
    }),
    jsonRoute({
      ...shared,
      id: 'decideReview',
      scope: 'reviews',
      request: `POST ${onePath}/decide`,
      summary: 'Decide a review',
      description:
        'Does what continuing the Work Item, or a message to the conversation, does with the same decisions, and closes the review. Of two that decide at once one wins; the 412 of the other says who decided and when, and has the `review`.',
      otherStatuses: [412],
      find,
      body: { schema: decideBody, precheck: checkDecision },
      response: publicReview,
      idempotent: true,
      handler: ({ found, body, transaction, actor, principal }) =>
        transaction(async (tx) => {
          const review = await decide(tx, actor, found.id, body, { via: viaOf(principal) ?? 'api' });
          return (await shownTo(tx, principal, [review]))[0]!;
        }),
    }),
  ];
};
