import type { Executor } from '../../database/index.ts';
import { ClosedSpans } from '../../lib/closed-spans.ts';
import { hourMs, hourOf, hoursBetween, sumsOf } from '../../lib/hours.ts';
import { SparedRead } from '../../lib/spared-read.ts';
import { countDueByHour, ExpectedOccurrences } from './expected.ts';
import {
  countHandled,
  countSchedules,
  type HandledCount,
  listDue,
  type TimesCount,
} from './numbers-store.ts';

const spanMs = 5 * 60_000;
/** Occurrences to come are shown this far ahead. */
const hoursAhead = 12;
/** Limit of the overdue schedules that are counted hour by hour. */
const mostDue = 1_000;

/** The numbers of schedules in the Overview. What is over is kept from one look to the next. */
export class ScheduleNumbers {
  readonly #handled = new ClosedSpans<HandledCount>(spanMs);
  /** Reads all schedules: 0.5 s for a million. */
  readonly #times = new SparedRead<TimesCount[]>();
  readonly #expected = new ExpectedOccurrences();

  /** Schedules, what was handled in each hour since `from`, and what is to come in the next hours. */
  async read(executor: Executor, from: number, now: number) {
    const times = await this.#times.value(() => countSchedules(executor));
    const counts = await this.#handled.read(hourOf(from), now, (begin) =>
      countHandled(executor, begin, spanMs),
    );
    const handled = sumsOf(counts, ({ status }) => status);
    const due = countDueByHour(await listDue(executor, mostDue), now);
    const hours = hoursBetween(from, now + hoursAhead * hourMs);
    const expected = this.#expected.count(
      times.filter(({ n }) => n > 0),
      hours.filter((at) => at + hourMs > now),
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
}
