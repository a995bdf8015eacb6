import type { Unit } from '../tree.ts';
import type { Type } from '../types.ts';
import { sqliteForms } from './casts.ts';
import type { Printer } from './spec.ts';

/** Units of whole days: they keep a Date a Date. */
export const isWholeDays = (unit: string): boolean =>
  ['year', 'quarter', 'month', 'week', 'day'].includes(unit);

/** Returns the type as that of a moment. A value without such a type is taken as a DateTime. */
const momentOf = (type: Type | undefined): 'Date' | 'DateTime' | 'DateTimeTz' =>
  type === 'Date' || type === 'DateTimeTz' ? type : 'DateTime';

/** The type after cutting down to, or moving by, a unit. */
export const movedType = (type: Type | undefined, unit: string): 'Date' | 'DateTime' | 'DateTimeTz' => {
  const moment = momentOf(type);
  return moment === 'Date' && !isWholeDays(unit) ? 'DateTime' : moment;
};

export const asTimestamp = (sql: string, type: Type | undefined): string =>
  type === 'DateTime' || type === 'DateTimeTz' ? sql : `CAST(${sql} AS timestamp)`;

export const postgresTrunc: Printer = ({ args: [sql], types: [type], unit }) => {
  const cut = `pg_catalog.date_trunc('${unit}', ${asTimestamp(sql!, type)})`;
  return movedType(type, unit) === 'Date' ? `CAST(${cut} AS pg_catalog.date)` : cut;
};

const mysqlDays: Record<string, (sql: string) => string> = {
  year: (sql) => `CAST(DATE_FORMAT(${sql}, '%Y-01-01') AS DATE)`,
  quarter: (sql) =>
    `CAST(CONCAT(DATE_FORMAT(${sql}, '%Y-'), LPAD(QUARTER(${sql}) * 3 - 2, 2, '0'), '-01') AS DATE)`,
  month: (sql) => `CAST(DATE_FORMAT(${sql}, '%Y-%m-01') AS DATE)`,
  week: (sql) => `DATE_SUB(DATE(${sql}), INTERVAL WEEKDAY(${sql}) DAY)`,
  day: (sql) => `DATE(${sql})`,
};
const mysqlClocks: Record<string, string> = {
  hour: '%Y-%m-%d %H:00:00',
  minute: '%Y-%m-%d %H:%i:00',
  second: '%Y-%m-%d %H:%i:%s',
};

export const mysqlCut = (sql: string, type: Type | undefined, unit: string): string => {
  const clock = mysqlClocks[unit];
  if (clock) return `CAST(DATE_FORMAT(${sql}, '${clock}') AS DATETIME)`;
  const day = mysqlDays[unit]!(sql);
  return movedType(type, unit) === 'Date' ? day : `CAST(${day} AS DATETIME)`;
};

const sqliteDays: Record<string, (sql: string) => string[]> = {
  year: () => [`'start of year'`],
  quarter: (sql) => [
    `'start of month'`,
    `'-' || ((CAST(strftime('%m', ${sql}) AS INTEGER) - 1) % 3) || ' months'`,
  ],
  month: () => [`'start of month'`],
  week: () => [`'-6 days'`, `'weekday 1'`],
  day: () => [],
};
const sqliteClocks: Record<string, string> = {
  hour: '%Y-%m-%d %H:00:00.000',
  minute: '%Y-%m-%d %H:%M:00.000',
  second: '%Y-%m-%d %H:%M:%S.000',
};

export const sqliteCut = (sql: string, type: Type | undefined, unit: string): string => {
  const clock = sqliteClocks[unit];
  if (clock) return `strftime('${clock}', ${sql})`;
  const day = sqliteForms.Date(sql, ...sqliteDays[unit]!(sql));
  return movedType(type, unit) === 'Date' ? day : `(${day} || ' 00:00:00.000')`;
};

const duckdbTypes = { Date: 'DATE', DateTime: 'TIMESTAMP', DateTimeTz: 'TIMESTAMPTZ' } as const;

export const duckdbTrunc: Printer = ({ args: [sql], types: [type], unit }) =>
  `CAST(date_trunc('${unit}', ${sql}) AS ${duckdbTypes[movedType(type, unit)]})`;

/** One step of PostgreSQL's intervals for each unit. */
const steps: Record<Unit, string> = {
  year: '1 year',
  quarter: '3 months',
  month: '1 month',
  week: '7 days',
  day: '1 day',
  hour: '1 hour',
  minute: '1 minute',
  second: '1 second',
};

export const postgresAdd: Printer = ({ args: [count, sql], types, unit }) => {
  const moved = `(${asTimestamp(sql!, types[1])} + CAST(${count} AS integer) * INTERVAL '${steps[unit as Unit]}')`;
  return movedType(types[1], unit) === 'Date' ? `CAST(${moved} AS pg_catalog.date)` : moved;
};

export const mysqlAdd: Printer = ({ args: [count, sql], types, unit }) => {
  const moved = `DATE_ADD(${sql}, INTERVAL ${count} ${unit.toUpperCase()})`;
  return movedType(types[1], unit) === 'Date' ? moved : `CAST(${moved} AS DATETIME(6))`;
};

/** SQLite counts over the end of a month (31 January + 1 month = 2 March) unless it is told to stay in it. */
const sqliteSteps: Record<Unit, (count: string) => string[]> = {
  year: (count) => [`CAST(${count} AS INTEGER) || ' years'`, `'floor'`],
  quarter: (count) => [`(CAST(${count} AS INTEGER) * 3) || ' months'`, `'floor'`],
  month: (count) => [`CAST(${count} AS INTEGER) || ' months'`, `'floor'`],
  week: (count) => [`(CAST(${count} AS INTEGER) * 7) || ' days'`],
  day: (count) => [`CAST(${count} AS INTEGER) || ' days'`],
  hour: (count) => [`CAST(${count} AS INTEGER) || ' hours'`],
  minute: (count) => [`CAST(${count} AS INTEGER) || ' minutes'`],
  second: (count) => [`CAST(${count} AS INTEGER) || ' seconds'`],
};

export const sqliteAdd: Printer = ({ args: [count, sql], types, unit }) =>
  sqliteForms[movedType(types[1], unit)](sql!, ...sqliteSteps[unit as Unit](count!));

const duckdbSteps: Record<Unit, (count: string) => string> = {
  year: (count) => `to_years(CAST(${count} AS INTEGER))`,
  quarter: (count) => `to_months(CAST(${count} AS INTEGER) * 3)`,
  month: (count) => `to_months(CAST(${count} AS INTEGER))`,
  week: (count) => `to_days(CAST(${count} AS INTEGER) * 7)`,
  day: (count) => `to_days(CAST(${count} AS INTEGER))`,
  hour: (count) => `to_hours(CAST(${count} AS BIGINT))`,
  minute: (count) => `to_minutes(CAST(${count} AS BIGINT))`,
  second: (count) => `to_seconds(CAST(${count} AS BIGINT))`,
};

export const duckdbAdd: Printer = ({ args: [count, sql], types, unit }) =>
  `CAST((${sql} + ${duckdbSteps[unit as Unit](count!)}) AS ${duckdbTypes[movedType(types[1], unit)]})`;
