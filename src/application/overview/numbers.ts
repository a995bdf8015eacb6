import type { Executor } from '../../database/index.ts';
import { ClosedSpans } from './closed-spans.ts';
import { countDueByHour, ExpectedOccurrences } from './expected.ts';
import {
  countDelivered,
  countEnded,
  countHandled,
  countOpen,
  countSchedules,
  type EndedCount,
  type HandledCount,
  listDue,
} from './numbers-store.ts';

const minute = 60_000;
const hour = 60 * minute;
const spanMs = 5 * minute;
/** Occurrences to come are shown this far ahead. */
const hoursAhead = 12;
/** How many overdue schedules are counted hour by hour. */
const mostDue = 1_000;

const hourOf = (at: number): number => Math.floor(at / hour) * hour;

/** The beginnings of the hours from `from` to `to`. */
const hoursBetween = (from: number, to: number): number[] => {
  const hours: number[] = [];
  for (let at = hourOf(from); at <= to; at += hour) hours.push(at);
  return hours;
};

/** Sums `counts` by hour and by what `keyOf` says. */
const sumsOf = <C extends { at: number; n: number }>(
  counts: readonly C[],
  keyOf: (count: C) => string,
): ((at: number, key: string) => number) => {
  const sums = new Map<string, number>();
  for (const count of counts) {
    const key = `${hourOf(count.at)} ${keyOf(count)}`;
    sums.set(key, (sums.get(key) ?? 0) + count.n);
  }
  return (at, key) => sums.get(`${at} ${key}`) ?? 0;
};

/** The numbers of the Overview. What is over is kept from one look to the next. */
export class Numbers {
  readonly #ended = new ClosedSpans<EndedCount>(spanMs);
  readonly #handled = new ClosedSpans<HandledCount>(spanMs);
  readonly #expected = new ExpectedOccurrences();

  /** Work Items that are open, and what ended in each hour since `from`. */
  async workItems(executor: Executor, from: number, now: number) {
    const open = await countOpen(executor);
    const counts = await this.#ended.read(hourOf(from), now, (begin) => countEnded(executor, begin, spanMs));
    const ended = sumsOf(counts, ({ status }) => status);
    const tokens = sumsOf(
      counts.map(({ at, tokens: n }) => ({ at, n })),
      () => '',
    );
    const sum = (status: string) =>
      counts.reduce((total, count) => total + (count.status === status ? count.n : 0), 0);
    return {
      by_status: {
        DRAFT: open.draft,
        PENDING: open.pending,
        EXECUTING: open.executing,
        NEEDS_REVIEW: open.needs_review,
        INDETERMINATE: open.indeterminate,
        COMPLETED: sum('COMPLETED'),
        ERROR: sum('ERROR'),
        CANCELLED: sum('CANCELLED'),
      },
      per_hour: hoursBetween(from, now).map((at) => ({
        t: new Date(at),
        finished: ended(at, 'COMPLETED'),
        failed: ended(at, 'ERROR'),
        tokens: tokens(at, ''),
      })),
      oldest_pending_at: open.oldest_pending_at,
    };
  }

  /** Schedules, what was handled in each hour since `from`, and what is to come in the next hours. */
  async schedules(executor: Executor, from: number, now: number) {
    const times = await countSchedules(executor);
    const counts = await this.#handled.read(hourOf(from), now, (begin) =>
      countHandled(executor, begin, spanMs),
    );
    const handled = sumsOf(counts, ({ status }) => status);
    const due = countDueByHour(await listDue(executor, mostDue), now);
    const hours = hoursBetween(from, now + hoursAhead * hour);
    const expected = this.#expected.count(
      times.filter(({ n }) => n > 0),
      hours.filter((at) => at + hour > now),
      now,
    );
    return {
      enabled: times.reduce((sum, one) => sum + one.enabled, 0),
      paused: times.reduce((sum, one) => sum + one.paused, 0),
      per_hour: hours.map((at) => ({
        t: new Date(at),
        on_time: handled(at, 'on_time'),
        late: handled(at, 'late'),
        caught_up: handled(at, 'caught_up'),
        skipped: handled(at, 'skipped'),
        missing: handled(at, 'missing') + (due.get(at) ?? 0),
        expected: expected.get(at) ?? 0,
      })),
    };
  }

  /** Spans delivered in each hour since `from`. */
  async spans(executor: Executor, from: number, now: number) {
    const delivered = new Map(
      (await countDelivered(executor, hourOf(from))).map(({ at, delivered: n }) => [at.getTime(), n]),
    );
    const perHour = hoursBetween(from, now).map((at) => ({
      t: new Date(at),
      delivered: delivered.get(at) ?? 0,
    }));
    return { delivered: perHour.reduce((sum, one) => sum + one.delivered, 0), per_hour: perHour };
  }
}
