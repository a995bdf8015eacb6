import { type Cron, CronError, parseCron } from './cron.ts';
import { LocalTimes, localOrigin } from './local-times.ts';
import { endOfTime, firstInstant, type Timeline } from './timeline.ts';
import { openZone, type Zone } from './zones.ts';

/** Appearance of an occurrence on the clocks of its zone. */
export interface Explanation {
  /** RFC 3339 with the zone's offset: `2026-10-25T02:30:00+02:00`. */
  local: string;
  /** `gap`: it fires for at least one skipped local time; `overlap`: its local time exists twice. */
  dst: 'gap' | 'overlap' | null;
}

const allHours = 2 ** 24 - 1;
const minuteMs = 60_000;

/**
 * The occurrences of an expression in a zone, from 1969 up to and excluding the year 2101 (UTC). Instants are
 * milliseconds since 1970 and may be any number. `next`, `previous` and `countBetween` work on integers and allocate
 * nothing.
 *
 * They search local minutes piece by piece in the timeline of the kind. How a kind treats repeated and skipped local
 * times is decided by how its timeline was cut, not here.
 */
export class Occurrences {
  /**
   * `elapsed` if the hour field covers all 24 hours: it follows real time. Else `fixed`: each local time fires once.
   */
  readonly kind: 'elapsed' | 'fixed';
  private readonly zone: Zone;
  private readonly times: LocalTimes;
  private readonly timeline: Timeline;
  /** The piece of the last call: the next call is mostly about the same one. */
  private hint = 0;

  constructor(cron: Cron, zone: Zone) {
    this.kind = cron.hours === allHours ? 'elapsed' : 'fixed';
    this.zone = zone;
    this.times = new LocalTimes(cron);
    this.timeline = zone[this.kind];
  }

  /** The first occurrence strictly after `after`, or null. */
  next(after: number): number | null {
    if (!(after < endOfTime)) return null;
    const { start, zero, from, to, isGap, length } = this.timeline;
    let k = this.pieceAt(after);
    let m = Math.floor((after - zero[k]!) / minuteMs) + 1;
    // A gap at or before `after` is over, since it is an instant.
    if (isGap[k] === 1) m = start[k]! <= after ? to[k]! : from[k]!;
    if (m < from[k]!) m = from[k]!;
    for (;;) {
      let none = m;
      if (m < to[k]!) {
        none = this.times.next(m);
        if (none < to[k]!) {
          this.hint = k;
          return isGap[k] === 1 ? start[k]! : none * minuteMs + zero[k]!;
        }
      }
      // Nothing matches from m up to `none`: pieces in that span need no search.
      do {
        if (++k === length) return null;
      } while (from[k]! >= m && to[k]! <= none);
      m = from[k]!;
    }
  }

  /** The last occurrence at or before `at`, or null. */
  previous(at: number): number | null {
    if (!(at >= firstInstant)) return null;
    const { start, zero, from, to, isGap } = this.timeline;
    let k = this.pieceAt(at);
    if (start[k]! > at) return null;
    let m = isGap[k] === 1 ? to[k]! - 1 : Math.floor((at - zero[k]!) / minuteMs);
    if (m >= to[k]!) m = to[k]! - 1;
    for (;;) {
      let none = m;
      if (m >= from[k]!) {
        none = this.times.previous(m);
        if (none >= from[k]!) {
          this.hint = k;
          return isGap[k] === 1 ? start[k]! : none * minuteMs + zero[k]!;
        }
      }
      // Nothing matches after `none` up to m.
      do {
        if (--k < 0) return null;
      } while (from[k]! > none && to[k]! <= m + 1);
      m = to[k]! - 1;
    }
  }

  /**
   * Returns the number of occurrences that are after `after` and at or before `until`; the cost does not depend on
   * their number.
   */
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
      const first = Math.max(from[k]!, Math.floor((after - zero[k]!) / minuteMs) + 1);
      const last = Math.min(to[k]!, Math.floor((until - zero[k]!) / minuteMs) + 1);
      total += this.times.count(first, last);
      // The firing for the gap also serves for a real time at its instant.
      if (
        start[k] === gap &&
        first < last &&
        first * minuteMs + zero[k]! === gap &&
        this.times.next(first) === first
      ) {
        total--;
      }
    }
    return total;
  }

  /** Returns the appearance of the occurrence `at` on the clocks of its zone. */
  explain(at: number): Explanation {
    return { local: this.zone.shownAt(at), dst: this.dst(at, at + this.zone.offsetAt(at)) };
  }

  /**
   * Returns whether the fields match `local`, a local time in milliseconds as if it were UTC, whatever the clock does
   * then.
   */
  matches(local: number): boolean {
    const m = Math.floor((local - localOrigin) / minuteMs);
    return this.times.next(m) === m;
  }

  /**
   * The local times in the jumps of the clock in [from, to) that the fields match, oldest first and at most `limit`,
   * each with the instant at which the schedule fires for it, null if it does not.
   */
  skippedLocalTimes(from: number, to: number, limit: number): { local: number; at: number | null }[] {
    const skipped: { local: number; at: number | null }[] = [];
    for (const { at, before, after } of this.zone.transitions(from, to)) {
      const end = Math.ceil((at + after - localOrigin) / minuteMs);
      let m = this.times.next(Math.ceil((at + before - localOrigin) / minuteMs));
      for (; m < end && skipped.length < limit; m = this.times.next(m + 1)) {
        const local = m * minuteMs + localOrigin;
        // A time that is shown as another time was not skipped.
        if (this.zone.instantsOf(local).length > 0) continue;
        skipped.push({ local, at: this.dst(at, at + after) === 'gap' ? at : null });
      }
    }
    return skipped;
  }

  private dst(at: number, local: number): Explanation['dst'] {
    const { start, from, to, isGap, length } = this.timeline;
    for (let k = 0; k < length && start[k]! <= at; k++) {
      if (start[k] === at && isGap[k] === 1 && this.times.next(from[k]!) < to[k]!) return 'gap';
    }
    return this.zone.instantsOf(local).length > 1 ? 'overlap' : null;
  }

  private pieceAt(at: number): number {
    const { start } = this.timeline;
    const { hint } = this;
    return start[hint]! <= at && at < start[hint + 1]! ? hint : this.timeline.indexAt(at);
  }
}

/**
 * Half of the schedules that stay compiled, about 1 KB each. The cache has two generations instead of one list in the
 * order of use: when the recent one is full it replaces the older one, whose schedules are dropped unless they were
 * used in the meantime. Nothing is deleted one by one, which costs 20 µs in a Map of this size.
 */
const generationSize = 5_000;
let recent = new Map<string, Occurrences>();
let older = new Map<string, Occurrences>();

/**
 * Returns the occurrences of `expression` in `timezone`, from the cache if they are there.
 *
 * @throws CronError if the expression is refused or never occurs, ZoneError if the zone is refused
 */
export const compileSchedule = (expression: string, timezone: string): Occurrences => {
  // Neither an accepted expression nor a zone contains NUL, so no other pair has the key of a cached one.
  const key = `${timezone}\0${expression}`;
  const cached = recent.get(key);
  if (cached) return cached;
  const occurrences = older.get(key) ?? compile(expression, timezone);
  if (recent.size >= generationSize) {
    older = recent;
    recent = new Map();
  }
  recent.set(key, occurrences);
  return occurrences;
};

const compile = (expression: string, timezone: string): Occurrences => {
  const zone = openZone(timezone);
  const occurrences = new Occurrences(parseCron(expression), zone);
  if (occurrences.next(firstInstant - 1) !== null) return occurrences;
  throw new CronError(
    `The expression never occurs in ${timezone} before the year 2101: write a day that one of its months has, such as \`28\`.`,
  );
};
