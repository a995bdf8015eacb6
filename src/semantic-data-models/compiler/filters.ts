import { build, type Datatype, type Expression } from '@agent-platform/sql';
import { Temporal } from 'temporal-polyfill';
import { refused } from './faults.ts';
import { beginningOf, periodNames, periodOf } from './periods.ts';
import type { Condition, Filter, Operator, Value } from './request.ts';

/** The zone of times, and the current day. */
export interface Clock {
  timezone: string;
  asOf: Temporal.Instant;
}

/** The expression of a condition, and its datatype if it is known. */
export interface Subject {
  expression: Expression;
  datatype: Datatype | null;
  /** The column behind a Date as the table has it, with its index: it may hold moments. */
  stored?: Expression | undefined;
}

const mismatch = (path: string, message: string) => refused(path, message, { reason: 'not_supported' });

const forms: Record<Datatype, string> = {
  Integer: 'a whole number',
  Decimal: 'a number',
  Float: 'a number',
  Boolean: 'true or false',
  Date: 'a date such as 2026-01-31',
  Time: 'a time such as 10:00:00',
  DateTime: 'a date and time such as 2026-01-31T10:00:00',
  DateTimeTz: 'a date and time such as 2026-01-31T10:00:00Z',
  String: 'text',
  Opaque: 'a value',
};

/** The kinds of JSON that a datatype takes. Numbers that JSON cannot hold exactly may be text. */
const jsonTypes: Record<Datatype, readonly string[]> = {
  Integer: ['number', 'string'],
  Decimal: ['number', 'string'],
  Float: ['number', 'string'],
  Boolean: ['boolean'],
  Date: ['string'],
  Time: ['string'],
  DateTime: ['string'],
  DateTimeTz: ['string'],
  String: ['string'],
  Opaque: ['number', 'string', 'boolean'],
};

/** A value of a filter, bound. Throws 422 if it does not fit the datatype. */
const bound = (value: Value, datatype: Datatype | null, path: string): Expression => {
  const type = datatype ?? 'Opaque';
  const wrong = () => mismatch(path, `must be ${forms[type]}`);
  if (!jsonTypes[type].includes(typeof value) || (typeof value === 'string' && value.includes('\0')))
    throw wrong();
  if (typeof value === 'boolean') return build.truthOf(value);
  const text = String(value);
  const found =
    type === 'Opaque'
      ? typeof value === 'number'
        ? build.numberOf(text)
        : build.valueAs(text, 'String')
      : build.valueAs(text, type);
  if (!found) throw wrong();
  return found;
};

const counts = (operator: Operator): [least: number, most: number] => {
  if (operator === 'is_null' || operator === 'is_not_null') return [0, 0];
  if (operator === 'in' || operator === 'not_in') return [1, 1_000];
  return operator === 'between' ? [2, 2] : [1, 1];
};

const comparisons = {
  equals: '=',
  not_equals: '<>',
  gt: '>',
  gte: '>=',
  lt: '<',
  lte: '<=',
} as const;

const searches = {
  contains: 'contains',
  not_contains: 'contains',
  starts_with: 'starts_with',
  ends_with: 'ends_with',
} as const;

/** The day after `day`, a bound Date; null after the last one. */
const dayAfter = (day: Expression): Expression | null => {
  const text = day.kind === 'constant' ? String(day.value) : '';
  return text < '9999-12-31'
    ? build.valueAs(Temporal.PlainDate.from(text).add({ days: 1 }).toString(), 'Date')
    : null;
};

/**
 * A comparison of days as one of moments, from the first of a day to the first of the next: so that an index of the
 * column is used, which a cast to a Date hides. Null if it cannot be written so.
 */
const inMoments = (
  stored: Expression,
  operator: Operator,
  days: readonly Expression[],
): Expression | null => {
  const [first, last = first] = days as [Expression, Expression?];
  const after = dayAfter(last);
  if (!after) return null;
  const from = build.compare(stored, '>=', first);
  const until = build.compare(stored, '<', after);
  switch (operator) {
    case 'gte':
      return from;
    case 'lt':
      return build.compare(stored, '<', first);
    case 'gt':
      return build.compare(stored, '>=', after);
    case 'lte':
      return until;
    case 'equals':
    case 'between':
      return build.allOf([from, until]);
    default:
      return null;
  }
};

const inPeriod = (
  { expression, datatype, stored = expression }: Subject,
  value: Value,
  path: string,
  clock: Clock,
): Expression => {
  if (datatype !== 'Date' && datatype !== 'DateTime' && datatype !== 'DateTimeTz')
    throw mismatch(path, '`in_period` needs a field that is a date');
  const period = periodOf(String(value), clock.asOf, clock.timezone);
  if (!period) throw mismatch(`${path}.values[0]`, `must be one of ${periodNames.join(', ')}`);
  const at = (day: Temporal.PlainDate): Expression => {
    const text = datatype === 'Date' ? day.toString() : beginningOf(day, clock.timezone);
    return bound(text, datatype, path);
  };
  return build.allOf([
    build.compare(stored, '>=', at(period.start)),
    build.compare(stored, '<', at(period.end)),
  ])!;
};

const conditionOf = (
  { operator, values = [] }: Condition,
  subject: Subject,
  path: string,
  clock: Clock,
): Expression => {
  const [least, most] = counts(operator);
  if (values.length < least || values.length > most) {
    const wanted = least === most ? (least === 0 ? 'no' : String(least)) : `${least} to ${most}`;
    throw mismatch(`${path}.values`, `\`${operator}\` takes ${wanted} value${wanted === '1' ? '' : 's'}`);
  }
  const { expression, datatype } = subject;
  if (operator === 'is_null' || operator === 'is_not_null')
    return { kind: 'is_null', arg: expression, not: operator === 'is_not_null' };
  if (operator === 'in_period') return inPeriod(subject, values[0]!, path, clock);
  const read = values.map((value, i) => bound(value, datatype, `${path}.values[${i}]`));
  const inStored = subject.stored && inMoments(subject.stored, operator, read);
  if (inStored) return inStored;
  if (operator === 'in' || operator === 'not_in')
    return { kind: 'in', arg: expression, items: read, not: operator === 'not_in' };
  const [first, second] = read as [Expression, Expression];
  if (operator === 'between')
    return { kind: 'between', arg: expression, low: first, high: second, not: false };
  if (Object.hasOwn(comparisons, operator))
    return build.compare(expression, comparisons[operator as keyof typeof comparisons], first);
  if (datatype !== null && datatype !== 'String' && datatype !== 'Opaque')
    throw mismatch(path, `\`${operator}\` needs a field that is text`);
  const found = build.call(searches[operator as keyof typeof searches], [expression, first]);
  return operator === 'not_contains' ? { kind: 'not', arg: found } : found;
};

/** All conditions of a filter, with their paths. */
export const conditionsIn = (filter: Filter, path: string): { condition: Condition; path: string }[] => {
  if ('and' in filter) return filter.and.flatMap((one, i) => conditionsIn(one, `${path}.and[${i}]`));
  if ('or' in filter) return filter.or.flatMap((one, i) => conditionsIn(one, `${path}.or[${i}]`));
  if ('not' in filter) return conditionsIn(filter.not, `${path}.not`);
  return [{ condition: filter, path }];
};

/** The expression of a filter; `subjectOf` finds what a condition is about. Throws 422. */
export const filterExpression = (
  filter: Filter,
  path: string,
  clock: Clock,
  subjectOf: (condition: Condition, path: string) => Subject,
): Expression => {
  const inner = (one: Filter, at: string) => filterExpression(one, at, clock, subjectOf);
  if ('and' in filter) return build.allOf(filter.and.map((one, i) => inner(one, `${path}.and[${i}]`)))!;
  if ('or' in filter) {
    const args = filter.or.map((one, i) => inner(one, `${path}.or[${i}]`));
    return args.length === 1 ? args[0]! : { kind: 'or', args };
  }
  if ('not' in filter) return { kind: 'not', arg: inner(filter.not, `${path}.not`) };
  return conditionOf(filter, subjectOf(filter, path), path, clock);
};
