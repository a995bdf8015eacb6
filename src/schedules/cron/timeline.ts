import { LOCAL_ORIGIN } from './local-times.ts';

/** A stretch of real time with one offset from UTC, in milliseconds; `start` is in it, `end` is not. */
export interface Segment {
  readonly start: number;
  readonly end: number;
  readonly offset: number;
}

/** From this instant on there are occurrences. */
export const FIRST_INSTANT = Date.UTC(1969, 0, 1);
/** Before this instant there are occurrences. */
export const END_OF_TIME = Date.UTC(2101, 0, 1);

/** Local times skipped by a greater jump do not fire. */
const GREATEST_GAP = 3 * 3_600_000;
/** Two instants further apart never show the same local time: no offset is beyond 16 hours. */
const FAR = 48 * 3_600_000;
const MINUTE = 60_000;

/** Local times as a clock shows them, in milliseconds as if they were UTC; `to` is not in it. */
interface Shown {
  from: number;
  to: number;
}

const shownIn = (segment: Segment): Shown => ({
  from: segment.start + segment.offset,
  to: segment.end + segment.offset,
});

/** The parts of `range` that lie in none of `others`, in order. */
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
 * Real time cut into pieces, in order. In a run the clock shows the local minutes `from` to `to` (not in it) one after
 * another; local minute m begins at the instant `zero + 60,000 m`. A gap is one instant, its `start`, at which the
 * local minutes `from` to `to` are due all at once, because the clock has skipped them.
 */
export class Timeline {
  readonly length: number;
  /** One more than `length`; the last is Infinity. */
  readonly start: Float64Array;
  readonly zero: Float64Array;
  readonly from: Int32Array;
  readonly to: Int32Array;
  readonly isGap: Uint8Array;

  constructor(pieces: readonly { start: number; offset: number; shown: Shown; isGap: boolean }[]) {
    const kept = pieces.filter((piece) => piece.start >= FIRST_INSTANT && piece.start < END_OF_TIME);
    this.length = kept.length;
    this.start = new Float64Array(kept.length + 1);
    this.zero = new Float64Array(kept.length);
    this.from = new Int32Array(kept.length);
    this.to = new Int32Array(kept.length);
    this.isGap = new Uint8Array(kept.length);
    kept.forEach(({ start, offset, shown, isGap }, k) => {
      this.start[k] = start;
      this.zero[k] = LOCAL_ORIGIN - offset;
      this.from[k] = Math.ceil((shown.from - LOCAL_ORIGIN) / MINUTE);
      this.to[k] = Math.ceil((shown.to - LOCAL_ORIGIN) / MINUTE);
      this.isGap[k] = isGap ? 1 : 0;
    });
    this.start[kept.length] = Number.POSITIVE_INFINITY;
  }

  /** The last piece that starts at or before `at`, which is at or after the first one. */
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

/** Cuts at `FIRST_INSTANT`, so that what is before it is left out. */
const clip = (start: number, offset: number, shown: Shown) => {
  const late = Math.max(0, FIRST_INSTANT - start);
  return { start: start + late, offset, shown: { from: shown.from + late, to: shown.to }, isGap: false };
};

/** Every real minute: a repeated local time is there twice, a skipped one not at all. */
export const elapsedTimeline = (segments: readonly Segment[]): Timeline =>
  new Timeline(
    segments
      .filter((segment) => segment.end > FIRST_INSTANT)
      .map((segment) => clip(segment.start, segment.offset, shownIn(segment))),
  );

/**
 * Every local time once: where it is first shown, or, never shown and skipped by a jump of up to 3 hours, at the first
 * instant after that jump. Segments must begin early enough before `FIRST_INSTANT` to know what was shown before.
 */
export const fixedTimeline = (segments: readonly Segment[]): Timeline => {
  const pieces: ReturnType<typeof clip>[] = [];
  const served: Shown[] = [];
  segments.forEach((segment, k) => {
    const { start, offset } = segment;
    let first = k;
    while (first > 0 && segments[first - 1]!.end > start - FAR) first--;
    const earlier = segments.slice(first, k).map(shownIn);
    const before = segments[k - 1];
    if (before && offset > before.offset && offset - before.offset <= GREATEST_GAP) {
      let last = k;
      while (last + 1 < segments.length && segments[last + 1]!.start < start + FAR) last++;
      const later = segments.slice(k, last + 1).map(shownIn);
      const skipped = { from: start + before.offset, to: start + offset };
      for (const shown of without(skipped, [...earlier, ...later, ...served])) {
        served.push(shown);
        pieces.push({ start, offset, shown, isGap: true });
      }
    }
    for (const shown of without(shownIn(segment), earlier)) {
      if (shown.to - offset > FIRST_INSTANT) pieces.push(clip(shown.from - offset, offset, shown));
    }
  });
  return new Timeline(pieces);
};
