import { units } from '../tree.ts';
import type { Type } from '../types.ts';
import { castSql, sqliteForms } from './casts.ts';
import { dateDiff } from './date-differences.ts';
import { extract } from './date-parts.ts';
import {
  duckdbAdd,
  duckdbTrunc,
  movedType,
  mysqlAdd,
  mysqlCut,
  postgresAdd,
  postgresTrunc,
  sqliteAdd,
  sqliteCut,
} from './date-steps.ts';
import type { Call, Printer, Scalar } from './spec.ts';

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
    params: ['count', 'moment'],
    units,
    type: ([, type], unit) => movedType(type, unit),
    print: { postgres: postgresAdd, mysql: mysqlAdd, sqlite: sqliteAdd, duckdb: duckdbAdd },
  },
  date_diff: dateDiff,
  extract,
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
