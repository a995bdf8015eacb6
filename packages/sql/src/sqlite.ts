import type { DatabaseSync, SQLOutputValue } from 'node:sqlite';

/**
 * Functions that SQLite lacks, for the SQL that is printed for it. Each call costs about 0.3 µs. A schema cannot use
 * them: they are not its own, and `trusted_schema` is off.
 */

/** A number of a column that holds dates is out of their range. */
export class NoDateError extends RangeError {
  override readonly name = 'NoDateError';

  constructor() {
    super('A number is no date.');
  }
}

type Argument = SQLOutputValue;

/** SQLite stores a decimal as a double, which has 15 digits of it for certain. */
const digits = 15;

/** Below this, a number with 6 digits after the point is a safe integer when it is multiplied by a million. */
const mostShort = 9e9;

/**
 * The double that is nearest to the decimal that was meant: 0.1 + 0.2 is 0.3. What has up to 6 digits after the point is
 * found without printing it, which takes ten times as long.
 */
const toDecimal = (value: Argument): Argument => {
  if (typeof value !== 'number' || Number.isInteger(value) || !Number.isFinite(value)) return value;
  if (Math.abs(value) < mostShort) {
    const short = Math.round(value * 1e6) / 1e6;
    if (Math.abs(short - value) <= Math.abs(value) * 4e-16) return short;
  }
  return Number(value.toPrecision(digits));
};

/** A decimal as a whole number of the unit that is ten to the power `-places`. */
interface Scaled {
  whole: bigint;
  places: number;
}

const scaled = (value: bigint | number): Scaled => {
  if (typeof value === 'bigint') return { whole: value, places: 0 };
  const [mantissa = '0', exponent] = value.toExponential(digits - 1).split('e');
  return { whole: BigInt(mantissa.replace('.', '')), places: digits - 1 - Number(exponent) };
};

const atPlaces = ({ whole, places }: Scaled, wanted: number): bigint =>
  whole * 10n ** BigInt(wanted - places);

/** A number, which a column may hold as text; null for all else. */
const numberOf = (value: Argument): bigint | number | null => {
  if (typeof value === 'bigint') return value;
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : null;
};

const inDouble = (whole: bigint, places: number): number => Number(`${whole}e${-places}`);

/** To `places` after the point, or before it if they are negative. `half`: what is added to a unit of 2 before the cut. */
const toPlaces =
  (half: 0n | 1n) =>
  (given: Argument, places: Argument): Argument => {
    const value = numberOf(given);
    if (value === null) return null;
    const wanted = Number(places);
    const found = scaled(value);
    if (found.places <= wanted) return value;
    const unit = 10n ** BigInt(found.places - wanted);
    const sign = found.whole < 0n ? -1n : 1n;
    const whole = sign * ((2n * sign * found.whole + half * unit) / (2n * unit));
    return typeof value === 'bigint' ? whole * 10n ** BigInt(-wanted) : inDouble(whole, wanted);
  };

/** The remainder, with the sign of what is divided; NULL by zero. */
const remainder = (given: Argument, givenBy: Argument): Argument => {
  const [value, by] = [numberOf(given), numberOf(givenBy)];
  if (value === null || by === null || Number(by) === 0) return null;
  const [a, b] = [scaled(value), scaled(by)];
  const places = Math.max(a.places, b.places);
  return inDouble(atPlaces(a, places) % atPlaces(b, places), places);
};

const ascii = /^[\0-\x7f]*$/;

/** In the other case character by character, as PostgreSQL does it: a letter stays if it would become two. */
const inCase = (value: Argument, change: (text: string) => string): Argument => {
  if (value === null || value instanceof Uint8Array) return null;
  const text = String(value);
  if (ascii.test(text)) return change(text);
  return Array.from(text, (letter) => {
    const changed = change(letter);
    return [...changed].length === 1 ? changed : letter;
  }).join('');
};

/** The last second of the year 9999, and the first of the year 1, since 1970. */
const lastSecond = 253_402_300_799;
const firstSecond = -62_135_596_800;

/** Days of Julius Scaliger's count at the first moment of 1970, and those at the end of the year 9999. */
const julianEpoch = 2_440_587.5;
const lastJulian = 5_373_484.5;

const ofSeconds = (seconds: number): string => {
  if (!(seconds >= firstSecond && seconds <= lastSecond)) throw new NoDateError();
  return new Date(Math.round(seconds * 1_000)).toISOString();
};

const daysIn = (year: number, month: number): number => new Date(Date.UTC(year, month, 0)).getUTCDate();

const day = /^(\d{4})-(\d\d)-(\d\d)/;
const clock = /^\d\d:\d\d/;

/**
 * A value of a column that holds dates, as ISO text: SQLite's documentation has text, whole numbers as seconds since
 * 1970 and other numbers as Julian days. Text that is no date, or a day that does not exist, is NULL: SQLite would take
 * `now` and `2460000` for dates, and 30 February for 1 March.
 */
const toMoment = (value: Argument): Argument => {
  if (typeof value === 'bigint') return ofSeconds(Number(value));
  if (typeof value === 'number')
    return ofSeconds(value >= 0 && value < lastJulian ? (value - julianEpoch) * 86_400 : value);
  if (typeof value !== 'string') return null;
  const found = day.exec(value);
  if (!found) return null;
  const [, year, month, date] = found.map(Number) as [number, number, number, number];
  return date <= 28 || (month <= 12 && date <= daysIn(year, month)) ? value : null;
};

const functions: Record<string, (...args: Argument[]) => Argument> = {
  to_decimal: (value) => toDecimal(value!),
  decimal_mod: (value, by) => remainder(value!, by!),
  decimal_round: (value, places) => toPlaces(1n)(value!, places!),
  decimal_trunc: (value, places) => toPlaces(0n)(value!, places!),
  unicode_lower: (value) => inCase(value!, (text) => text.toLowerCase()),
  unicode_upper: (value) => inCase(value!, (text) => text.toUpperCase()),
  to_moment: (value) => toMoment(value!),
  to_clock: (value) => (typeof value === 'string' && clock.test(value) ? value : toMoment(value!)),
};

/** Adds them to a connection. A statement that calls one may throw a NoDateError. */
export const addFunctions = (database: DatabaseSync): void => {
  for (const [name, called] of Object.entries(functions)) {
    const options = { deterministic: true, directOnly: true, useBigIntArguments: true };
    // SQLite takes the number of arguments from the length of the function.
    const one = (value: Argument) => called(value);
    const two = (value: Argument, other: Argument) => called(value, other);
    database.function(name, options, called.length === 2 ? two : one);
  }
};
