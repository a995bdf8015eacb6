import type { Tx } from '../database/index.ts';
import { notFound } from '../lib/errors.ts';
import { isId } from '../lib/ids.ts';
import type { Actor } from '../lib/principal.ts';
import { seesReview } from './reviews.ts';
import type { DecideBody } from './schemas.ts';
import type { DecidedBy, ReviewSource } from './source.ts';
import { findReview, type Review, type Source } from './store.ts';

/** Decides on reviews, by the rules of what waits. */
export type Decide = (tx: Tx, actor: Actor, id: string, body: DecideBody, by: DecidedBy) => Promise<Review>;

/**
 * Returns what closes a review with a decision, and returns it then. Throws 404 if there is none that the actor sees, and
 * what the source throws.
 */
export const createDecide =
  (sources: Record<Source, ReviewSource>): Decide =>
  async (tx, actor, id, body, by) => {
    const review = isId(id) ? await findReview(tx, id) : undefined;
    if (!review || !seesReview(review, actor.principal)) throw notFound('review');
    await sources[review.source].decide(tx, actor, review, body, by);
    return (await findReview(tx, id))!;
  };
