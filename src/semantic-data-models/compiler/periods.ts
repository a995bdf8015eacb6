import type { Temporal } from 'temporal-polyfill';

/** Days from the first, without the day `end`. */
interface Period {
  start: Temporal.PlainDate;
  end: Temporal.PlainDate;
}

const startOf = {
  week: (day: Temporal.PlainDate) => day.subtract({ days: day.dayOfWeek - 1 }),
  month: (day: Temporal.PlainDate) => day.with({ day: 1 }),
  quarter: (day: Temporal.PlainDate) => day.with({ month: day.month - ((day.month - 1) % 3), day: 1 }),
  year: (day: Temporal.PlainDate) => day.with({ month: 1, day: 1 }),
} as const;
const lengths = {
  week: { days: 7 },
  month: { months: 1 },
  quarter: { months: 3 },
  year: { years: 1 },
} as const;

type Named = keyof typeof startOf;

const named =
  (unit: Named, back: 0 | 1) =>
  (today: Temporal.PlainDate): Period => {
    const current = startOf[unit](today);
    const start = back === 1 ? current.subtract(lengths[unit]) : current;
    return { start, end: start.add(lengths[unit]) };
  };

/** Whole days that end with today. */
const days =
  (count: number) =>
  (today: Temporal.PlainDate): Period => ({
    start: today.subtract({ days: count - 1 }),
    end: today.add({ days: 1 }),
  });

const periods: Record<string, (today: Temporal.PlainDate) => Period> = {
  today: days(1),
  yesterday: (today) => ({ start: today.subtract({ days: 1 }), end: today }),
  this_week: named('week', 0),
  last_week: named('week', 1),
  this_month: named('month', 0),
  last_month: named('month', 1),
  this_quarter: named('quarter', 0),
  last_quarter: named('quarter', 1),
  this_year: named('year', 0),
  last_year: named('year', 1),
  last_7_days: days(7),
  last_30_days: days(30),
  last_90_days: days(90),
  // Whole months, this one being the last.
  last_12_months: (today) => {
    const end = startOf.month(today).add({ months: 1 });
    return { start: end.subtract({ months: 12 }), end };
  },
};

export const periodNames = Object.keys(periods);

/** The period of that name at `asOf` in the zone; null for an unknown name. */
export const periodOf = (name: string, asOf: Temporal.Instant, timezone: string): Period | null => {
  if (!Object.hasOwn(periods, name)) return null;
  return periods[name]!(asOf.toZonedDateTimeISO(timezone).toPlainDate());
};

/** The moment at which a day begins in the zone, as ISO text in UTC. */
export const beginningOf = (day: Temporal.PlainDate, timezone: string): string =>
  day.toZonedDateTime(timezone).toInstant().toString();
