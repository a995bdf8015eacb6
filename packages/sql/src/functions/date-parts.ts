import type { Type } from '../types.ts';
import type { Printer, Scalar } from './spec.ts';

/**
 * Parts of `extract` and its kin. `second` is the whole second; `seconds` has its fraction, as EXTRACT(SECOND …) gives.
 */
export const parts = [
  'year',
  'isoyear',
  'quarter',
  'month',
  'week',
  'day',
  'dayofweek',
  'dow',
  'dayofyear',
  'hour',
  'minute',
  'second',
  'seconds',
  'milliseconds',
  'epoch',
] as const;
type Part = (typeof parts)[number];

const fractional = (part: string): boolean => ['seconds', 'milliseconds', 'epoch'].includes(part);
/** Returns true for a part that a Time has and a Date does not. */
const ofClock = (part: string): boolean =>
  ['hour', 'minute', 'second', 'seconds', 'milliseconds'].includes(part);

const postgresParts: Partial<Record<Part, string>> = {
  dayofweek: 'isodow',
  dayofyear: 'doy',
  seconds: 'second',
};

const postgresExtract: Printer = ({ args: [sql], types: [type], unit }) => {
  const from = type === 'Date' ? `CAST(${sql} AS timestamp)` : sql;
  const value = `EXTRACT(${postgresParts[unit as Part] ?? unit} FROM ${from})`;
  if (fractional(unit)) return value;
  return unit === 'second' ? `CAST(pg_catalog.floor(${value}) AS bigint)` : `CAST(${value} AS bigint)`;
};

const mysqlParts: Record<Part, (sql: string) => string> = {
  year: (sql) => `YEAR(${sql})`,
  isoyear: (sql) => `(YEARWEEK(${sql}, 3) DIV 100)`,
  quarter: (sql) => `QUARTER(${sql})`,
  month: (sql) => `MONTH(${sql})`,
  week: (sql) => `WEEK(${sql}, 3)`,
  day: (sql) => `DAYOFMONTH(${sql})`,
  dayofweek: (sql) => `(WEEKDAY(${sql}) + 1)`,
  dow: (sql) => `(DAYOFWEEK(${sql}) - 1)`,
  dayofyear: (sql) => `DAYOFYEAR(${sql})`,
  hour: (sql) => `HOUR(${sql})`,
  minute: (sql) => `MINUTE(${sql})`,
  second: (sql) => `SECOND(${sql})`,
  seconds: (sql) => `(SECOND(${sql}) + MICROSECOND(${sql}) / 1000000)`,
  milliseconds: (sql) => `(SECOND(${sql}) * 1000 + MICROSECOND(${sql}) / 1000)`,
  epoch: (sql) => `(TIMESTAMPDIFF(MICROSECOND, '1970-01-01 00:00:00', ${sql}) / 1000000)`,
};

const sqliteParts: Partial<Record<Part, string>> = {
  year: '%Y',
  isoyear: '%G',
  month: '%m',
  week: '%V',
  day: '%d',
  dayofweek: '%u',
  dow: '%w',
  dayofyear: '%j',
  hour: '%H',
  minute: '%M',
  second: '%S',
};

const sqliteExtract: Printer = ({ args: [sql], unit }) => {
  const part = (format: string) => `CAST(strftime('${format}', ${sql}) AS INTEGER)`;
  if (unit === 'quarter') return `((${part('%m')} + 2) / 3)`;
  if (unit === 'seconds') return `CAST(strftime('%f', ${sql}) AS REAL)`;
  if (unit === 'milliseconds') return `round(CAST(strftime('%f', ${sql}) AS REAL) * 1000, 3)`;
  if (unit === 'epoch') return `unixepoch(${sql}, 'subsec')`;
  return part(sqliteParts[unit as Part]!);
};

const duckdbExtract: Printer = ({ args: [sql], types: [type], unit }) => {
  const from = type === 'Date' ? `CAST(${sql} AS TIMESTAMP)` : sql;
  if (unit === 'seconds') return `(EXTRACT(microseconds FROM ${from}) / 1000000.0)`;
  if (unit === 'milliseconds') return `(EXTRACT(microseconds FROM ${from}) / 1000.0)`;
  const part = ({ dayofweek: 'isodow', dayofyear: 'doy' } as Record<string, string>)[unit] ?? unit;
  return `EXTRACT(${part} FROM ${from})`;
};

export const extract: Scalar = {
  params: ['clock'],
  units: parts,
  type: (_, part) => (fractional(part) ? 'Decimal' : 'Integer'),
  print: {
    postgres: postgresExtract,
    mysql: ({ args, unit }) => mysqlParts[unit as Part](args[0]!),
    sqlite: sqliteExtract,
    duckdb: duckdbExtract,
  },
};

/** A clock has no year: refused, as the engines would each make something else of it. */
export const partFits = (type: Type, part: string): boolean => type !== 'Time' || ofClock(part);
