import type { Engine } from '../engines.ts';
import type { CastType } from '../tree.ts';
import { isNumeric, isOpen, isTemporal, type Type } from '../types.ts';

/** Returns whether PostgreSQL has the cast; `text` to anything is tried at run time. */
export const canCast = (from: Type, to: CastType['type']): boolean => {
  if (isOpen(from) || from === to || to === 'String') return from !== 'Interval';
  if (from === 'String') return true;
  if (isNumeric(to)) return isNumeric(from) || (from === 'Boolean' && to === 'Integer');
  if (to === 'Boolean') return from === 'Integer';
  if (to === 'Time') return from === 'DateTime' || from === 'DateTimeTz';
  return isTemporal(from);
};

/** The names of types in CAST. What is no keyword of PostgreSQL's grammar is qualified. */
export const typeNames: Record<Engine, Record<CastType['type'], string>> = {
  postgres: {
    Integer: 'bigint',
    Decimal: 'numeric',
    Float: 'double precision',
    Boolean: 'boolean',
    Date: 'pg_catalog.date',
    Time: 'time',
    DateTime: 'timestamp',
    DateTimeTz: 'timestamp with time zone',
    String: 'pg_catalog.text',
  },
  mysql: {
    Integer: 'SIGNED',
    Decimal: 'DECIMAL(65, 20)',
    Float: 'DOUBLE',
    Boolean: 'SIGNED',
    Date: 'DATE',
    Time: 'TIME(6)',
    DateTime: 'DATETIME(6)',
    DateTimeTz: 'DATETIME(6)',
    String: 'CHAR',
  },
  sqlite: {
    Integer: 'INTEGER',
    Decimal: 'NUMERIC',
    Float: 'REAL',
    Boolean: 'INTEGER',
    Date: 'TEXT',
    Time: 'TEXT',
    DateTime: 'TEXT',
    DateTimeTz: 'TEXT',
    String: 'TEXT',
  },
  duckdb: {
    Integer: 'BIGINT',
    Decimal: 'DECIMAL(38, 12)',
    Float: 'DOUBLE',
    Boolean: 'BOOLEAN',
    Date: 'DATE',
    Time: 'TIME',
    DateTime: 'TIMESTAMP',
    DateTimeTz: 'TIMESTAMPTZ',
    String: 'VARCHAR',
  },
};

type Caster = (sql: string, from: Type, to: CastType) => string;

/** Text of a boolean as PostgreSQL casts it. */
const booleanText = (sql: string): string => `CASE WHEN ${sql} THEN 'true' WHEN NOT ${sql} THEN 'false' END`;

/** Returns SQL for the boolean that PostgreSQL reads in a text, and NULL for every other text. */
const textBoolean = (lower: string): string =>
  `CASE WHEN ${lower} IN ('t', 'true', 'y', 'yes', 'on', '1') THEN TRUE WHEN ${lower} IN ('f', 'false', 'n', 'no', 'off', '0') THEN FALSE END`;

const digitsOf = (to: CastType): string => (to.digits ? `(${to.digits.precision}, ${to.digits.scale})` : '');

/**
 * A result of decimals, which SQLite and data frames may have computed as doubles, to the 15 digits that a double has
 * for certain: so that 0.3 / 0.1 is 3 where it is compared.
 */
export const decimalSql = (engine: Engine, sql: string): string => {
  if (engine === 'sqlite') return `to_decimal(${sql})`;
  return engine === 'duckdb' ? `CAST(printf('%.15g', ${sql}) AS DOUBLE)` : sql;
};

const postgres: Caster = (sql, from, to) => {
  const plain = `CAST(${sql} AS ${typeNames.postgres[to.type]}${digitsOf(to)})`;
  if (to.type === 'String' && to.length !== undefined) return `pg_catalog.left(${plain}, ${to.length})`;
  if (to.type === 'Boolean' && isNumeric(from)) return `(${sql} <> 0)`;
  if (to.type === 'Integer' && from === 'Boolean') return `CAST(CAST(${sql} AS integer) AS bigint)`;
  return plain;
};

/** Text that is no number would be 0 on MySQL and SQLite, in silence. It is NULL. */
const mysqlNumber: Record<'Integer' | 'Decimal' | 'Float', string> = {
  Integer: '^ *[-+]?[0-9]+ *$',
  Decimal: '^ *[-+]?([0-9]+[.]?[0-9]*|[.][0-9]+) *$',
  Float: '^ *[-+]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][-+]?[0-9]+)? *$',
};

/** MySQL would take the greatest number instead of one that is too large, in silence. An overflow is an error. */
const mysqlWithin = (sql: string, tooLarge: string, cast: string): string =>
  `CASE WHEN ${tooLarge} THEN 9223372036854775807 + (${sql} IS NOT NULL) ELSE ${cast} END`;

const mysqlWithinDigits = (sql: string, precision: number, scale: number, cast: string): string => {
  const nines = '9'.repeat(precision - scale) || '0';
  // The limit is the least value that would be rounded up to one digit more.
  return mysqlWithin(sql, `ABS(${sql}) >= ${nines}.${'9'.repeat(scale)}5`, cast);
};

const mysql: Caster = (sql, from, to) => {
  const type = to.type === 'Decimal' && to.digits ? `DECIMAL${digitsOf(to)}` : typeNames.mysql[to.type];
  const plain = `CAST(${sql} AS ${type})`;
  const trimmed = (format: string) => `TRIM(TRAILING '.' FROM TRIM(TRAILING '0' FROM ${format}))`;
  switch (to.type) {
    case 'String': {
      const length = to.length === undefined ? '' : `(${to.length})`;
      const sized = (text: string) => (length === '' ? text : `CAST(${text} AS CHAR${length})`);
      if (from === 'Boolean') return sized(booleanText(sql));
      if (from === 'DateTime') return sized(trimmed(`DATE_FORMAT(${sql}, '%Y-%m-%d %H:%i:%s.%f')`));
      if (from === 'DateTimeTz')
        return sized(`CONCAT(${trimmed(`DATE_FORMAT(${sql}, '%Y-%m-%d %H:%i:%s.%f')`)}, '+00')`);
      if (from === 'Time') return sized(trimmed(`TIME_FORMAT(${sql}, '%H:%i:%s.%f')`));
      return `CAST(${sql} AS CHAR${length})`;
    }
    case 'Integer':
    case 'Decimal':
    case 'Float': {
      const checked = (given: string): string => {
        if (to.type === 'Float' || from === 'Boolean') return plain;
        if (to.type === 'Decimal') {
          const { precision, scale } = to.digits ?? { precision: 65, scale: 20 };
          return mysqlWithinDigits(given, precision, scale, plain);
        }
        const whole = from === 'String' ? given : `ROUND(${given})`;
        const range = '-9223372036854775808 AND 9223372036854775807';
        return mysqlWithin(given, `${whole} NOT BETWEEN ${range}`, `CAST(${whole} AS SIGNED)`);
      };
      if (from === 'String') {
        const number = to.type === 'Float' ? plain : checked(`CAST(${sql} AS DECIMAL(65, 20))`);
        return `CASE WHEN ${sql} REGEXP '${mysqlNumber[to.type]}' THEN ${number} END`;
      }
      if (to.type === 'Decimal' && !to.digits && (from === 'Integer' || from === 'Decimal')) return sql;
      return checked(sql);
    }
    case 'Boolean':
      if (from === 'String') return textBoolean(`LOWER(TRIM(${sql}))`);
      return from === 'Boolean' ? sql : `(${sql} <> 0)`;
    case 'Time':
      // MySQL (not MariaDB) makes a date and a time of a parameter first: '01:02:03' would be the day 2001-02-03.
      return from === 'String' ? `CAST(CAST(${sql} AS CHAR) AS TIME(6))` : plain;
    default:
      return plain;
  }
};

/** SQLite has no type for a moment: it is text of one form, so that it compares, groups and sorts as text. */
export const sqliteForms = {
  Date: (sql: string, ...steps: string[]) => `date(${[sql, ...steps].join(', ')})`,
  Time: (sql: string, ...steps: string[]) => `strftime('%H:%M:%f', ${[sql, ...steps].join(', ')})`,
  DateTime: (sql: string, ...steps: string[]) =>
    `strftime('%Y-%m-%d %H:%M:%f', ${[sql, ...steps].join(', ')})`,
  DateTimeTz: (sql: string, ...steps: string[]) =>
    `strftime('%Y-%m-%d %H:%M:%f', ${[sql, ...steps].join(', ')})`,
} as const;

/** Returns SQL for a date or a time. A value that is not known to be a date or a time may be any text, or a number. */
const sqliteMoment = (sql: string, from: Type, to: keyof typeof sqliteForms): string => {
  if (isTemporal(from) || from === 'Time') return sqliteForms[to](sql);
  return sqliteForms[to](`${to === 'Time' ? 'to_clock' : 'to_moment'}(${sql})`);
};

const sqliteNumberText = (sql: string, type: 'Integer' | 'Decimal' | 'Float'): string => {
  const body = `ltrim(trim(${sql}), '+-')`;
  const oneSign = `length(trim(${sql})) - length(${body}) <= 1`;
  if (type === 'Integer') return `${body} <> '' AND ${body} NOT GLOB '*[^0-9]*' AND ${oneSign}`;
  const onePoint = `length(${body}) - length(replace(${body}, '.', '')) <= 1`;
  return `${body} GLOB '*[0-9]*' AND ${body} NOT GLOB '*[^0-9.]*' AND ${onePoint} AND ${oneSign}`;
};

/** SQLite rounds halves away from zero. PostgreSQL rounds those of a double to the even neighbour. */
const sqliteRoundEven = (sql: string): string =>
  `CASE WHEN abs(${sql} - trunc(${sql})) = 0.5 THEN 2 * round(${sql} / 2.0) ELSE round(${sql}) END`;

/** The one error that SQLite can be made to have. */
const sqliteOverflow = 'abs(-9223372036854775807 - 1)';

/** SQLite, too, would take the greatest number. */
const sqliteInteger = (whole: string, number: string): string =>
  `CASE WHEN abs(${number}) >= 9223372036854775807 THEN ${sqliteOverflow} ELSE CAST(${whole} AS INTEGER) END`;

const sqlite: Caster = (sql, from, to) => {
  switch (to.type) {
    case 'String': {
      const whole = (text: string) => (to.length === undefined ? text : `substr(${text}, 1, ${to.length})`);
      if (from === 'Boolean') return whole(booleanText(sql));
      if (from === 'DateTime' || from === 'Time') return whole(`rtrim(rtrim(${sql}, '0'), '.')`);
      if (from === 'DateTimeTz') return whole(`(rtrim(rtrim(${sql}, '0'), '.') || '+00')`);
      return whole(`CAST(${sql} AS TEXT)`);
    }
    case 'Integer':
      if (from === 'String')
        return `CASE WHEN ${sqliteNumberText(sql, 'Integer')} THEN ${sqliteInteger(sql, `CAST(${sql} AS REAL)`)} END`;
      if (from === 'Boolean' || from === 'Integer') return `CAST(${sql} AS INTEGER)`;
      return sqliteInteger(from === 'Float' ? sqliteRoundEven(sql) : `round(${sql})`, sql);
    case 'Decimal':
    case 'Float': {
      const type = to.type === 'Decimal' ? 'NUMERIC' : 'REAL';
      const number =
        from === 'String'
          ? `CASE WHEN ${sqliteNumberText(sql, to.type)} THEN CAST(${sql} AS ${type}) END`
          : `CAST(${sql} AS ${type})`;
      if (!to.digits)
        return from === 'Float' && to.type === 'Decimal' ? decimalSql('sqlite', number) : number;
      const { precision, scale } = to.digits;
      const rounded = `decimal_round(${number}, ${scale})`;
      return `CASE WHEN abs(${rounded}) >= 1e${precision - scale} THEN ${sqliteOverflow} ELSE ${rounded} END`;
    }
    case 'Boolean':
      if (from === 'String') return textBoolean(`lower(trim(${sql}))`);
      return from === 'Boolean' ? sql : `(${sql} <> 0)`;
    case 'Time':
    case 'Date':
    case 'DateTime':
    case 'DateTimeTz':
      return sqliteMoment(sql, from, to.type);
  }
};

const duckdb: Caster = (sql, from, to) => {
  const type = to.type === 'Decimal' && to.digits ? `DECIMAL${digitsOf(to)}` : typeNames.duckdb[to.type];
  const plain = `CAST(${sql} AS ${type})`;
  switch (to.type) {
    case 'String':
      return to.length === undefined ? plain : `left(${plain}, ${to.length})`;
    case 'Integer':
      if (from === 'Float') return `CAST(round_even(${sql}, 0) AS BIGINT)`;
      // A quotient of decimals is a double here, of which a cast would round halves to the even neighbour.
      return from === 'Decimal' ? `CAST(round(${sql}) AS BIGINT)` : plain;
    case 'Decimal':
      if (from === 'Float' && !to.digits) return decimalSql('duckdb', sql);
      return isNumeric(from) && !to.digits ? sql : plain;
    case 'Boolean':
      if (from === 'String') return textBoolean(`lower(trim(${sql}))`);
      return isNumeric(from) ? `(${sql} <> 0)` : plain;
    default:
      return plain;
  }
};

const casters: Record<Engine, Caster> = { postgres, mysql, sqlite, duckdb };

/** The SQL of a cast. `sql` may be printed several times. */
export const castSql = (engine: Engine, sql: string, from: Type, to: CastType): string => {
  if (from === 'Null') return `CAST(NULL AS ${typeNames[engine][to.type]})`;
  return casters[engine](sql, from, to);
};

const castByDeclaration: ReadonlySet<Type> = new Set(['String', 'Date', 'Time', 'DateTime', 'DateTimeTz']);

/** The SQL of an expression that is declared to be of `type`, for comparisons and results that depend on its form. */
export const declaredSql = (engine: Engine, sql: string, from: Type, type: Type): string => {
  // A moment that is declared to be a Date groups by days, and one without a zone is not read as one with a zone.
  if (engine === 'mysql' && type === 'Date' && from !== 'Date') return `CAST(${sql} AS DATE)`;
  if (engine === 'postgres' && from !== type && castByDeclaration.has(type))
    return `CAST(${sql} AS ${typeNames.postgres[type as CastType['type']]})`;
  if (engine === 'sqlite' && from !== type && Object.hasOwn(sqliteForms, type))
    return sqliteMoment(sql, from, type as keyof typeof sqliteForms);
  return sql;
};
