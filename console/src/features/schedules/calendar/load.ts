import type { Timeline, TimelineBucket } from '../../../api/types.gen.ts';
import { clockTime, dayOf } from '../../../time/index.ts';
import { offsetAt } from '../../../ui/index.ts';

const hour = 3_600_000;
const day = 24 * hour;

/** The moment at which a day (`2026-11-22`) begins in a zone. */
const startOf = (name: string, zone: string): number => {
  const wall = Date.parse(`${name}T00:00:00Z`);
  return wall - offsetAt(wall - offsetAt(wall, zone), zone);
};

export interface Week {
  from: number;
  to: number;
  /** `2026-11-23` and so on. */
  days: readonly string[];
}

export const weekOf = (at: number, zone: string): Week => {
  const noon = Date.parse(`${dayOf(new Date(at), zone)}T12:00:00Z`);
  const monday = noon - ((new Date(noon).getUTCDay() + 6) % 7) * day;
  const names = Array.from({ length: 8 }, (_, k) => new Date(monday + k * day).toISOString().slice(0, 10));
  return { from: startOf(names[0]!, zone), to: startOf(names[7]!, zone), days: names.slice(0, 7) };
};

export interface Cell {
  from: number;
  to: number;
  total: number;
  /** The number of skipped and missing ones. */
  bad: number;
  /** The clock shows this hour twice. */
  twice: boolean;
}

/** The key of an hour: its day and its hour on the clock. */
export const cellKey = (dayName: string, hourOfDay: number): string => `${dayName} ${hourOfDay}`;

const totalOf = ({ t: _, events: _events, ...counts }: TimelineBucket): number =>
  Object.values(counts).reduce((sum, count) => sum + count, 0);

const sumOf = ({ data, from, to, bucket_ms }: Timeline): { at: number; total: number; bad: number }[] => {
  const begin = Date.parse(from);
  const parts = Array.from({ length: Math.ceil((Date.parse(to) - begin) / bucket_ms) }, (_, k) => ({
    at: begin + k * bucket_ms,
    total: 0,
    bad: 0,
  }));
  for (const bucket of data.flatMap(({ buckets }) => buckets)) {
    const part = parts[Math.round((Date.parse(bucket.t) - begin) / bucket_ms)];
    if (!part) continue;
    part.total += totalOf(bucket);
    part.bad += bucket.skipped + bucket.missing;
  }
  return parts;
};

/** The hours of the calendar by their keys. An hour that the clock leaves out is absent. */
export const cellsOf = (timeline: Timeline, zone: string): Map<string, Cell> => {
  const cells = new Map<string, Cell>();
  for (const { at, total, bad } of sumOf(timeline)) {
    const date = new Date(at);
    const key = cellKey(dayOf(date, zone), Number(clockTime(date, zone).slice(0, 2)));
    const before = cells.get(key);
    cells.set(key, {
      from: before?.from ?? at,
      to: at + timeline.bucket_ms,
      total: total + (before?.total ?? 0),
      bad: bad + (before?.bad ?? 0),
      twice: before !== undefined,
    });
  }
  return cells;
};

/** The hour with the most occurrences, the longest time without any, and the most in one hour. */
export const extremesOf = (timeline: Timeline) => {
  const parts = sumOf(timeline);
  const busiest = parts.reduce((most, part) => (part.total > most.total ? part : most), parts[0]!);
  let quiet = { at: 0, hours: 0 };
  let run = { at: 0, hours: 0 };
  for (const { at, total } of parts) {
    run = total > 0 ? { at: 0, hours: 0 } : { at: run.hours === 0 ? at : run.at, hours: run.hours + 1 };
    if (run.hours > quiet.hours) quiet = run;
  }
  return { busiest, quiet };
};

/** The minute with the most occurrences of an hour that is divided into minutes. */
export const collisionOf = (timeline: Timeline): { at: number; count: number } => {
  const { at, total } = sumOf(timeline).reduce((most, part) => (part.total > most.total ? part : most));
  return { at, count: total };
};
