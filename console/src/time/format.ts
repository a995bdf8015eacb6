import { times } from '../text/en/time.ts';
import { duration, locale } from '../text/format.ts';

const units = { second: 1_000, minute: 60_000, day: 86_400_000 };

const options = {
  clock: { hour: '2-digit', minute: '2-digit' },
  seconds: { hour: '2-digit', minute: '2-digit', second: '2-digit' },
  date: { weekday: 'short', day: 'numeric', month: 'short', year: 'numeric' },
  day: { year: 'numeric', month: '2-digit', day: '2-digit' },
  zone: { timeZoneName: 'short' },
} as const satisfies Record<string, Intl.DateTimeFormatOptions>;
type Kind = keyof typeof options;

/** To make a format takes 50 times as long as to use it. */
const formats = new Map<string, Partial<Record<Kind, Intl.DateTimeFormat>>>();

const formatOf = (zone: string, kind: Kind): Intl.DateTimeFormat => {
  const ofZone = formats.get(zone) ?? {};
  formats.set(zone, ofZone);
  let format = ofZone[kind];
  if (!format) {
    try {
      format = new Intl.DateTimeFormat(locale, { timeZone: zone, hourCycle: 'h23', ...options[kind] });
    } catch {
      // The browser's zones can be older than the server's.
      format = new Intl.DateTimeFormat(locale, { timeZone: 'UTC', hourCycle: 'h23', ...options[kind] });
    }
    ofZone[kind] = format;
  }
  return format;
};

/** The parts of a time in a zone, as numbers and names: `{ year: '2026', month: 'Nov', day: '22', … }`. */
const partsOf = (at: Date, zone: string, kind: Kind): Record<string, string> => {
  const parts: Record<string, string> = {};
  for (const { type, value } of formatOf(zone, kind).formatToParts(at)) parts[type] = value;
  return parts;
};

const yearOf = (at: Date, zone: string): string => partsOf(at, zone, 'day').year!;

/** `02:30`, or `02:30:15` with seconds. */
export const clockTime = (at: Date, zone: string, seconds = false): string =>
  formatOf(zone, seconds ? 'seconds' : 'clock').format(at);

/** The calendar day in a zone, for comparisons: `2026-11-22`. */
export const dayOf = (at: Date, zone: string): string => {
  const { year, month, day } = partsOf(at, zone, 'day');
  return `${year}-${month}-${day}`;
};

/** `Mon 23 Nov`, with the year if it is not that of `now`. */
export const shortDay = (at: Date, zone: string, now = new Date()): string => {
  const { weekday, day, month, year } = partsOf(at, zone, 'date');
  const sameYear = yearOf(now, zone) === year;
  return `${weekday} ${day} ${month}${sameYear ? '' : ` ${year}`}`;
};

/**
 * The shortest exact form of a time: `14:37` today, `Mon 02:30` within six days, `23 Nov 02:30` this year, else with the
 * year.
 */
export const exactTime = (at: Date, zone: string, { now = new Date(), seconds = false } = {}): string => {
  const clock = clockTime(at, zone, seconds);
  // Times that are further apart are never of one day.
  const apart = Math.abs(at.getTime() - now.getTime());
  if (apart < 2 * units.day && dayOf(at, zone) === dayOf(now, zone)) return clock;
  const { weekday, day, month, year } = partsOf(at, zone, 'date');
  if (apart < 6 * units.day) return `${weekday} ${clock}`;
  const sameYear = yearOf(now, zone) === year;
  return sameYear ? `${day} ${month} ${clock}` : `${day} ${month} ${year} ${clock}`;
};

/** `Mon 23 Nov 2026, 02:30:00 Europe/Berlin (GMT+1)`. */
export const fullTime = (at: Date, zone: string): string => {
  const { weekday, day, month, year } = partsOf(at, zone, 'date');
  const { timeZoneName } = partsOf(at, zone, 'zone');
  const offset = timeZoneName && timeZoneName !== zone ? ` (${timeZoneName})` : '';
  return `${weekday} ${day} ${month} ${year}, ${clockTime(at, zone, true)} ${zone}${offset}`;
};

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
