import type { Executor } from '../../database/index.ts';
import { ClosedSpans } from '../../lib/closed-spans.ts';
import { hourOf, hoursBetween, sumsOf } from '../../lib/hours.ts';
import { countEvents, countStates, type EventCount } from './store.ts';

const spanMs = 5 * 60_000;

/** The numbers of triggers in the Overview. What is over is kept from one look to the next. */
export class TriggerNumbers {
  readonly #received = new ClosedSpans<EventCount>(spanMs);

  /** Triggers by whether they receive events, and what came in each hour since `from`. */
  async read(executor: Executor, allowUnsigned: boolean, from: number, now: number) {
    const states = await countStates(executor, allowUnsigned);
    const counts = await this.#received.read(hourOf(from), now, (begin) =>
      countEvents(executor, begin, spanMs),
    );
    const received = sumsOf(counts, ({ became }) => became);
    return {
      ...states,
      per_hour: hoursBetween(from, now).map((at) => ({
        t: new Date(at),
        fired: received(at, 'fired'),
        other: received(at, 'other'),
        failed: received(at, 'failed'),
      })),
    };
  }
}
