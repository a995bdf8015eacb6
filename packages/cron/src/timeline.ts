import { localOrigin } from './local-times.ts';

/** A span of real time with one offset from UTC, in milliseconds; `start` is in it, `end` is not. */
export interface Segment {
  readonly start: number;
  readonly end: number;
  readonly offset: number;
}

/** There are no occurrences before this instant. */
export const firstInstant = Date.UTC(1969, 0, 1);
/** All occurrences are before this instant. */
export const endOfTime = Date.UTC(2101, 0, 1);

/** Local times that a greater jump skips do not fire. */
const maxGapMs = 3 * 3_600_000;
/** Two instants further apart never show the same local time: no offset is beyond 16 hours. */
const farMs = 48 * 3_600_000;
const minuteMs = 60_000;

/** A span of local times as a clock shows them, in milliseconds as if they were UTC; `to` is not in it. */
interface Shown {
  from: number;
  to: number;
}

const shownIn = (segment: Segment): Shown => ({
  from: segment.start + segment.offset,
  to: segment.end + segment.offset,
});

/** The parts of `range` that are in none of `others`, in order. */
const without = (range: Shown, others: readonly Shown[]): Shown[] => {
  let left = [range];
  for (const other of others) {
    if (other.to <= range.from || other.from >= range.to) continue;
    left = left.flatMap((part) =>
      [
        { from: part.from, to: Math.min(part.to, other.from) },
        { from: Math.max(part.from, other.to), to: part.to },
      ].filter((rest) => rest.from < rest.to),
    );
  }
  return left;
};

/**
 * Real time cut into pieces, in order. A piece is a run or a gap. In a run the clock shows the local minutes `from` to
 * `to` (excluded) one after another; local minute m begins at the instant `zero + 60,000 m`. A gap is one instant, its
 * `start`, at which the local minutes `from` to `to` are due together, because the clock has skipped them.
 */
export class Timeline {
  readonly length: number;
  /** Starts of the pieces, one more than `length`; the last is Infinity. */
  readonly start: Float64Array;
  readonly zero: Float64Array;
  readonly from: Int32Array;
  readonly to: Int32Array;
  readonly isGap: Uint8Array;

  constructor(pieces: readonly { start: number; offset: number; shown: Shown; isGap: boolean }[]) {
    const kept = pieces.filter((piece) => piece.start >= firstInstant && piece.start < endOfTime);
    this.length = kept.length;
    this.start = new Float64Array(kept.length + 1);
    this.zero = new Float64Array(kept.length);
    this.from = new Int32Array(kept.length);
    this.to = new Int32Array(kept.length);
    this.isGap = new Uint8Array(kept.length);
    kept.forEach(({ start, offset, shown, isGap }, k) => {
      this.start[k] = start;
      this.zero[k] = localOrigin - offset;
      this.from[k] = Math.ceil((shown.from - localOrigin) / minuteMs);
      this.to[k] = Math.ceil((shown.to - localOrigin) / minuteMs);
      this.isGap[k] = isGap ? 1 : 0;
    });
    this.start[kept.length] = Number.POSITIVE_INFINITY;
  }

  /** The last piece that starts at or before `at`; the first one if none does. */
  indexAt(at: number): number {
    let low = 0;
    let high = this.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      if (this.start[middle]! <= at) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}

/** The run of `shown` from `start`, without what is before `firstInstant`. */
const clip = (start: number, offset: number, shown: Shown) => {
  const late = Math.max(0, firstInstant - start);
  return { start: start + late, offset, shown: { from: shown.from + late, to: shown.to }, isGap: false };
};

/** Every real minute: it contains a repeated local time twice, and a skipped one not at all. */
export const elapsedTimeline = (segments: readonly Segment[]): Timeline =>
  new Timeline(
    segments
      .filter((segment) => segment.end > firstInstant)
      .map((segment) => clip(segment.start, segment.offset, shownIn(segment))),
  );

/**
 * Every local time once: when it is first shown, or, if it is never shown because a jump of up to 3 hours skips it, at
 * the first instant after that jump. The segments must begin early enough before `firstInstant` to know what was shown
 * before.
 */
export const fixedTimeline = (segments: readonly Segment[]): Timeline => {
  const pieces: ReturnType<typeof clip>[] = [];
  const served: Shown[] = [];
  segments.forEach((segment, k) => {
    const { start, offset } = segment;
    let first = k;
    while (first > 0 && segments[first - 1]!.end > start - farMs) first--;
    const earlier = segments.slice(first, k).map(shownIn);
    const before = segments[k - 1];
    if (before && offset > before.offset && offset - before.offset <= maxGapMs) {
      let last = k;
      while (last + 1 < segments.length && segments[last + 1]!.start < start + farMs) last++;
      const later = segments.slice(k, last + 1).map(shownIn);
      const skipped = { from: start + before.offset, to: start + offset };
      for (const shown of without(skipped, [...earlier, ...later, ...served])) {
        served.push(shown);
        pieces.push({ start, offset, shown, isGap: true });
      }
    }
    for (const shown of without(shownIn(segment), earlier)) {
      if (shown.to - offset > firstInstant) pieces.push(clip(shown.from - offset, offset, shown));
    }
  });
  return new Timeline(pieces);
};
