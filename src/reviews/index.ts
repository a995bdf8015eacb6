import type { Executor } from '../database/index.ts';
import type { Feature, Services } from '../feature.ts';
import { Loop } from '../lib/loop.ts';
import { gauge } from '../lib/metrics.ts';
import { announceBy } from './announcing.ts';
import { createClosings } from './closings.ts';
import { createDecide, type Decide } from './decide.ts';
import { passOverReviews } from './pass.ts';
import { mayDecide, seesReview } from './reviews.ts';
import { reviewRoutes } from './routes.ts';
import { type ReviewResponse, toReviewResponse } from './schemas.ts';
import type { ReviewSource } from './source.ts';
import { countOpenReviews, findReview, type Review, type Source, sources as sourceNames } from './store.ts';

export { reviewCalls, type Stay } from './calls.ts';
export type { Deciding, ReviewSource } from './source.ts';
export { asksOther, noReview, type OpenReview, openReview, type Review } from './store.ts';

interface Needs {
  sources: Record<Source, ReviewSource>;
}

export interface Reviews extends Feature {
  /** Returns a review as the API shows it to someone who may not decide, without messages; undefined if there is none. */
  read(executor: Executor, id: string): Promise<ReviewResponse | undefined>;
  find(executor: Executor, id: string): Promise<Review | undefined>;
  /** Returns whether the principal sees the review. */
  sees: typeof seesReview;
  /** Closes a review with a decision. Throws 403, 404, 412 and 422 as the operation does. */
  decide: Decide;
  /** Returns whether the principal may approve what the review asks for, or reply to it. */
  mayDecide: typeof mayDecide;
  /** From now on reviews are announced by the given one. */
  announcedBy: typeof announceBy;
  /** Makes one pass over what expires, is missing or outdated. */
  pass(): Promise<void>;
}

/** The interval between two passes, in milliseconds: what is due or missing is seen within 10 s. */
const everyMs = 9_000;

/** Reviews: all that a Work Item or run waits for, decided together. */
export const createReviews = ({ db, log }: Services, { sources }: Needs): Reviews => {
  const decide = createDecide(sources);
  const closings = createClosings(db);
  const pass = () => passOverReviews({ db, log, sources });
  const loop = new Loop({
    name: 'reviews',
    log,
    tick: async () => {
      await pass();
      return everyMs;
    },
  });
  const open = gauge(
    'agent_platform_reviews_open',
    'Reviews that wait for people, by what waits.',
    ['source'],
    async (metric) => {
      // Without the database there is no figure, and the others are still of use.
      const counts = await db.run(countOpenReviews).catch(() => null);
      metric.reset();
      if (counts) for (const source of sourceNames) metric.set({ source }, counts.get(source) ?? 0);
    },
  );
  return {
    tag: {
      name: 'Reviews',
      description: 'What Work Items and conversations wait for people to decide, and who decided.',
    },
    routes: reviewRoutes(db, decide),
    metrics: [open, closings.metric],
    start: async () => closings.listen(),
    loops: [{ start: () => void loop.start(), stop: () => loop.stop(), pass: () => loop.pass() }],
    read: async (executor, id) => {
      const review = await findReview(executor, id);
      return review && toReviewResponse(review, { mayDecide: false, messages: [] });
    },
    find: findReview,
    sees: seesReview,
    decide,
    mayDecide,
    announcedBy: announceBy,
    pass,
  };
};
