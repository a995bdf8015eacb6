import { hourMs as hour } from '../../lib/hours.ts';
import { occurrencesOfStored } from '../occurrences.ts';
import type { TimesCount } from './numbers-store.ts';

type Times = Pick<TimesCount, 'cron_expression' | 'timezone'>;

const keyOf = ({ cron_expression, timezone }: Times): string => `${timezone}\0${cron_expression}`;

/** Number of occurrences that are to come in each hour. Whole hours are computed once for each expression and zone. */
export class ExpectedOccurrences {
  #hours = new Map<string, Map<number, number>>();

  /** Returns the number for each of `hours`, which are beginnings of hours; of the present one only what is to come. */
  count(times: readonly TimesCount[], hours: readonly number[], now: number): Map<number, number> {
    const kept = new Map<string, Map<number, number>>();
    const total = new Map(hours.map((at) => [at, 0]));
    for (const one of times) {
      const known = this.#hours.get(keyOf(one)) ?? new Map<number, number>();
      const own = new Map<number, number>();
      kept.set(keyOf(one), own);
      const occurrences = occurrencesOfStored(one);
      for (const at of hours) {
        const isPresent = at <= now;
        const n =
          (isPresent ? undefined : known.get(at)) ??
          occurrences?.countBetween(Math.max(now, at - 1), at + hour - 1) ??
          0;
        if (!isPresent) own.set(at, n);
        total.set(at, total.get(at)! + n * one.n);
      }
    }
    this.#hours = kept;
    return total;
  }
}

/** Counts the occurrences of overdue schedules that were due in each hour and have not been handled. */
export const countDueByHour = (
  due: readonly { cron_expression: string; timezone: string; due: Date }[],
  now: number,
): Map<number, number> => {
  const total = new Map<number, number>();
  for (const one of due) {
    const occurrences = occurrencesOfStored(one);
    const first = one.due.getTime();
    for (let at = Math.floor(first / hour) * hour; at <= now; at += hour) {
      const begin = Math.max(first, at);
      const n = occurrences?.countBetween(begin - 1, Math.min(at + hour - 1, now)) ?? (at === begin ? 1 : 0);
      if (n > 0) total.set(at, (total.get(at) ?? 0) + n);
    }
  }
  return total;
};
