import { openZone, type Zone } from '@agent-platform/cron';

export const periodKinds = ['day', 'week', 'month', 'total'] as const;
export type PeriodKind = (typeof periodKinds)[number];

/** A span of time, in milliseconds since 1970: from `start` on, before `end`; null: for ever. */
export interface Span {
  start: number;
  end: number | null;
}

const dayMs = 86_400_000;

/** The first instant of a local day, given as if it were UTC. */
const startOfDay = (zone: Zone, day: number): number => {
  const [first] = zone.instantsOf(day).sort((a, b) => a - b);
  // The clock skips midnight: the day begins with the jump.
  return first ?? zone.jumpOver(day)?.at ?? day - zone.offsetAt(day);
};

/** Returns the local day on which the period of `day` begins, or the one `periods` later. Weeks begin on Monday. */
const firstDay = (kind: Exclude<PeriodKind, 'total'>, day: number, periods: number): number => {
  const date = new Date(day);
  switch (kind) {
    case 'day':
      return day + periods * dayMs;
    case 'week':
      return day + (periods * 7 - ((date.getUTCDay() + 6) % 7)) * dayMs;
    case 'month':
      return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + periods, 1);
  }
};

/**
 * Returns the period that the instant `at` is in. Periods begin at local midnight, and each begins where the one before
 * ends. The only period of `total` begins at `from`.
 */
export const periodAt = (kind: PeriodKind, timezone: string, at: number, from: number): Span => {
  if (kind === 'total') return { start: from, end: null };
  const zone = openZone(timezone);
  const local = at + zone.offsetAt(at);
  const day = Math.floor(local / dayMs) * dayMs;
  const startOf = (periods: number) => startOfDay(zone, firstDay(kind, day, periods));
  const starts = [startOf(0), startOf(1)] as [number, number];
  // A clock that is set back over midnight shows the day before once more, in the new period.
  if (at >= starts[1]) return { start: starts[1], end: startOf(2) };
  if (at < starts[0]) return { start: startOf(-1), end: starts[0] };
  return { start: starts[0], end: starts[1] };
};
