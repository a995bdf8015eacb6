import { newId } from '../../lib/ids.ts';
import { keyOf, type Period, type Share } from './share.ts';
import type { Need } from './store.ts';

/** The periods of a call that waits, or of a share that has little left, and what it needs of each. */
export interface Asked<W = unknown> {
  /** Null: the share of a period is refilled. */
  waiter: W | null;
  periods: readonly { period: Period; share: Share | null; amount: number }[];
}

/** What is asked of the database for one of them, and the period that each need is of. */
export interface CallNeeds<A extends Asked> {
  asked: A;
  needs: Need[];
  of: A['periods'];
}

/**
 * Returns what these lack, in their order: what the share of a period has is used up by those that come first. Those that
 * lack nothing are left out.
 */
export const needsOf = <A extends Asked>(all: readonly A[]): CallNeeds<A>[] => {
  const left = new Map<string, number>();
  const ids = new Map<string, string>();
  const calls: CallNeeds<A>[] = [];
  for (const asked of all) {
    const lacking = asked.periods.flatMap((one) => {
      const { period, share, amount } = one;
      const { key, budget } = period;
      const free = left.get(key) ?? share?.left ?? 0;
      const isRefill = asked.waiter === null;
      const short = !isRefill && budget.enabled && amount > 0 ? Math.max(0, amount - free) : 0;
      const isNew = share === null && !ids.has(key);
      const isFirst = !left.has(key);
      left.set(key, Math.max(0, free - amount));
      if (short === 0 && !isNew && !isRefill) return [];
      if (!ids.has(key)) ids.set(key, share?.id ?? newId());
      const more = isFirst && budget.enabled && amount > 0;
      const need = {
        ...keyOf(period),
        period_id: newId(),
        share_id: ids.get(key)!,
        short,
        bound: amount,
        more,
      };
      return [{ one, need }];
    });
    if (lacking.length === 0) continue;
    calls.push({ asked, needs: lacking.map(({ need }) => need), of: lacking.map(({ one }) => one) });
  }
  return calls;
};
