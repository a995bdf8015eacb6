import type { Occurrences } from '@agent-platform/cron';
import type { LedgerStatus } from '../explain/ledger.ts';

/** Numbers of occurrences in a span of time: those that happened, and those that are to come. */
export interface Bucket {
  on_time: number;
  late: number;
  caught_up: number;
  /** Occurrences passed over because the schedule was paused or edited, or could not fire. */
  skipped: number;
  manual: number;
  /** Occurrences that should have fired and did not: they were recorded as missed, or not at all. */
  missing: number;
  /** Occurrences that are due, and not handled yet. */
  due: number;
  /** Occurrences to come. */
  expected: number;
}

/** Equal spans from `from` on; the `k`th is [from + k step, from + (k + 1) step). Times in ms since 1970. */
export interface Grid {
  from: number;
  to: number;
  step: number;
  count: number;
}

/** A definition with the span of time (from, to] in which it held; null: nothing was due. */
export interface HeldDefinition {
  from: number;
  to: number;
  occurrences: Occurrences | null;
}

/** Occurrences of one schedule in the grid. */
export interface Series {
  /** Single records by bucket. */
  recorded: readonly { k: number; status: LedgerStatus | 'missing'; n: number }[];
  /** Several that were passed over together: the first, how many, and what they count as. */
  together: readonly { first: number; count: number; as: 'skipped' | 'missing' }[];
  /** Oldest first. */
  held: readonly HeldDefinition[];
  /** Time from which due occurrences have not been handled; null: nothing is planned. */
  nextRunAt: number | null;
  /** The present definition, if it is enabled. */
  planned: Occurrences | null;
  /** Time before which nothing is known of due occurrences. */
  knownFrom: number;
}

export const emptyBucket = (): Bucket => ({
  on_time: 0,
  late: 0,
  caught_up: 0,
  skipped: 0,
  manual: 0,
  missing: 0,
  due: 0,
  expected: 0,
});

/** The buckets of a row that are not empty, by their number. */
export type Buckets = Map<number, Bucket>;

const bucketAt = (buckets: Buckets, k: number): Bucket => {
  const bucket = buckets.get(k) ?? emptyBucket();
  buckets.set(k, bucket);
  return bucket;
};

/** Returns the number of occurrences that the definitions had in [from, to). */
const nominalIn = (held: readonly HeldDefinition[], from: number, to: number): number => {
  let n = 0;
  for (const { occurrences, ...span } of held) {
    n += occurrences?.countBetween(Math.max(from - 1, span.from), Math.min(to - 1, span.to)) ?? 0;
  }
  return n;
};

/** Calls `add` with each bucket that overlaps [from, to), and the part of it that does. */
const eachBucket = (
  grid: Grid,
  from: number,
  to: number,
  add: (k: number, begin: number, end: number) => void,
): void => {
  const first = Math.max(0, Math.floor((from - grid.from) / grid.step));
  for (let k = first; k < grid.count; k++) {
    const begin = grid.from + k * grid.step;
    if (begin >= to) return;
    add(k, Math.max(begin, from), Math.min(begin + grid.step, to));
  }
};

/** Spreads what was passed over together over the times that it stands for. Returns how many of them are in the grid. */
const addTogether = (
  buckets: Buckets,
  grid: Grid,
  { held }: Series,
  { first, count, as }: Series['together'][number],
): number => {
  const definition = held.find(({ from, to }) => from < first && first <= to)?.occurrences;
  let total = 0;
  /** Returns the number of them that are before `end`. */
  const before = (end: number): number =>
    end <= first ? 0 : Math.min(count, 1 + (definition?.countBetween(first, end - 1) ?? 0));
  let done = before(grid.from);
  eachBucket(grid, Math.max(first, grid.from), grid.to, (k, _begin, end) => {
    const n = before(end) - done;
    if (n <= 0) return;
    done += n;
    total += n;
    bucketAt(buckets, k)[as] += n;
  });
  return total;
};

/** Adds what a schedule has in the grid to the buckets of its row. */
export const addSeries = (buckets: Buckets, grid: Grid, series: Series, now: number): void => {
  const { held, nextRunAt, planned } = series;
  const nominal = new Map<number, number>();
  let handled = 0;
  for (const { k, status, n } of series.recorded) {
    bucketAt(buckets, k)[status] += n;
    if (status === 'manual') continue;
    handled += n;
    nominal.set(k, (nominal.get(k) ?? 0) + n);
  }
  for (const group of series.together) {
    const own: Buckets = new Map();
    handled += addTogether(own, grid, series, group);
    for (const [k, { [group.as]: n }] of own) {
      bucketAt(buckets, k)[group.as] += n;
      nominal.set(k, (nominal.get(k) ?? 0) + n);
    }
  }
  const begin = Math.max(grid.from, series.knownFrom);
  // From here on nothing has been handled.
  const end = Math.min(grid.to, now + 1, nextRunAt ?? Number.POSITIVE_INFINITY);
  // Only a difference of the sums is looked for in each bucket: there is hardly ever one.
  if (begin < end && (begin > grid.from || nominalIn(held, begin, end) > handled)) {
    eachBucket(grid, begin, end, (k, from, to) => {
      const missing = nominalIn(held, from, to) - (nominal.get(k) ?? 0);
      if (missing > 0) bucketAt(buckets, k).missing += missing;
    });
  }
  if (!planned || nextRunAt === null) return;
  if (nextRunAt <= now) {
    eachBucket(grid, Math.max(grid.from, nextRunAt), Math.min(grid.to, now + 1), (k, from, to) => {
      const due = planned.countBetween(from - 1, to - 1);
      if (due > 0) bucketAt(buckets, k).due += due;
    });
  }
  eachBucket(grid, Math.max(grid.from, now + 1, nextRunAt), grid.to, (k, from, to) => {
    const expected = planned.countBetween(from - 1, to - 1);
    if (expected > 0) bucketAt(buckets, k).expected += expected;
  });
};
