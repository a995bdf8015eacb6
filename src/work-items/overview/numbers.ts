import type { Executor } from '../../database/index.ts';
import { ClosedSpans } from '../../lib/closed-spans.ts';
import { hourOf, hoursBetween, sumsOf } from '../../lib/hours.ts';
import { countEnded, countOpen, type EndedCount } from './numbers-store.ts';

const spanMs = 5 * 60_000;

/** The numbers of Work Items in the Overview. What is over is kept from one look to the next. */
export class WorkItemNumbers {
  readonly #ended = new ClosedSpans<EndedCount>(spanMs);

  /** Work Items that are open, and what ended in each hour since `from`. */
  async read(executor: Executor, from: number, now: number) {
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
}
