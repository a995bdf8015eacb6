import { units } from '../tree.ts';
import type { Type } from '../types.ts';
import { asTimestamp, isWholeDays, mysqlCut, sqliteCut } from './date-steps.ts';
import type { Printer, Scalar } from './spec.ts';

/** Numbers of the periods from which a difference in years, quarters or months is computed. */
const periodNumber: Partial<Record<string, (year: string, quarter: string, month: string) => string>> = {
  year: (year) => year,
  quarter: (year, quarter) => `(${year} * 4 + ${quarter})`,
  month: (year, _, month) => `(${year} * 12 + ${month})`,
};

/** Seconds in the units of a clock. */
const clockSeconds: Record<string, number> = { hour: 3_600, minute: 60, second: 1 };

const postgresDiff: Printer = ({ args, types, unit }) => {
  const [from, to] = args.map((sql, i) => asTimestamp(sql, types[i])) as [string, string];
  const part = (name: string, sql: string) => `EXTRACT(${name} FROM ${sql})`;
  const number = periodNumber[unit];
  if (number) {
    const of = (sql: string) => number(part('year', sql), part('quarter', sql), part('month', sql));
    return `CAST(${of(to)} - ${of(from)} AS bigint)`;
  }
  const day = (sql: string) => `CAST(${sql} AS pg_catalog.date)`;
  const cut = (sql: string) => `pg_catalog.date_trunc('${unit}', ${sql})`;
  if (unit === 'day') return `CAST(${day(to)} - ${day(from)} AS bigint)`;
  if (unit === 'week') return `CAST((${day(cut(to))} - ${day(cut(from))}) / 7 AS bigint)`;
  const seconds = `EXTRACT(epoch FROM ${cut(to)}) - EXTRACT(epoch FROM ${cut(from)})`;
  return `CAST((${seconds}) / ${clockSeconds[unit]} AS bigint)`;
};

const mysqlDiff: Printer = ({ args, types, unit }) => {
  const [from, to] = args as [string, string];
  const number = periodNumber[unit];
  if (number) {
    const of = (sql: string) => number(`YEAR(${sql})`, `QUARTER(${sql})`, `MONTH(${sql})`);
    return `(${of(to)} - ${of(from)})`;
  }
  if (unit === 'day') return `DATEDIFF(${to}, ${from})`;
  if (unit === 'week') return `((DATEDIFF(${to}, ${from}) + WEEKDAY(${from}) - WEEKDAY(${to})) DIV 7)`;
  return `TIMESTAMPDIFF(${unit.toUpperCase()}, ${mysqlCut(from, types[0], unit)}, ${mysqlCut(to, types[1], unit)})`;
};

const sqliteDiff: Printer = ({ args, types, unit }) => {
  const [from, to] = args as [string, string];
  const part = (format: string, sql: string) => `CAST(strftime('${format}', ${sql}) AS INTEGER)`;
  const number = periodNumber[unit];
  if (number) {
    const of = (sql: string) => number(part('%Y', sql), `(${part('%m', sql)} + 2) / 3`, part('%m', sql));
    return `(${of(to)} - ${of(from)})`;
  }
  if (isWholeDays(unit)) {
    const day = (sql: string) => `julianday(${sqliteCut(sql, 'Date', unit)})`;
    return `CAST((${day(to)} - ${day(from)}) / ${unit === 'week' ? 7 : 1} AS INTEGER)`;
  }
  const seconds = (sql: string, type: Type | undefined) => `unixepoch(${sqliteCut(sql, type, unit)})`;
  return `((${seconds(to, types[1])} - ${seconds(from, types[0])}) / ${clockSeconds[unit]})`;
};

const duckdbDiff: Printer = ({ args, types, unit }) => {
  const [from, to] = args.map((sql, i) => (types[i] === 'DateTime' ? sql : `CAST(${sql} AS TIMESTAMP)`)) as [
    string,
    string,
  ];
  const cut = (sql: string) => `date_trunc('${unit}', ${sql})`;
  if (unit === 'week') return `(date_diff('day', ${cut(from)}, ${cut(to)}) // 7)`;
  return `date_diff('${unit}', ${from}, ${to})`;
};

export const dateDiff: Scalar = {
  params: ['moment', 'moment'],
  units,
  type: () => 'Integer',
  print: { postgres: postgresDiff, mysql: mysqlDiff, sqlite: sqliteDiff, duckdb: duckdbDiff },
};
