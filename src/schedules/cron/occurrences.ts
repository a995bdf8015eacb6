import { type Cron, CronError, parseCron } from './cron.ts';
import { LocalTimes } from './local-times.ts';
import { END_OF_TIME, FIRST_INSTANT, type Timeline } from './timeline.ts';
import { openZone, type Zone } from './zones.ts';

/** How an occurrence looks to people in its zone. */
export interface Explanation {
  /** RFC 3339 with the zone's offset: `2026-10-25T02:30:00+02:00`. */
  local: string;
  /** `gap`: it stands for at least one skipped local time; `overlap`: its local time exists twice. */
  dst: 'gap' | 'overlap' | null;
}

const ALL_HOURS = 2 ** 24 - 1;
const MINUTE = 60_000;

const twoDigits = (n: number): string => String(n).padStart(2, '0');

/**
 * The occurrences of an expression in a zone, from 1969 up to and without the year 2101 (UTC). Instants are
 * milliseconds since 1970 and may be any number. `next`, `previous` and `countBetween` work on integers and allocate
 * nothing.
 *
 * Local minutes are searched piece by piece of the timeline that fits the kind; what a kind does with repeated and
 * skipped local times lies in how that timeline was cut.
 */
export class Occurrences {
  /** `elapsed` when the hour field covers all 24 hours: it follows real time; else each local time fires once. */
  readonly kind: 'elapsed' | 'fixed';
  private readonly zone: Zone;
  private readonly times: LocalTimes;
  private readonly timeline: Timeline;
  /** The piece of the last question: the next question is mostly about the same. */
  private hint = 0;

  constructor(cron: Cron, zone: Zone) {
    this.kind = cron.hours === ALL_HOURS ? 'elapsed' : 'fixed';
    this.zone = zone;
    this.times = new LocalTimes(cron);
    this.timeline = zone[this.kind];
  }

  /** The first occurrence strictly after `after`, or null. */
  next(after: number): number | null {
    if (!(after < END_OF_TIME)) return null;
    const { start, zero, from, to, isGap, length } = this.timeline;
    let k = this.pieceAt(after);
    let m = Math.floor((after - zero[k]!) / MINUTE) + 1;
    // A gap at or before `after` is over, for it is an instant.
    if (isGap[k] === 1) m = start[k]! <= after ? to[k]! : from[k]!;
    if (m < from[k]!) m = from[k]!;
    for (;;) {
      let none = m;
      if (m < to[k]!) {
        none = this.times.next(m);
        if (none < to[k]!) {
          this.hint = k;
          return isGap[k] === 1 ? start[k]! : none * MINUTE + zero[k]!;
        }
      }
      // Nothing matches from m up to `none`: pieces that lie in there are passed over unsearched.
      do {
        if (++k === length) return null;
      } while (from[k]! >= m && to[k]! <= none);
      m = from[k]!;
    }
  }

  /** The last occurrence at or before `at`, or null. */
  previous(at: number): number | null {
    if (!(at >= FIRST_INSTANT)) return null;
    const { start, zero, from, to, isGap } = this.timeline;
    let k = this.pieceAt(at);
    if (start[k]! > at) return null;
    let m = isGap[k] === 1 ? to[k]! - 1 : Math.floor((at - zero[k]!) / MINUTE);
    if (m >= to[k]!) m = to[k]! - 1;
    for (;;) {
      let none = m;
      if (m >= from[k]!) {
        none = this.times.previous(m);
        if (none >= from[k]!) {
          this.hint = k;
          return isGap[k] === 1 ? start[k]! : none * MINUTE + zero[k]!;
        }
      }
      // Nothing matches after `none` up to m.
      do {
        if (--k < 0) return null;
      } while (from[k]! > none && to[k]! <= m + 1);
      m = to[k]! - 1;
    }
  }

  /** How many occurrences lie after `after` and at or before `until`; the cost does not depend on their number. */
  countBetween(after: number, until: number): number {
    const { start, zero, from, to, isGap, length } = this.timeline;
    if (!(after < until)) return 0;
    let total = 0;
    let gap = Number.NaN;
    for (let k = this.pieceAt(after); k < length && start[k]! <= until; k++) {
      if (isGap[k] === 1) {
        // Parts of one gap are due at one instant.
        if (start[k]! > after && start[k] !== gap && this.times.next(from[k]!) < to[k]!) {
          gap = start[k]!;
          total++;
        }
        continue;
      }
      const first = Math.max(from[k]!, Math.floor((after - zero[k]!) / MINUTE) + 1);
      const last = Math.min(to[k]!, Math.floor((until - zero[k]!) / MINUTE) + 1);
      total += this.times.count(first, last);
      // The firing for the gap serves for a real time at its instant too.
      if (
        start[k] === gap &&
        first < last &&
        first * MINUTE + zero[k]! === gap &&
        this.times.next(first) === first
      ) {
        total--;
      }
    }
    return total;
  }

  /** How the occurrence `at` looks on the clocks of its zone. */
  explain(at: number): Explanation {
    const offset = this.zone.offsetAt(at);
    const local = at + offset;
    // RFC 3339 has no seconds in an offset; they are rounded away.
    const minutes = Math.round(Math.abs(offset) / MINUTE);
    const shown = `${offset < 0 ? '-' : '+'}${twoDigits(Math.floor(minutes / 60))}:${twoDigits(minutes % 60)}`;
    return { local: new Date(local).toISOString().slice(0, 19) + shown, dst: this.dst(at, local) };
  }

  private dst(at: number, local: number): Explanation['dst'] {
    const { start, from, to, isGap, length } = this.timeline;
    for (let k = 0; k < length && start[k]! <= at; k++) {
      if (start[k] === at && isGap[k] === 1 && this.times.next(from[k]!) < to[k]!) return 'gap';
    }
    return this.zone.timesShown(local) > 1 ? 'overlap' : null;
  }

  private pieceAt(at: number): number {
    const { start } = this.timeline;
    const { hint } = this;
    return start[hint]! <= at && at < start[hint + 1]! ? hint : this.timeline.indexAt(at);
  }
}

/**
 * Half of the schedules that are kept compiled, about 1 KB each. Two generations instead of one list in the order of
 * use: when the recent half is full it becomes the older half, whose schedules are let go unless they are asked for
 * meanwhile. Nothing is deleted one by one, which costs 20 µs in a Map of this size.
 */
const GENERATION = 5_000;
let recent = new Map<string, Occurrences>();
let older = new Map<string, Occurrences>();

/**
 * The occurrences of `expression` in `timezone`, kept for the next time that they are asked for.
 *
 * @throws CronError when the expression is refused or never occurs, ZoneError when the zone is
 */
export const compileSchedule = (expression: string, timezone: string): Occurrences => {
  // Neither an accepted expression nor a zone contains NUL, so no other pair has the key of a kept one.
  const key = `${timezone}\0${expression}`;
  const kept = recent.get(key);
  if (kept) return kept;
  const occurrences = older.get(key) ?? compile(expression, timezone);
  if (recent.size >= GENERATION) {
    older = recent;
    recent = new Map();
  }
  recent.set(key, occurrences);
  return occurrences;
};

const compile = (expression: string, timezone: string): Occurrences => {
  const zone = openZone(timezone);
  const occurrences = new Occurrences(parseCron(expression), zone);
  if (occurrences.next(FIRST_INSTANT - 1) !== null) return occurrences;
  throw new CronError(
    `The expression never occurs in ${timezone} before the year 2101: write a day that one of its months has, such as \`28\`.`,
  );
};
