import type { Constant, Interval } from './tree.ts';
import { isTemporal, type Type } from './types.ts';

/** Text, bound. */
export const textConstant = (value: string): Constant => ({
  kind: 'constant',
  type: 'String',
  value,
  bound: true,
});

export const nullConstant: Constant = { kind: 'constant', type: 'Null', value: null, bound: false };

export const booleanConstant = (value: boolean, bound = false): Constant => ({
  kind: 'constant',
  type: 'Boolean',
  value,
  bound,
});

/** Powers of ten that a literal may have: beyond them a number is a mistake or an attack. */
const mostExponent = 40;

/** A decimal number without exponent: `1.5e3` is `1500`. Null if `text` is no number. */
const plainDigits = (text: string): string | null => {
  const parts = /^([+-]?)(\d{0,400})(?:\.(\d{0,400}))?(?:e([+-]?\d{1,3}))?$/i.exec(text);
  if (!parts) return null;
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = parts;
  if (whole + fraction === '') return null;
  const power = Number(exponent);
  if (Math.abs(power) > mostExponent) return null;
  const digits = (whole + fraction).padEnd(whole.length + power, '0');
  const point = whole.length + power;
  const [left, right] =
    point > 0 ? [digits.slice(0, point), digits.slice(point)] : ['', '0'.repeat(-point) + digits];
  const number = `${left.replace(/^0+(?=\d)/, '') || '0'}${right === '' ? '' : `.${right}`}`;
  return sign === '-' ? `-${number}` : number;
};

/**
 * A number: an Integer up to 18 digits, else a Decimal. Null if `text` is none, or has an exponent beyond 40.
 */
export const numberConstant = (text: string, bound = false): Constant | null => {
  const value = plainDigits(text.trim());
  if (value === null) return null;
  const type = /^-?\d{1,18}$/.test(value) && !/[.e]/i.test(text) ? 'Integer' : 'Decimal';
  return { kind: 'constant', type, value, bound };
};

const isoDate = /^(\d{4})-(\d{2})-(\d{2})/;
const isoTime = /^(\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?/;
const isoZone = /^ ?(Z|UTC|[+-]\d{2}(?::?\d{2})?)$/i;

const two = (n: number): string => String(n).padStart(2, '0');

interface Moment {
  date: string;
  /** HH:MM:SS[.ffffff], 00:00:00 if the text had none. */
  time: string;
  /** Minutes east of UTC; null if the text had no zone. */
  offset: number | null;
}

const readTime = (text: string): { time: string; rest: string } | null => {
  const found = isoTime.exec(text);
  if (!found) return null;
  const [whole, hours, minutes, seconds = '00', fraction = ''] = found;
  if (Number(hours) > 23 || Number(minutes) > 59 || Number(seconds) > 59) return null;
  const digits = fraction.slice(0, 6).replace(/0+$/, '');
  return {
    time: `${hours}:${minutes}:${seconds}${digits === '' ? '' : `.${digits}`}`,
    rest: text.slice(whole.length),
  };
};

const readMoment = (text: string): Moment | null => {
  const found = isoDate.exec(text);
  if (!found) return null;
  const [date, year, month, day] = found;
  const real = new Date(`${date}T00:00:00Z`);
  if (Number(year) === 0 || Number.isNaN(real.getTime())) return null;
  // JavaScript takes 2026-02-30 as the second of March.
  if (real.getUTCMonth() + 1 !== Number(month) || real.getUTCDate() !== Number(day)) return null;
  const rest = text.slice(date.length);
  if (rest === '') return { date, time: '00:00:00', offset: null };
  if (!/^[ T]/i.test(rest)) return null;
  const clock = readTime(rest.slice(1));
  if (!clock) return null;
  if (clock.rest === '') return { date, time: clock.time, offset: null };
  const zone = isoZone.exec(clock.rest)?.[1]?.toUpperCase();
  if (!zone) return null;
  if (zone === 'Z' || zone === 'UTC') return { date, time: clock.time, offset: 0 };
  const hours = Number(zone.slice(1, 3));
  const minutes = Number(zone.slice(3).replace(':', '') || '0');
  if (hours > 15 || minutes > 59) return null;
  return { date, time: clock.time, offset: (zone.startsWith('-') ? -1 : 1) * (hours * 60 + minutes) };
};

const inUtc = ({ date, time, offset }: Moment): string => {
  const fraction = time.slice(8);
  const utc = new Date(Date.parse(`${date}T${time.slice(0, 8)}Z`) - (offset ?? 0) * 60_000);
  const day = `${String(utc.getUTCFullYear()).padStart(4, '0')}-${two(utc.getUTCMonth() + 1)}-${two(utc.getUTCDate())}`;
  return `${day} ${two(utc.getUTCHours())}:${two(utc.getUTCMinutes())}:${two(utc.getUTCSeconds())}${fraction}`;
};

/**
 * ISO text as a value of `type` (Date, Time, DateTime or DateTimeTz), bound; null if it is none. A zone is applied, not
 * dropped: a DateTime is in UTC. As a Date the day counts as it is written.
 */
export const temporalConstant = (text: string, type: Type): Constant | null => {
  const trimmed = text.trim();
  if (type === 'Time') {
    const clock = readTime(trimmed);
    if (clock?.rest !== '') return null;
    return { kind: 'constant', type, value: clock.time, bound: true };
  }
  if (!isTemporal(type)) return null;
  const moment = readMoment(trimmed);
  if (!moment) return null;
  const value = type === 'Date' ? moment.date : inUtc(moment);
  return { kind: 'constant', type: type as 'Date', value, bound: true };
};

const truths: Record<string, boolean> = {
  true: true,
  t: true,
  yes: true,
  y: true,
  on: true,
  '1': true,
  false: false,
  f: false,
  no: false,
  n: false,
  off: false,
  '0': false,
};

/** Text as a value of `type`, as PostgreSQL reads a quoted constant next to a value of that type; null if it is none. */
export const constantOf = (text: string, type: Type): Constant | null => {
  if (type === 'String') return textConstant(text);
  if (type === 'Boolean') {
    const value = truths[text.trim().toLowerCase()];
    return value === undefined ? null : booleanConstant(value, true);
  }
  if (type === 'Integer' || type === 'Decimal' || type === 'Float') {
    const number = numberConstant(text, true);
    if (number === null || (type === 'Integer' && number.type !== 'Integer')) return null;
    return { ...number, type };
  }
  return temporalConstant(text, type);
};

const intervalUnits: Record<string, Partial<Omit<Interval, 'kind'>>> = {
  year: { months: 12 },
  yr: { months: 12 },
  month: { months: 1 },
  mon: { months: 1 },
  week: { days: 7 },
  day: { days: 1 },
  hour: { seconds: 3_600 },
  hr: { seconds: 3_600 },
  minute: { seconds: 60 },
  min: { seconds: 60 },
  second: { seconds: 1 },
  sec: { seconds: 1 },
};

/**
 * `1 day`, `2 months 3 hours`, `-1 year`, `02:30:00`; `unit` stands for a number without one (`interval '1' month`).
 * Whole numbers only; null if it is nothing of the kind.
 */
export const intervalOf = (text: string, unit: string | null = null): Interval | null => {
  const interval: Interval = { kind: 'interval', months: 0, days: 0, seconds: 0 };
  const add = (count: number, name: string): boolean => {
    const of = Object.hasOwn(intervalUnits, name) ? intervalUnits[name]! : null;
    if (!of) return false;
    interval.months += count * (of.months ?? 0);
    interval.days += count * (of.days ?? 0);
    interval.seconds += count * (of.seconds ?? 0);
    return true;
  };
  let rest = text.trim().toLowerCase();
  if (unit !== null) return /^[+-]?\d{1,7}$/.test(rest) && add(Number(rest), unit) ? interval : null;
  if (rest === '') return null;
  while (rest !== '') {
    const clock = /^([+-]?)(\d{1,2}):(\d{2})(?::(\d{2}))?(?:\s+|$)/.exec(rest);
    const pair = /^([+-]?\d{1,7})\s*([a-z]+?)s?(?:\s+|$)/.exec(rest);
    if (clock) {
      const seconds = Number(clock[2]) * 3_600 + Number(clock[3]) * 60 + Number(clock[4] ?? 0);
      interval.seconds += clock[1] === '-' ? -seconds : seconds;
    } else if (!pair || !add(Number(pair[1]), pair[2]!)) return null;
    rest = rest.slice((clock ?? pair)![0].length);
  }
  return interval;
};
