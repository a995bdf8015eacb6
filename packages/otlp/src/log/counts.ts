export const countNames = ['delivered', 'rejected', 'dead_lettered', 'expired', 'discarded'] as const;

/** Numbers of the spans that a cursor has passed, by their end. */
export type Counts = Record<(typeof countNames)[number], number>;

export const zeroCounts = (): Counts => ({
  delivered: 0,
  rejected: 0,
  dead_lettered: 0,
  expired: 0,
  discarded: 0,
});

/** `state` with `deltas` added to its counts; everything else in it stays. */
export const addCounts = <T extends Counts>(state: T, deltas: Partial<Counts>): T => {
  const sum: T = { ...state };
  for (const name of countNames) (sum as Counts)[name] += deltas[name] ?? 0;
  return sum;
};

/** Spans after the cursor. */
export const passed = (state: Counts): number =>
  state.delivered + state.rejected + state.dead_lettered + state.expired + state.discarded;

/** The counters of one integration: every span that was accepted for it is in exactly one of the first six. */
export interface DeliveryCounters extends Counts {
  queued: number;
  backlog_bytes: number;
}

/**
 * The counters of an integration whose cursor is in `state` (undefined if it has none) and has `queued` spans
 * before it. A deleted integration has nothing queued: those spans are discarded. `backlogBytes` is called only if
 * something is queued.
 */
export const countersOf = (
  state: (Counts & { removed: boolean }) | undefined,
  queued: number,
  backlogBytes: () => number,
): DeliveryCounters => {
  const counts = zeroCounts();
  if (state !== undefined) for (const name of countNames) counts[name] = state[name];
  if (state?.removed) {
    return { ...counts, discarded: counts.discarded + queued, queued: 0, backlog_bytes: 0 };
  }
  return { ...counts, queued, backlog_bytes: queued === 0 ? 0 : backlogBytes() };
};
