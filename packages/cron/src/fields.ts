/** One of the five fields: its values, and how they may be written. */
export interface Field {
  readonly name: string;
  readonly min: number;
  /** The greatest number that may be written. */
  readonly max: number;
  /** The last value of `*`: not `max` in the day of week, in which 0 and 7 are both Sunday. */
  readonly last: number;
  /** Number of values that it has, which is also its greatest step. */
  readonly size: number;
  readonly names: readonly string[];
  /** The value of each name; names in upper case. */
  readonly named: ReadonlyMap<string, number>;
}

const field = (name: string, min: number, max: number, names: readonly string[] = []): Field => {
  const last = names.length === 7 ? max - 1 : max;
  const named = new Map(names.map((spelling, index) => [spelling, min + index]));
  return { name, min, max, last, size: last - min + 1, names, named };
};

const monthNames = ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC'];
const dayNames = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT'];

/** In the order in which they are written. */
export const fields = [
  field('minute', 0, 59),
  field('hour', 0, 23),
  field('day of month', 1, 31),
  field('month', 1, 12, monthNames),
  field('day of week', 0, 7, dayNames),
] as const;

/** The number of one or two digits in `text` from `from` to `to`, or -1. */
const readNumber = (text: string, from: number, to: number): number => {
  const ones = text.charCodeAt(to - 1) - 48;
  if (!(ones >= 0 && ones <= 9)) return -1;
  if (to - from === 1) return ones;
  const tens = text.charCodeAt(from) - 48;
  return to - from === 2 && tens >= 0 && tens <= 9 ? tens * 10 + ones : -1;
};

/** The value of `field` in `text` from `from` to `to`, names in any case; undefined if there is none. */
export const readValue = (text: string, field: Field, from = 0, to = text.length): number | undefined => {
  if (to - from === 3) return field.named.get(text.slice(from, to).toUpperCase());
  const value = to > from ? readNumber(text, from, to) : -1;
  return value >= field.min && value <= field.max ? value : undefined;
};

/** The step, from 1 to the number of the field's values, in `text` from `from`; undefined if there is none. */
export const readStep = (text: string, field: Field, from = 0): number | undefined => {
  const step = text.length > from ? readNumber(text, from, text.length) : -1;
  return step >= 1 && step <= field.size ? step : undefined;
};
