import type { Settlement } from './settle.ts';
import type { Share } from './share.ts';
import type { CountedBudget } from './store.ts';

/** What a charge says of its cost. */
export interface Spent {
  /** Null: the price or the usage is unknown. */
  amountNanoUsd: number | null;
  /** What counts in its place if the usage is unknown; null: nothing. */
  assumedNanoUsd: number | null;
  /** All tokens. */
  tokens: number;
}

/**
 * Room that is reserved for one call, until `settled` or `release` ends it. A transaction that failed, or whose end is not
 * known, is run again: the statement that stores a charge adds it once.
 */
export interface Reservation {
  /** The time of the call, in milliseconds since 1970 by the database's clock: its periods are those of this time. */
  startedAt: number;
  /** The bound of its cost: what a charge of unknown usage assumes. Null if no budget of money counts the call. */
  boundNanoUsd: number | null;
  /** Returns what the statement that stores the charge must add, by `settleShares`. */
  settlement(spent: Spent): Settlement[];
  /** The transaction with the settlement was committed. */
  settled(): void;
  /** Nothing was charged. */
  release(): void;
}

interface Taken {
  share: Share;
  bound: number;
}

const spentOf = ({ unit }: CountedBudget, { amountNanoUsd, assumedNanoUsd, tokens }: Spent) => {
  if (unit === 'tokens') return { spent: tokens, assumed: 0 };
  const assumed = amountNanoUsd === null ? (assumedNanoUsd ?? 0) : 0;
  return { spent: amountNanoUsd ?? assumed, assumed };
};

/**
 * Returns the reservation of a call whose bounds were taken from the shares. `changed` is called when they have other figures;
 * `hasSpent` says whether they spent.
 */
export const reservationOf = (
  taken: readonly Taken[],
  { startedAt, boundNanoUsd }: Pick<Reservation, 'startedAt' | 'boundNanoUsd'>,
  changed: (shares: readonly Share[], hasSpent: boolean) => void,
): Reservation => {
  const shares = taken.map(({ share }) => share);
  let amounts: readonly number[] = taken.map(() => 0);
  let isOpen = true;
  const end = (spent: boolean) => {
    if (!isOpen) return false;
    isOpen = false;
    for (const [k, { share, bound }] of taken.entries()) share.end(bound, spent ? amounts[k]! : 0);
    return true;
  };
  return {
    startedAt,
    boundNanoUsd,
    settlement: (given) => {
      const rows = taken.map(({ share }) => ({
        period_id: share.periodId,
        share_id: share.id,
        ...spentOf(share.period.budget, given),
      }));
      amounts = rows.map(({ spent }) => spent);
      return rows;
    },
    settled: () => {
      if (end(true)) changed(shares, true);
    },
    release: () => {
      if (end(false)) changed(shares, false);
    },
  };
};

/** Returns what is no reservation, for a charge of a call that the platform did not make: it has periods, and no shares. */
export const unreserved = (
  periods: readonly { periodId: string; budget: CountedBudget }[],
  startedAt: number,
  spent: () => void,
): Reservation => ({
  startedAt,
  boundNanoUsd: null,
  settlement: (given) =>
    periods.map(({ periodId, budget }) => ({
      period_id: periodId,
      share_id: null,
      ...spentOf(budget, given),
    })),
  settled: spent,
  release: () => {},
});
