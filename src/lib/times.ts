import { openZone, shownOffset, type Zone } from '@agent-platform/cron';

const weekdays = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

/** The zone of that name; UTC if its rules are not known any more. */
const zoneOrUtc = (name: string): Zone => {
  try {
    return openZone(name);
  } catch {
    return openZone('UTC');
  }
};

/** `02:58` of a local time in milliseconds as if it were UTC. */
export const localTime = (local: number): string => new Date(local).toISOString().slice(11, 16);

/** `Fri 20 Nov` of a local time, with its year unless that is `year`. */
export const localDate = (local: number, year: number): string => {
  const date = new Date(local);
  const shown = date.getUTCFullYear() === year ? '' : ` ${date.getUTCFullYear()}`;
  return `${weekdays[date.getUTCDay()]} ${date.getUTCDate()} ${months[date.getUTCMonth()]}${shown}`;
};

/** Writes times as the clocks of a zone show them, for sentences. Instants are milliseconds since 1970. */
export class LocalClock {
  readonly #zone: Zone;
  /** The instant by which a date needs no year. */
  readonly #now: number;

  constructor(timezone: string, now: number) {
    this.#zone = zoneOrUtc(timezone);
    this.#now = now;
  }

  /** The name of the zone. */
  get name(): string {
    return this.#zone.name;
  }

  #local(at: number): Date {
    return new Date(at + this.#zone.offsetAt(at));
  }

  /** `02:58`, with seconds if asked for, and with the offset if the clock shows that time twice. */
  time(at: number, seconds = false): string {
    const local = this.#local(at);
    const twice = this.#zone.instantsOf(local.getTime()).length > 1;
    const offset = twice ? ` (${shownOffset(this.#zone.offsetAt(at))})` : '';
    return local.toISOString().slice(11, seconds ? 19 : 16) + offset;
  }

  /** RFC 3339 with the zone's offset. */
  iso(at: number): string {
    return this.#zone.shownAt(at);
  }

  /** The present year. */
  get year(): number {
    return this.#local(this.#now).getUTCFullYear();
  }

  /** `Fri 20 Nov`, with the year if it is another than this one. */
  date(at: number): string {
    return localDate(this.#local(at).getTime(), this.year);
  }

  /** `Fri 20 Nov 02:58`. */
  moment(at: number): string {
    return `${this.date(at)} ${this.time(at)}`;
  }

  #isSameDay(one: number, other: number): boolean {
    return this.#local(one).toISOString().slice(0, 10) === this.#local(other).toISOString().slice(0, 10);
  }

  /** The time, with its date unless that is the one of `near`. */
  near(at: number, near: number): string {
    return this.#isSameDay(at, near) ? this.time(at) : this.moment(at);
  }

  /** `from 02:58 to 03:02`, with dates where they are not those of `near`, and with seconds within a minute. */
  span(from: number, to: number, near: number): string {
    const seconds = Math.floor(from / minute) === Math.floor(to / minute);
    const shown = (at: number, by: number) =>
      `${this.#isSameDay(at, by) ? '' : `${this.date(at)} `}${this.time(at, seconds)}`;
    return `from ${shown(from, near)} to ${shown(to, from)}`;
  }
}

const units = [
  [day, 'day', 'days'],
  [hour, 'h', 'h'],
  [minute, 'min', 'min'],
] as const;

/** A length of time in words: `0.4 s`, `41 s`, `4 min`, `1 h 12 min`, `3 days`. */
export const lengthOf = (milliseconds: number): string => {
  if (milliseconds < 10 * second) return `${Math.round(milliseconds / 100) / 10} s`;
  if (milliseconds < 2 * minute) return `${Math.round(milliseconds / second)} s`;
  const [size, one, many] = units.find(([length]) => milliseconds >= length)!;
  const n = Math.floor(milliseconds / size);
  const text = `${n} ${n === 1 ? one : many}`;
  if (size === minute) return text;
  const [smaller, , ofSmaller] = units[units.findIndex(([length]) => length === size) + 1]!;
  const rest = Math.floor((milliseconds % size) / smaller);
  return rest === 0 || n >= 3 ? text : `${text} ${rest} ${ofSmaller}`;
};

/** A whole number of seconds in the largest unit of which it is a whole number: `90 s`, `90 min`, `4 h`, `2 days`. */
export const wholeLengthOf = (seconds: number): string => {
  const milliseconds = seconds * second;
  const unit = units.find(([length]) => milliseconds >= length && milliseconds % length === 0);
  if (!unit) return `${seconds} s`;
  const [length, one, many] = unit;
  const n = milliseconds / length;
  return `${n} ${n === 1 ? one : many}`;
};

/** `02:31 UTC`, with the date unless that is the one of `now`: `02:31 UTC on Fri 20 Nov`. */
export const utcTime = (at: Date, now: Date): string => {
  const time = `${localTime(at.getTime())} UTC`;
  if (at.toISOString().slice(0, 10) === now.toISOString().slice(0, 10)) return time;
  return `${time} on ${localDate(at.getTime(), now.getUTCFullYear())}`;
};
