import { type Field, fields, readStep, readValue } from './fields.ts';
import { maxLength, type RefusedItem, refusal } from './refusals.ts';

/** An expression is refused: the message tells the client why, and what to write instead. */
export class CronError extends Error {
  override readonly name = 'CronError';
  /** The item that its field does not accept; null if the fault is elsewhere. */
  readonly at: RefusedItem | null;

  constructor(message: string, at: RefusedItem | null = null) {
    super(message);
    this.at = at;
  }
}

/** An expression as bit sets. */
export interface Cron {
  /** Bit m is minute m, for minutes 0 to 31. */
  readonly minutesLow: number;
  /** Bit m is minute 32 + m. */
  readonly minutesHigh: number;
  /** Bit h is hour h. */
  readonly hours: number;
  /** Bit d is day d + 1 of the month. */
  readonly days: number;
  /** Bit m is month m + 1. */
  readonly months: number;
  /** Bit w is day w of the week; Sunday is 0. */
  readonly weekdays: number;
  /**
   * True if a day must be in both `days` and `weekdays`, because one of those fields begins with `*`; else either will
   * do.
   */
  readonly bothDays: boolean;
}

// Blanks and other characters exclude each other, so the match takes linear time on any text. Only printable ASCII: in
// upper case U+0131 is I and U+017F is S, which would turn other words into names.
const fiveFields = /^[ \t]*([!-~]+)[ \t]+([!-~]+)[ \t]+([!-~]+)[ \t]+([!-~]+)[ \t]+([!-~]+)[ \t]*$/;

/** A set of values 0 to 63 in two integers. */
interface Bits {
  low: number;
  high: number;
}

/** Bits 0 to n - 1. */
const lowest = (n: number): number => (n >= 32 ? -1 : n <= 0 ? 0 : (1 << n) - 1);

/** Adds the values of `item` to `into`. Returns false if the grammar does not have it. */
const addItem = (item: string, field: Field, into: Bits): boolean => {
  const slash = item.indexOf('/');
  const end = slash < 0 ? item.length : slash;
  const dash = item.indexOf('-');
  let first: number | undefined;
  let last: number | undefined;
  if (end === 1 && item.charCodeAt(0) === 42) {
    first = field.min;
    last = field.last;
  } else if (dash < 0) {
    if (slash >= 0) return false;
    first = readValue(item, field);
    last = first;
  } else {
    first = readValue(item, field, 0, dash);
    last = readValue(item, field, dash + 1, end);
  }
  const step = slash < 0 ? 1 : readStep(item, field, slash + 1);
  if (first === undefined || last === undefined || step === undefined || first > last) return false;
  if (step === 1) {
    into.low |= lowest(last + 1) & ~lowest(first);
    into.high |= lowest(last - 31) & ~lowest(first - 32);
  } else {
    for (let value = first; value <= last; value += step) {
      if (value < 32) into.low |= 1 << value;
      else into.high |= 1 << (value - 32);
    }
  }
  return true;
};

/**
 * Returns the bit sets of `expression`, the item at which parsing stopped, or null if it is not five words of ASCII.
 */
const parse = (expression: string): Cron | RefusedItem | null => {
  const found = expression.length <= maxLength ? fiveFields.exec(expression) : null;
  if (found === null) return null;
  const sets: Bits[] = [];
  for (let k = 0; k < fields.length; k++) {
    const text = found[k + 1]!;
    const bits: Bits = { low: 0, high: 0 };
    for (const item of text.includes(',') ? text.split(',') : [text]) {
      if (!addItem(item, fields[k]!, bits)) return { item, field: fields[k]!, text };
    }
    sets.push(bits);
  }
  const [minutes, hours, days, months, weekdays] = sets as [Bits, Bits, Bits, Bits, Bits];
  return {
    minutesLow: minutes.low,
    minutesHigh: minutes.high,
    hours: hours.low,
    days: days.low >>> 1,
    months: months.low >>> 1,
    weekdays: (weekdays.low & 127) | (weekdays.low >>> 7),
    bothDays: found[3]!.startsWith('*') || found[5]!.startsWith('*'),
  };
};

const isCron = (parsed: Cron | RefusedItem | null): parsed is Cron => parsed !== null && 'hours' in parsed;

/**
 * Parses five fields of ASCII with spaces or tabs between them: lists of `*`, numbers of one or two digits, ranges and
 * steps, names of months and days, Sunday as 0 and 7. Takes linear time on any text.
 *
 * @throws CronError saying why the expression is refused and what to write instead
 */
export const parseCron = (expression: string): Cron => {
  const parsed = parse(expression);
  if (isCron(parsed)) return parsed;
  throw new CronError(
    refusal(expression, (other) => isCron(parse(other)), parsed),
    parsed,
  );
};
