import cronstrue from 'cronstrue';
import { type Cron, parseCron } from './cron.ts';
import { fields } from './fields.ts';
import { compileSchedule, type Explanation } from './occurrences.ts';

/** A coming occurrence: `at` in UTC (RFC 3339 with milliseconds), and how it appears in its zone. */
interface PreviewedOccurrence extends Explanation {
  at: string;
}

export interface Preview {
  occurrences: PreviewedOccurrence[];
  description: string;
  /** Firings a day, on average over four years. */
  per_day: number;
  /** Firings in the next 365 days. */
  per_year: number;
  /** The local times in the next 365 days that the clock skips, and when they fire; null: they do not. */
  skipped_local_times: { local: string; at: string | null }[];
}

const dayMs = 86_400_000;
const year = 365;
const fourYears = 1_461;
/** A schedule of every minute has 60 in a jump of an hour. */
const mostSkipped = 100;

/**
 * Returns the first `count` occurrences strictly after the instant `after` (milliseconds since 1970), fewer if the
 * year 2101 comes first, and the expression in words.
 *
 * @throws CronError, ZoneError
 */
export const preview = (request: {
  cron_expression: string;
  timezone: string;
  after: number;
  count: number;
}): Preview => {
  const schedule = compileSchedule(request.cron_expression, request.timezone);
  const occurrences: PreviewedOccurrence[] = [];
  let at = schedule.next(request.after);
  while (at !== null && occurrences.length < request.count) {
    occurrences.push({ at: new Date(at).toISOString(), ...schedule.explain(at) });
    at = schedule.next(at);
  }
  const { after } = request;
  const perDay = schedule.countBetween(after, after + fourYears * dayMs) / fourYears;
  return {
    occurrences,
    description: describeCron(request.cron_expression),
    per_day: Number(perDay.toPrecision(4)),
    per_year: schedule.countBetween(after, after + year * dayMs),
    skipped_local_times: schedule
      .skippedLocalTimes(after, after + year * dayMs, mostSkipped)
      .map(({ local, at }) => ({
        local: new Date(local).toISOString().slice(0, 19),
        at: at === null ? null : new Date(at).toISOString(),
      })),
  };
};

/**
 * Returns an expression in English words, on a 24-hour clock.
 *
 * @throws CronError if the expression is refused
 */
export const describeCron = (expression: string): string => {
  const cron = parseCron(expression);
  return cronstrue.toString(plainExpression(cron), {
    use24HourTimeFormat: true,
    logicalAndDayFields: cron.bothDays,
  });
};

const valuesOf = (low: number, high: number, first: number): number[] => {
  const values: number[] = [];
  for (let bit = 0; bit < 64; bit++) {
    if ((((bit < 32 ? low : high) >>> (bit & 31)) & 1) !== 0) values.push(first + bit);
  }
  return values;
};

/** `values`, at least one and in order, as runs (`1-5`) and single numbers. */
const runs = (values: readonly number[]): string => {
  const parts: string[] = [];
  for (let k = 0; k < values.length; ) {
    let end = k;
    while (values[end + 1] === values[end]! + 1) end++;
    if (end - k >= 2) parts.push(`${values[k]}-${values[end]}`);
    else parts.push(...values.slice(k, end + 1).map(String));
    k = end + 1;
  }
  return parts.join(',');
};

/** `values` as one step if that is the plainest form, else as runs. */
const plainField = (values: readonly number[], min: number, size: number): string => {
  if (values.length === size) return '*';
  // Days have no even steps, since months differ in length.
  if (size === 31) return runs(values);
  const step = values.length > 2 ? values[1]! - values[0]! : 1;
  const even = step > 1 && values.every((value, k) => value === values[0]! + k * step);
  if (even && values[0] === min && values.length * step === size) return `*/${step}`;
  if (even && values.length > 3) return `${values[0]}-${values.at(-1)}/${step}`;
  return runs(values);
};

/**
 * The same schedule in the few forms that cronstrue describes correctly. In other forms it describes `*,5` as
 * "* and 5", `SUN,*` as "undefined", and `*\/24` of minutes as "every 24 minutes", and it throws at `07`.
 */
const plainExpression = (cron: Cron): string => {
  const minutes = plainField(valuesOf(cron.minutesLow, cron.minutesHigh, 0), 0, 60);
  const hours = plainField(valuesOf(cron.hours, 0, 0), 0, 24);
  const days = plainField(valuesOf(cron.days, 0, 1), 1, 31);
  const months = plainField(valuesOf(cron.months, 0, 1), 1, 12);
  const weekdays = valuesOf(cron.weekdays, 0, 0);
  // Sunday is day 7 after a Saturday, so that a weekend is one run.
  if (weekdays[0] === 0 && weekdays.includes(6) && !weekdays.includes(1))
    weekdays.push(weekdays.shift()! + 7);
  const everyDay = !cron.bothDays && (days === '*' || weekdays.length === 7);
  const shown = weekdays.length === fields[4].size ? '*' : runs(weekdays);
  return everyDay ? `${minutes} ${hours} * ${months} *` : `${minutes} ${hours} ${days} ${months} ${shown}`;
};
