import type { Cron } from './cron.ts';

// Local times are integers: minutes since local midnight of 1 January 1968. The tables begin a year before the first
// occurrence and end a year after the last one, so that no local time of a zone is outside them.
const firstYear = 1968;
const monthCount = (2101 - firstYear + 1) * 12;

/** 1 January 1968, 00:00 UTC, in milliseconds since 1970: local minute 0 of a zone at UTC. */
export const localOrigin = Date.UTC(firstYear, 0, 1);

/** Greater than every local minute. */
const never = 0x7fff_ffff;

const minutesPerDay = 1_440;

/** For each month since January 1968: its first day, the weekday of that, and a bit for each of its days. */
const firstDay = new Int32Array(monthCount + 1);
const firstWeekday = new Uint8Array(monthCount);
const lengthMask = new Int32Array(monthCount);
for (let month = 0; month <= monthCount; month++) {
  const start = Date.UTC(firstYear, month, 1);
  firstDay[month] = (start - localOrigin) / 86_400_000;
  if (month === monthCount) break;
  firstWeekday[month] = new Date(start).getUTCDay();
  lengthMask[month] = 2 ** new Date(Date.UTC(firstYear, month + 1, 0)).getUTCDate() - 1;
}
const monthOfDay = new Uint16Array(firstDay[monthCount]!);
for (let month = 0; month < monthCount; month++) monthOfDay.fill(month, firstDay[month], firstDay[month + 1]);

const lowest = (bits: number): number => 31 - Math.clz32(bits & -bits);
const highest = (bits: number): number => 31 - Math.clz32(bits);
/** Bits 0 to n. */
const upTo = (n: number): number => (2 << n) - 1;

const count = (bits: number): number => {
  let b = bits - ((bits >>> 1) & 0x5555_5555);
  b = (b & 0x3333_3333) + ((b >>> 2) & 0x3333_3333);
  return Math.imul((b + (b >>> 4)) & 0x0f0f_0f0f, 0x0101_0101) >>> 24;
};

/** The local minutes that an expression matches, on a calendar without time zones. No method allocates. */
export class LocalTimes {
  private readonly minutesLow: number;
  private readonly minutesHigh: number;
  private readonly firstMinute: number;
  private readonly lastMinute: number;
  private readonly hours: number;
  private readonly months: number;
  /** The days that match in a month of 31 days, by the weekday of its first day. */
  private readonly daysByFirstWeekday: Int32Array;
  private readonly perHour: number;
  private readonly perDay: number;

  constructor(cron: Cron) {
    this.minutesLow = cron.minutesLow;
    this.minutesHigh = cron.minutesHigh;
    this.firstMinute = cron.minutesLow !== 0 ? lowest(cron.minutesLow) : 32 + lowest(cron.minutesHigh);
    this.lastMinute = cron.minutesHigh !== 0 ? 32 + highest(cron.minutesHigh) : highest(cron.minutesLow);
    this.hours = cron.hours;
    this.months = cron.months;
    this.daysByFirstWeekday = new Int32Array(7);
    for (let weekday = 0; weekday < 7; weekday++) {
      const week = ((cron.weekdays >>> weekday) | (cron.weekdays << (7 - weekday))) & 127;
      const inWeek = week | (week << 7) | (week << 14) | (week << 21) | (week << 28);
      this.daysByFirstWeekday[weekday] = cron.bothDays ? cron.days & inWeek : cron.days | inWeek;
    }
    this.perHour = count(cron.minutesLow) + count(cron.minutesHigh);
    this.perDay = count(cron.hours) * this.perHour;
  }

  /** The days of `month` that match, as bits; none if the month does not match. */
  private daysOf(month: number): number {
    if (((this.months >>> (month % 12)) & 1) === 0) return 0;
    return this.daysByFirstWeekday[firstWeekday[month]!]! & lengthMask[month]!;
  }

  /** The first month after `month` that matches. */
  private monthAfter(month: number): number {
    const later = (this.months >>> (month % 12)) >>> 1;
    if (later !== 0) return month + 1 + lowest(later);
    return month + 12 - (month % 12) + lowest(this.months);
  }

  /** The last month before `month` that matches; negative if the calendar has none. */
  private monthBefore(month: number): number {
    const earlier = this.months & ((1 << (month % 12)) - 1);
    if (earlier !== 0) return month - (month % 12) + highest(earlier);
    return month - (month % 12) - 12 + highest(this.months);
  }

  /** The first match at or after `from`, or `never`. */
  next(from: number): number {
    const day = (from / minutesPerDay) | 0;
    let month = monthOfDay[day]!;
    const today = day - firstDay[month]!;
    let days = this.daysOf(month) >>> today;
    if ((days & 1) !== 0) {
      const ofDay = from - day * minutesPerDay;
      const hour = (ofDay / 60) | 0;
      const hours = this.hours >>> hour;
      if ((hours & 1) !== 0) {
        const minute = ofDay - hour * 60;
        const low = minute < 32 ? (this.minutesLow >>> minute) << minute : 0;
        if (low !== 0) return from - minute + lowest(low);
        const high = minute < 32 ? this.minutesHigh : (this.minutesHigh >>> (minute - 32)) << (minute - 32);
        if (high !== 0) return from - minute + 32 + lowest(high);
      }
      const later = hours >>> 1;
      if (later !== 0) return day * minutesPerDay + (hour + 1 + lowest(later)) * 60 + this.firstMinute;
    }
    days = days >>> 1;
    if (days !== 0) return this.startOf(day + 1 + lowest(days));
    for (month = this.monthAfter(month); month < monthCount; month = this.monthAfter(month)) {
      days = this.daysOf(month);
      if (days !== 0) return this.startOf(firstDay[month]! + lowest(days));
    }
    return never;
  }

  /** The last match at or before `from`, or -1. */
  previous(from: number): number {
    const day = (from / minutesPerDay) | 0;
    let month = monthOfDay[day]!;
    const today = day - firstDay[month]!;
    let days = this.daysOf(month) & upTo(today);
    if (((days >>> today) & 1) !== 0) {
      const ofDay = from - day * minutesPerDay;
      const hour = (ofDay / 60) | 0;
      if (((this.hours >>> hour) & 1) !== 0) {
        const minute = ofDay - hour * 60;
        const high = minute < 32 ? 0 : this.minutesHigh & upTo(minute - 32);
        if (high !== 0) return from - minute + 32 + highest(high);
        const low = minute < 32 ? this.minutesLow & upTo(minute) : this.minutesLow;
        if (low !== 0) return from - minute + highest(low);
      }
      const earlier = this.hours & ((1 << hour) - 1);
      if (earlier !== 0) return day * minutesPerDay + highest(earlier) * 60 + this.lastMinute;
    }
    days &= (1 << today) - 1;
    if (days !== 0) return this.endOf(firstDay[month]! + highest(days));
    for (month = this.monthBefore(month); month >= 0; month = this.monthBefore(month)) {
      days = this.daysOf(month);
      if (days !== 0) return this.endOf(firstDay[month]! + highest(days));
    }
    return -1;
  }

  /** The first match of a day that matches. */
  private startOf(day: number): number {
    return day * minutesPerDay + lowest(this.hours) * 60 + this.firstMinute;
  }

  /** The last match of a day that matches. */
  private endOf(day: number): number {
    return day * minutesPerDay + highest(this.hours) * 60 + this.lastMinute;
  }

  /** Counts the local minutes that match from `from` up to and excluding `to`. */
  count(from: number, to: number): number {
    if (from >= to) return 0;
    const first = (from / minutesPerDay) | 0;
    const last = (to / minutesPerDay) | 0;
    return (
      this.countDays(first, last) * this.perDay + this.countOfDay(to, last) - this.countOfDay(from, first)
    );
  }

  /** Number of days that match from `first` up to and excluding `last`. */
  private countDays(first: number, last: number): number {
    const firstMonth = monthOfDay[first]!;
    const lastMonth = monthOfDay[last]!;
    const before = count(this.daysOf(firstMonth) & ((1 << (first - firstDay[firstMonth]!)) - 1));
    let total = count(this.daysOf(lastMonth) & ((1 << (last - firstDay[lastMonth]!)) - 1)) - before;
    for (let month = firstMonth; month < lastMonth; month++) total += count(this.daysOf(month));
    return total;
  }

  /** Counts the minutes of `day` that match before `until`, which lies in it. */
  private countOfDay(until: number, day: number): number {
    const month = monthOfDay[day]!;
    if (((this.daysOf(month) >>> (day - firstDay[month]!)) & 1) === 0) return 0;
    const ofDay = until - day * minutesPerDay;
    const hour = (ofDay / 60) | 0;
    const minute = ofDay - hour * 60;
    let total = count(this.hours & ((1 << hour) - 1)) * this.perHour;
    if (((this.hours >>> hour) & 1) !== 0) {
      if (minute < 32) total += count(this.minutesLow & ((1 << minute) - 1));
      else total += count(this.minutesLow) + count(this.minutesHigh & ((1 << (minute - 32)) - 1));
    }
    return total;
  }
}
