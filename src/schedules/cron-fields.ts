/** One of the five fields: what its values are and how they may be written. */
export interface Field {
  readonly name: string;
  readonly min: number;
  /** The greatest number that may be written. */
  readonly max: number;
  /** The last value of `*`; not `max` in day of week, where 0 and 7 are both Sunday. */
  readonly last: number;
  /** How many values it has, and so its greatest step. */
  readonly size: number;
  readonly names: readonly string[];
  /** Every accepted spelling of a value (one or two digits, names in capitals) with the value. */
  readonly spellings: ReadonlyMap<string, number>;
}

const field = (name: string, min: number, max: number, names: readonly string[] = []): Field => {
  const spellings = new Map<string, number>();
  for (let value = min; value <= max; value++) {
    spellings.set(String(value), value);
    spellings.set(String(value).padStart(2, '0'), value);
  }
  names.forEach((spelling, index) => {
    spellings.set(spelling, min + index);
  });
  const last = names.length === 7 ? max - 1 : max;
  return { name, min, max, last, size: last - min + 1, names, spellings };
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

/** The value that `text` spells in `field`, names in any case. */
export const readValue = (text: string, field: Field): number | undefined =>
  field.spellings.get(text) ?? (text.length === 3 ? field.spellings.get(text.toUpperCase()) : undefined);

/** The step that `text` spells, from 1 to the number of the field's values. */
export const readStep = (text: string, field: Field): number | undefined => {
  if (!/^[0-9]{1,2}$/.test(text)) return undefined;
  const step = Number(text);
  return step >= 1 && step <= field.size ? step : undefined;
};
