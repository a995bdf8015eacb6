import { Temporal } from 'temporal-polyfill';
import { int, pick, type Random } from './random.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

// Two slow definitions of what an expression means in a zone, to compare with the engine. They use nothing of the
// engine: one walks real time and reads a clock, one walks the calendar and looks up the instants of local times.

/** An expression with the sets that it means, created together, so that the oracle needs no parser. */
export interface Sample {
  text: string;
  sets: Set<number>[];
  /** Day of month and day of week must both match: one of the two fields begins with a star. */
  both: boolean;
}

const limits: [number, number, number][] = [
  [0, 59, 59],
  [0, 23, 23],
  [1, 31, 31],
  [1, 12, 12],
  [0, 7, 6],
];

const sampleItem = (random: Random, field: number, near: number[]): { text: string; values: number[] } => {
  const [min, max, last] = limits[field]!;
  const value = () => (near.length > 0 && random() < 0.7 ? pick(random, near) : int(random, min, max));
  const spell = (n: number) => (random() < 0.2 ? String(n).padStart(2, '0') : String(n));
  const range = (from: number, to: number, step: number) => {
    const values: number[] = [];
    for (let v = from; v <= to; v += step) values.push(v);
    return values;
  };
  const kind = random();
  if (kind < 0.3) {
    const n = value();
    return { text: spell(n), values: [n] };
  }
  const step = pick(
    random,
    [1, 2, 3, 5, 7, 10, 15, 30].filter((n) => n <= last - min + 1),
  );
  if (kind < 0.5) return { text: `*/${step}`, values: range(min, last, step) };
  const [a, b] = [value(), value()].sort((x, y) => x - y) as [number, number];
  if (kind < 0.75) return { text: `${spell(a)}-${spell(b)}`, values: range(a, b, 1) };
  return { text: `${spell(a)}-${spell(b)}/${step}`, values: range(a, b, step) };
};

export const sample = (random: Random, near: number[][]): Sample => {
  const wild = [0.15, 0.25, 0.7, 0.8, 0.7];
  const texts: string[] = [];
  const sets: Set<number>[] = [];
  for (let field = 0; field < 5; field++) {
    const [min, , last] = limits[field]!;
    const all = Array.from({ length: last - min + 1 }, (_, k) => min + k);
    if (random() < wild[field]!) {
      texts.push('*');
      sets.push(new Set(all));
      continue;
    }
    const items = Array.from({ length: pick(random, [1, 1, 1, 2, 3]) }, () =>
      sampleItem(random, field, near[field]!),
    );
    if (random() < 0.05) items.push({ text: '*', values: all });
    texts.push(items.map((item) => item.text).join(','));
    sets.push(new Set(items.flatMap((item) => item.values.map((v) => (field === 4 ? v % 7 : v)))));
  }
  const both = texts[2]!.startsWith('*') || texts[4]!.startsWith('*');
  return { text: texts.join(' '), sets, both };
};

/** A local time as the five fields see it. Read once for each row, because an oracle needs it for each expression. */
interface Fields {
  minute: number;
  hour: number;
  day: number;
  month: number;
  weekday: number;
}

const fieldsOf = (local: number): Fields => {
  const date = new Date(local);
  return {
    minute: date.getUTCMinutes(),
    hour: date.getUTCHours(),
    day: date.getUTCDate(),
    month: date.getUTCMonth() + 1,
    weekday: date.getUTCDay(),
  };
};

const matchesFields = ({ sets, both }: Sample, { minute, hour, day, month, weekday }: Fields): boolean => {
  if (!sets[0]!.has(minute) || !sets[1]!.has(hour) || !sets[3]!.has(month)) return false;
  const onDay = sets[2]!.has(day);
  const onWeekday = sets[4]!.has(weekday);
  return both ? onDay && onWeekday : onDay || onWeekday;
};

/** Returns whether a local time (as if it were UTC) matches, by the definition. */
export const matches = (expression: Sample, local: number): boolean =>
  matchesFields(expression, fieldsOf(local));
const isElapsed = ({ sets }: Sample) => sets[1]!.size === 24;

/** Findings of an oracle: instants with a note for each. */
export type Found = Map<number, { local: number; dst: 'gap' | 'overlap' | null }>;

/** First oracle: reads the clock at every step of real time. */
export const clockOracle = (clock: (at: number) => number, from: number, to: number, step: number) => {
  const rows: { at: number; local: number; fields: Fields }[] = [];
  for (let at = from; at < to; at += step) {
    const local = clock(at);
    rows.push({ at, local, fields: fieldsOf(local) });
  }
  const shown = new Map<number, number[]>();
  for (const { at, local } of rows) {
    if (local % MINUTE === 0) shown.set(local, [...(shown.get(local) ?? []), at]);
  }
  return (expression: Sample): Found => {
    const found: Found = new Map();
    const due = new Set<number>();
    rows.forEach(({ at, local, fields }, k) => {
      const before = rows[k - 1];
      const jump = before ? local - before.local - step : 0;
      if (!isElapsed(expression) && before && jump > 0 && jump <= 3 * HOUR) {
        for (let skipped = Math.ceil((local - jump) / MINUTE) * MINUTE; skipped < local; skipped += MINUTE) {
          if (shown.has(skipped) || due.has(skipped) || !matches(expression, skipped)) continue;
          due.add(skipped);
          found.set(at, { local, dst: 'gap' });
        }
      }
      if (local % MINUTE !== 0 || found.has(at) || !matchesFields(expression, fields)) return;
      const times = shown.get(local)!;
      if (isElapsed(expression) || times[0] === at)
        found.set(at, { local, dst: times.length > 1 ? 'overlap' : null });
    });
    return found;
  };
};

export const intlClock = (zone: string) => {
  const format = new Intl.DateTimeFormat('en-u-ca-iso8601', {
    timeZone: zone,
    hourCycle: 'h23',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
  });
  return (at: number): number => {
    const n: Record<string, number> = {};
    for (const part of format.formatToParts(at)) n[part.type] = Number(part.value);
    return Date.UTC(n.year!, n.month! - 1, n.day!, n.hour!, n.minute!, n.second!);
  };
};

/** Second oracle: looks up the instants of every local time on the calendar. */
export const calendarOracle = (zone: string, fromLocal: number, toLocal: number) => {
  const rows: {
    local: number;
    fields: Fields;
    at: number[];
    gap: { at: number; local: number; size: number } | null;
  }[] = [];
  for (let local = fromLocal; local < toLocal; local += MINUTE) {
    const fields = fieldsOf(local);
    const plain = Temporal.PlainDateTime.from(new Date(local).toISOString().slice(0, 19));
    const earlier = plain.toZonedDateTime(zone, { disambiguation: 'earlier' });
    const later = plain.toZonedDateTime(zone, { disambiguation: 'later' });
    if (earlier.toPlainDateTime().equals(plain)) {
      const at = [...new Set([earlier.epochMilliseconds, later.epochMilliseconds])];
      rows.push({ local, fields, at, gap: null });
    } else {
      const jump = earlier.getTimeZoneTransition('next')!;
      const size = (jump.offsetNanoseconds - earlier.offsetNanoseconds) / 1e6;
      const at = jump.epochMilliseconds;
      rows.push({ local, fields, at: [], gap: { at, local: at + jump.offsetNanoseconds / 1e6, size } });
    }
  }
  return (expression: Sample): Found => {
    const found: Found = new Map();
    for (const { local, fields, at, gap } of rows) {
      if (!matchesFields(expression, fields)) continue;
      const instants = isElapsed(expression) ? at : at.slice(0, 1);
      for (const instant of instants) {
        if (!found.has(instant)) found.set(instant, { local, dst: at.length > 1 ? 'overlap' : null });
      }
      if (gap && !isElapsed(expression) && gap.size <= 3 * HOUR) {
        found.set(gap.at, { local: gap.local, dst: 'gap' });
      }
    }
    return found;
  };
};
