import type { Occurrences } from '../cron/occurrences.ts';

/** What becomes of the occurrences of a schedule that are due. Times in milliseconds since 1970. */
export interface Decision {
  /** The occurrence that becomes a Work Item, if any. */
  fire: { at: number; outcome: 'fired' | 'caught_up' } | null;
  /** Occurrences passed over, recorded together: the first of them and how many. */
  skip: { from: number; count: number } | null;
  /** The latest occurrence that is due. */
  latest: number;
  /** The next one; null where there is none before 2101. */
  next: number | null;
}

/**
 * Decide by product, section 7 ("Missed"): of the occurrences from `due` up to `now`, only the latest can fire:
 * within the grace it does, later than that only with `catchUp`. The cost does not depend on how many there are.
 */
export const decide = (
  occurrences: Occurrences,
  due: number,
  now: number,
  rule: { catchUp: boolean; graceMs: number },
): Decision => {
  // `due` counts as an occurrence even where newer zone rules no longer know it.
  const latest = Math.max(due, occurrences.previous(now) ?? due);
  const older = latest > due ? 1 + occurrences.countBetween(due, latest - 1) : 0;
  const next = occurrences.next(now);
  const late = now - latest > rule.graceMs;
  if (late && !rule.catchUp) return { fire: null, skip: { from: due, count: older + 1 }, latest, next };
  return {
    fire: { at: latest, outcome: late ? 'caught_up' : 'fired' },
    skip: older > 0 ? { from: due, count: older } : null,
    latest,
    next,
  };
};

/** The occurrences from `due` up to `now` that nobody will fire, because of an edit or a pause. */
export const unfired = (
  occurrences: Occurrences | null,
  due: number,
  now: number,
): { from: number; count: number } => ({
  from: due,
  count: 1 + (occurrences?.countBetween(due, now) ?? 0),
});
