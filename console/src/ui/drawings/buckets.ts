import { number as format } from '../../text/format.ts';
import type { Outcome } from './marks.tsx';

/** Occurrences between two moments, past or expected. */
export interface BandBucket {
  /** Milliseconds. */
  from: number;
  to: number;
  counts: Partial<Record<Outcome, number>>;
  /** End of the span of its link, if it is not `to`: a bucket that is cut at the line of now was counted as a whole. */
  ends?: number;
  /** Address of a span: buckets that are drawn as one have one link. */
  href?: ((from: number, to: number) => string) | undefined;
}

export interface Count {
  kind: Outcome;
  number: number;
}

/** The worst first: that is what the eye must find. */
const order: readonly Outcome[] = [
  'missing',
  'waits',
  'late',
  'skipped',
  'caught-up',
  'manual',
  'on-time',
  'due',
];

/** Returns the counts of a bucket that are not 0, the worst first. */
export const countsOf = ({ counts }: BandBucket): Count[] =>
  order.map((kind) => ({ kind, number: counts[kind] ?? 0 })).filter(({ number }) => number > 0);

/** Width of a count: a mark, or a bar that its number fits in. */
export const widthOf = ({ number }: Count): number =>
  number === 1 ? 10 : Math.max(14, format(number).length * 7 + 7);

export const drawnWidth = (bucket: BandBucket): number =>
  countsOf(bucket).reduce((sum, count) => sum + widthOf(count) + 1, -1);

const join = (one: BandBucket, other: BandBucket): BandBucket => {
  const counts = { ...one.counts };
  for (const { kind, number } of countsOf(other)) counts[kind] = (counts[kind] ?? 0) + number;
  const ends = Math.max(one.ends ?? one.to, other.ends ?? other.to);
  return { from: one.from, to: other.to, ends, counts, href: one.href ?? other.href };
};

/** Puts what is due in the present bucket into one of its own, which begins now. */
const splitAt = (bucket: BandBucket, now: number): BandBucket[] => {
  if (bucket.from >= now || bucket.to <= now) return [bucket];
  const { due = 0, ...past } = bucket.counts;
  return [
    { ...bucket, to: now, ends: bucket.to, counts: past },
    { ...bucket, from: now, counts: { due } },
  ];
};

/** Returns the middle of a bucket as it is drawn: all of it on its side of the line of now. */
export const middleOf = (bucket: BandBucket, now: number, x: (at: number) => number): number => {
  const middle = x((bucket.from + bucket.to) / 2);
  const half = drawnWidth(bucket) / 2 + 2;
  return bucket.from < now ? Math.min(middle, x(now) - half) : Math.max(middle, x(now) + half);
};

/** Joins neighbors until none is drawn over another. Past and future are not joined. `x` is the place of a moment. */
export const mergeBuckets = (
  buckets: readonly BandBucket[],
  now: number,
  x: (at: number) => number,
): BandBucket[] => {
  const touch = (one: BandBucket, other: BandBucket) =>
    one.from < now === other.from < now &&
    middleOf(other, now, x) - middleOf(one, now, x) < (drawnWidth(one) + drawnWidth(other)) / 2 + 2;
  const merged: BandBucket[] = [];
  for (const bucket of buckets.flatMap((each) => splitAt(each, now))) {
    if (countsOf(bucket).length === 0) continue;
    let next = bucket;
    while (merged.length > 0 && touch(merged.at(-1)!, next)) next = join(merged.pop()!, next);
    merged.push(next);
  }
  return merged;
};
