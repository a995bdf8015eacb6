import { type Unit, units } from '../tree.ts';
import type { Type } from '../types.ts';
import { castSql, sqliteForms } from './casts.ts';
import type { Call, Printer, Scalar } from './spec.ts';

/** Units of whole days: they keep a Date a Date. */
export const isWholeDays = (unit: string): boolean =>
  ['year', 'quarter', 'month', 'week', 'day'].includes(unit);

/** What is known to be a moment; without a type it is taken as a DateTime. */
const momentOf = (type: Type | undefined): 'Date' | 'DateTime' | 'DateTimeTz' =>
  type === 'Date' || type === 'DateTimeTz' ? type : 'DateTime';

/** The type after cutting down to, or moving by, a unit. */
const movedType = (type: Type | undefined, unit: string): 'Date' | 'DateTime' | 'DateTimeTz' => {
  const moment = momentOf(type);
  return moment === 'Date' && !isWholeDays(unit) ? 'DateTime' : moment;
};

const asTimestamp = (sql: string, type: Type | undefined): string =>
  type === 'DateTime' || type === 'DateTimeTz' ? sql : `CAST(${sql} AS timestamp)`;

const postgresTrunc: Printer = ({ args: [sql], types: [type], unit }) => {
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

const mysqlCut = (sql: string, type: Type | undefined, unit: string): string => {
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

const sqliteCut = (sql: string, type: Type | undefined, unit: string): string => {
  const clock = sqliteClocks[unit];
  if (clock) return `strftime('${clock}', ${sql})`;
  const day = sqliteForms.Date(sql, ...sqliteDays[unit]!(sql));
  return movedType(type, unit) === 'Date' ? day : `(${day} || ' 00:00:00.000')`;
};

const duckdbTypes = { Date: 'DATE', DateTime: 'TIMESTAMP', DateTimeTz: 'TIMESTAMPTZ' } as const;

const duckdbTrunc: Printer = ({ args: [sql], types: [type], unit }) =>
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

const postgresAdd: Printer = ({ args: [count, sql], types, unit }) => {
  const moved = `(${asTimestamp(sql!, types[1])} + CAST(${count} AS integer) * INTERVAL '${steps[unit as Unit]}')`;
  return movedType(types[1], unit) === 'Date' ? `CAST(${moved} AS pg_catalog.date)` : moved;
};

const mysqlAdd: Printer = ({ args: [count, sql], types, unit }) => {
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

const sqliteAdd: Printer = ({ args: [count, sql], types, unit }) =>
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

const duckdbAdd: Printer = ({ args: [count, sql], types, unit }) =>
  `CAST((${sql} + ${duckdbSteps[unit as Unit](count!)}) AS ${duckdbTypes[movedType(types[1], unit)]})`;

/** What a difference in years, quarters or months is computed from: the number of the period. */
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

/** Of `extract` and its kin. `second` is the whole second; `seconds` has its fraction, as EXTRACT(SECOND …) gives. */
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
/** What a Time has, and a Date does not. */
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

/** Names of zones as the platform has checked them; nothing else can be quoted here. */
const zoneName = /^[A-Za-z][A-Za-z0-9_+/-]{0,63}$/;

const zoneOf = ({ constants }: Call): string | null => {
  const zone = constants[1]?.value;
  return typeof zone === 'string' && zoneName.test(zone) ? zone : null;
};

const inZone =
  (cast: string): Printer =>
  (call) => {
    const zone = zoneOf(call);
    const [sql] = call.args;
    if (zone === null) return null;
    return `(${call.types[0] === 'DateTimeTz' ? sql : `CAST(${sql} AS ${cast})`} AT TIME ZONE '${zone}')`;
  };

/** Sessions are in UTC, where a moment has the same text in both types. */
const onlyUtc: Printer = (call) => (zoneOf(call) === 'UTC' ? call.args[0]! : null);

export const dateFunctions: Record<string, Scalar> = {
  current_date: {
    params: [],
    type: () => 'Date',
    print: {
      postgres: () => 'CURRENT_DATE',
      mysql: () => 'CURRENT_DATE()',
      sqlite: () => `date('now')`,
      duckdb: () => `CAST(now() AS DATE)`,
    },
  },
  current_timestamp: {
    params: [],
    type: () => 'DateTimeTz',
    print: {
      postgres: () => 'CURRENT_TIMESTAMP',
      mysql: () => 'CURRENT_TIMESTAMP(6)',
      sqlite: () => sqliteForms.DateTime(`'now'`),
      duckdb: () => 'now()',
    },
  },
  localtimestamp: {
    params: [],
    type: () => 'DateTime',
    print: {
      postgres: () => 'LOCALTIMESTAMP',
      mysql: () => 'CURRENT_TIMESTAMP(6)',
      sqlite: () => sqliteForms.DateTime(`'now'`),
      duckdb: () => `CAST(now() AS TIMESTAMP)`,
    },
  },
  localtime: {
    params: [],
    type: () => 'Time',
    print: {
      postgres: () => 'LOCALTIME',
      mysql: () => 'CURRENT_TIME(6)',
      sqlite: () => sqliteForms.Time(`'now'`),
      duckdb: () => `CAST(CAST(now() AS TIMESTAMP) AS TIME)`,
    },
  },
  date_trunc: {
    params: ['moment'],
    units,
    type: ([type], unit) => movedType(type, unit),
    print: {
      postgres: postgresTrunc,
      mysql: ({ args, types, unit }) => mysqlCut(args[0]!, types[0], unit),
      sqlite: ({ args, types, unit }) => sqliteCut(args[0]!, types[0], unit),
      duckdb: duckdbTrunc,
    },
  },
  date_add: {
    params: ['number', 'moment'],
    units,
    type: ([, type], unit) => movedType(type, unit),
    print: { postgres: postgresAdd, mysql: mysqlAdd, sqlite: sqliteAdd, duckdb: duckdbAdd },
  },
  date_diff: {
    params: ['moment', 'moment'],
    units,
    type: () => 'Integer',
    print: { postgres: postgresDiff, mysql: mysqlDiff, sqlite: sqliteDiff, duckdb: duckdbDiff },
  },
  extract: {
    params: ['clock'],
    units: parts,
    type: (_, part) => (fractional(part) ? 'Decimal' : 'Integer'),
    print: {
      postgres: postgresExtract,
      mysql: ({ args, unit }) => mysqlParts[unit as Part](args[0]!),
      sqlite: sqliteExtract,
      duckdb: duckdbExtract,
    },
  },
  at_time_zone: {
    params: ['moment', 'text'],
    fixedText: [1],
    internal: true,
    type: () => 'DateTime',
    print: {
      postgres: inZone('timestamp with time zone'),
      mysql: onlyUtc,
      sqlite: onlyUtc,
      duckdb: inZone('TIMESTAMPTZ'),
    },
  },
};

/** A clock has no year: refused, as the engines would each make something else of it. */
export const partFits = (type: Type, part: string): boolean => type !== 'Time' || ofClock(part);

/** `moment` plus an interval, for `+` and `-`: months first, then days, then seconds, as PostgreSQL adds them. */
export const addIntervalSql = (
  engine: 'postgres' | 'mysql' | 'sqlite' | 'duckdb',
  sql: string,
  type: Type,
  interval: { months: number; days: number; seconds: number },
): string => {
  const from = type === 'Date' ? castSql(engine, sql, type, { type: 'DateTime' }) : sql;
  const moved = type === 'DateTimeTz' ? type : 'DateTime';
  const print = dateFunctions.date_add!.print[engine]!;
  const counts = [
    [interval.months, 'month'],
    [interval.days, 'day'],
    [interval.seconds, 'second'],
  ] as const;
  return counts.reduce(
    (before, [count, unit]) =>
      count === 0
        ? before
        : print({ args: [`(${count})`, before], types: ['Integer', moved], constants: [null, null], unit })!,
    from,
  );
};
