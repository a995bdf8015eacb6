import { times } from '../text/en/time.ts';
import { duration, locale } from '../text/format.ts';

const formats = new Map<string, Intl.DateTimeFormat>();

const formatOf = (zone: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat => {
  const key = `${zone} ${JSON.stringify(options)}`;
  let format = formats.get(key);
  if (!format) {
    try {
      format = new Intl.DateTimeFormat(locale, { timeZone: zone, hourCycle: 'h23', ...options });
    } catch {
      // The browser's zones can be older than the server's.
      format = new Intl.DateTimeFormat(locale, { timeZone: 'UTC', hourCycle: 'h23', ...options });
    }
    formats.set(key, format);
  }
  return format;
};

/** The parts of a time in a zone, as numbers and names: `{ year: '2026', month: 'Nov', day: '22', … }`. */
const partsOf = (at: Date, zone: string, options: Intl.DateTimeFormatOptions): Record<string, string> =>
  Object.fromEntries(
    formatOf(zone, options)
      .formatToParts(at)
      .map(({ type, value }) => [type, value]),
  );

const clockOptions = { hour: '2-digit', minute: '2-digit' } as const;
const dateOptions = { weekday: 'short', day: 'numeric', month: 'short', year: 'numeric' } as const;

/** `02:30`, or `02:30:15` with seconds. */
export const clockTime = (at: Date, zone: string, seconds = false): string =>
  formatOf(zone, seconds ? { ...clockOptions, second: '2-digit' } : clockOptions).format(at);

/** The calendar day in a zone, for comparisons: `2026-11-22`. */
export const dayOf = (at: Date, zone: string): string => {
  const { year, month, day } = partsOf(at, zone, { year: 'numeric', month: '2-digit', day: '2-digit' });
  return `${year}-${month}-${day}`;
};

/** `Mon 23 Nov`, with the year if it is not that of `now`. */
export const shortDay = (at: Date, zone: string, now = new Date()): string => {
  const { weekday, day, month, year } = partsOf(at, zone, dateOptions);
  const sameYear = partsOf(now, zone, { year: 'numeric' }).year === year;
  return `${weekday} ${day} ${month}${sameYear ? '' : ` ${year}`}`;
};

/**
 * The shortest exact form of a time: `14:37` today, `Mon 02:30` within six days, `23 Nov 02:30` this year, else with the
 * year.
 */
export const exactTime = (at: Date, zone: string, { now = new Date(), seconds = false } = {}): string => {
  const clock = clockTime(at, zone, seconds);
  if (dayOf(at, zone) === dayOf(now, zone)) return clock;
  const { weekday, day, month, year } = partsOf(at, zone, dateOptions);
  if (Math.abs(at.getTime() - now.getTime()) < 6 * 86_400_000) return `${weekday} ${clock}`;
  const sameYear = partsOf(now, zone, { year: 'numeric' }).year === year;
  return sameYear ? `${day} ${month} ${clock}` : `${day} ${month} ${year} ${clock}`;
};

/** `Mon 23 Nov 2026, 02:30:00 Europe/Berlin (GMT+1)`. */
export const fullTime = (at: Date, zone: string): string => {
  const { weekday, day, month, year } = partsOf(at, zone, dateOptions);
  const { timeZoneName } = partsOf(at, zone, { timeZoneName: 'short' });
  const offset = timeZoneName && timeZoneName !== zone ? ` (${timeZoneName})` : '';
  return `${weekday} ${day} ${month} ${year}, ${clockTime(at, zone, true)} ${zone}${offset}`;
};

const units = { second: 1_000, minute: 60_000, day: 86_400_000 };

/** A duration to read at a glance: seconds, then minutes, hours and minutes, and days from the second day on. */
const roughly = (milliseconds: number): string => {
  const round = (unit: number) => Math.max(1, Math.round(milliseconds / unit));
  if (milliseconds < 59.5 * units.second) return duration(round(units.second) * units.second);
  if (milliseconds < 2 * units.day) return duration(round(units.minute) * units.minute);
  return times.days(round(units.day));
};

/** `in 3 h 12 min`, `11 h ago`, `in 40 days`, `now` within a second. */
export const relativeTime = (at: Date, now: number): string => {
  const ahead = at.getTime() - now;
  if (Math.abs(ahead) < 1_000) return times.now;
  return ahead < 0 ? times.ago(roughly(-ahead)) : times.in(roughly(ahead));
};
