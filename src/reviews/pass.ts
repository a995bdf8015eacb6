import { audit } from '../audit/index.ts';
import { type Database, type RawBuilder, type Tx, tryAdvisoryLock } from '../database/index.ts';
import { messageOf } from '../lib/errors.ts';
import type { Logger } from '../lib/log.ts';
import { type Actor, systemActor, systemPrincipal } from '../lib/principal.ts';
import { wholeLengthOf } from '../lib/times.ts';
import { announcer } from './announcing.ts';
import { reviewCalls } from './calls.ts';
import type { ReviewSource } from './source.ts';
import {
  escalateReview,
  findDueReview,
  findReview,
  findUpgrade,
  isAnythingOpen,
  isOpenWhere,
  listDueReviews,
  listIds,
  listOpenWhere,
  type Review,
  type Source,
  sources,
} from './store.ts';

/**
 * The work on reviews that no request does: those that expire, and those that are missing or outdated because a replica of
 * the release before moved what waits. Each is a transaction of its own, so that a kill leaves each done or not done.
 */

const atOnce = 500;

const expiry: Actor = { ...systemActor, principal: systemPrincipal('expiry', 'expiry') };

interface Parts {
  db: Database;
  log: Logger;
  sources: Record<Source, ReviewSource>;
}

/** Does what the review says, because no one decided. What waits is locked. */
const expire = async (tx: Tx, source: ReviewSource, review: Review): Promise<void> => {
  const { id, on_expiry, timeout_seconds, work_item_id, conversation_id, run_id } = review;
  const time = wholeLengthOf(timeout_seconds ?? 0);
  const of = work_item_id === null ? { conversation_id, run_id } : { work_item_id };
  if (on_expiry === 'escalate') {
    await escalateReview(tx, id);
    await announcer.changed(tx, { type: 'review', id }, 'escalated');
    await audit(tx, expiry, 'review.escalate', id, { ...of, after_seconds: timeout_seconds });
    return;
  }
  if (on_expiry === 'cancel') await source.cancel(tx, expiry, review);
  else await source.deny(tx, expiry, review, time);
  await audit(tx, expiry, 'review.expire', id, { ...of, outcome: on_expiry, after_seconds: timeout_seconds });
};

/** Returns false if another replica is at it. */
const expireOne = ({ db, sources }: Parts, id: string): Promise<boolean> =>
  db.tx(async (tx) => {
    if (!(await tryAdvisoryLock(tx, 'reviews'))) return false;
    const seen = await findReview(tx, id);
    if (!seen) return true;
    const source = sources[seen.source];
    await source.lock(tx, seen);
    // Someone may have decided in the meantime: what was committed first counts.
    const review = await findDueReview(tx, id);
    if (review) await expire(tx, source, review);
    return true;
  });

/** Opens the review of one that waits without. Returns false if another replica is at it. */
const openOne = (
  db: Database,
  source: ReviewSource,
  id: string,
  upgrade: Date | undefined,
): Promise<boolean> =>
  db.tx(async (tx) => {
    if (!(await tryAdvisoryLock(tx, 'reviews'))) return false;
    const stay = await source.lockWaiting(tx, id);
    if (!stay) return true;
    // What waited before the upgrade is not sent.
    const isSilent = stay.since !== undefined && upgrade !== undefined && stay.since < upgrade;
    await reviewCalls.open(tx, [stay], { isSilent });
    return true;
  });

/** Withdraws a review that nothing waits for any more. Returns false if another replica is at it. */
const withdrawOne = (db: Database, condition: RawBuilder<unknown>, id: string): Promise<boolean> =>
  db.tx(async (tx) => {
    if (!(await tryAdvisoryLock(tx, 'reviews'))) return false;
    // What waits is not locked: a worker would not claim it. Whoever makes it wait again opens a review of its own.
    if (await isOpenWhere(tx, id, condition)) {
      await reviewCalls.close(tx, 'id', [id], systemActor.principal);
    }
    return true;
  });

/** Reads in one transaction what there is to do; each is looked at again under its lock. */
const lookFor = async (tx: Tx, all: Parts['sources']) => {
  const due = await listDueReviews(tx, atOnce);
  const found = [];
  for (const name of sources) {
    const source = all[name];
    const outdated = [];
    for (const condition of source.outdated) {
      outdated.push({ condition, ids: await listOpenWhere(tx, name, condition, atOnce) });
    }
    found.push({ source, outdated, waiting: await listIds(tx, source.unreviewed, atOnce) });
  }
  return { due, found };
};

/** Makes one pass. One replica at a time works on reviews: the others leave it to that one. */
export const passOverReviews = async (parts: Parts): Promise<void> => {
  const { db, log } = parts;
  /** Does it for each, whatever becomes of the others. Returns false if another replica is at it. */
  const each = async (ids: readonly string[], work: (id: string) => Promise<boolean>): Promise<boolean> => {
    for (const id of ids) {
      try {
        if (!(await work(id))) return false;
      } catch (error) {
        log.error({ id, error: messageOf(error) }, 'cannot bring a review up to date');
      }
    }
    return true;
  };
  // While nothing waits, this one statement is all: only open reviews expire, or are outdated.
  const unreviewed = sources.map((name) => parts.sources[name].unreviewed);
  if (!(await db.run((executor) => isAnythingOpen(executor, unreviewed)))) return;
  const { due, found } = await db.tx((tx) => lookFor(tx, parts.sources));
  if (!(await each(due, (id) => expireOne(parts, id)))) return;
  for (const { source, outdated, waiting } of found) {
    for (const { condition, ids } of outdated) {
      if (!(await each(ids, (id) => withdrawOne(db, condition, id)))) return;
    }
    if (waiting.length === 0) continue;
    const upgrade = await db.run(findUpgrade);
    if (!(await each(waiting, (id) => openOne(db, source, id, upgrade)))) return;
  }
};
