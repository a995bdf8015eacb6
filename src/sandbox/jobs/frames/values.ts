import type { FrameWarning } from './cells.ts';
import type { FrameDatatype } from './datatypes.ts';

export const quoteName = (name: string): string => `"${name.replaceAll('"', '""')}"`;
export const quoteText = (text: string): string => `'${text.replaceAll("'", "''")}'`;

/** A column of a frame: its datatype, and the type under which DuckDB stores it. */
export interface StoredColumn {
  name: string;
  datatype: FrameDatatype;
  type: string;
}

const storedAs: Record<string, [FrameDatatype, type: string]> = {
  BOOLEAN: ['Boolean', 'BOOLEAN'],
  TINYINT: ['Integer', 'BIGINT'],
  SMALLINT: ['Integer', 'BIGINT'],
  INTEGER: ['Integer', 'BIGINT'],
  BIGINT: ['Integer', 'BIGINT'],
  UTINYINT: ['Integer', 'BIGINT'],
  USMALLINT: ['Integer', 'BIGINT'],
  UINTEGER: ['Integer', 'BIGINT'],
  FLOAT: ['Float', 'DOUBLE'],
  DOUBLE: ['Float', 'DOUBLE'],
  DATE: ['Date', 'DATE'],
  TIME: ['Time', 'TIME'],
  TIMESTAMP: ['DateTime', 'TIMESTAMP'],
  TIMESTAMP_S: ['DateTime', 'TIMESTAMP'],
  TIMESTAMP_MS: ['DateTime', 'TIMESTAMP'],
  TIMESTAMP_NS: ['DateTime', 'TIMESTAMP'],
  'TIMESTAMP WITH TIME ZONE': ['DateTimeTz', 'TIMESTAMP WITH TIME ZONE'],
  VARCHAR: ['String', 'VARCHAR'],
};
const wideIntegers = ['UBIGINT', 'HUGEINT', 'UHUGEINT'];
const asText = /^(?:UUID|ENUM|INTERVAL|BIT|TIME WITH TIME ZONE|TIME_NS|BIGNUM|JSON|"NULL")/;

/**
 * Returns whether a type is one of integers that only their values show to be Integer or Decimal, such as that of a
 * sum.
 */
export const isWideInteger = (type: string): boolean => wideIntegers.includes(type);

/**
 * Returns the storage of a column of any type: the expression to select, and the column that it makes. `fitsInteger`
 * says of a wide integer whether all its values are Integers.
 */
export const storeColumn = (
  name: string,
  type: string,
  fitsInteger: boolean,
): { expression: string; column: StoredColumn; warning?: FrameWarning } => {
  const value = quoteName(name);
  const stored = (datatype: FrameDatatype, to: string, expression = `CAST(${value} AS ${to})`) => ({
    expression: `${expression} AS ${value}`,
    column: { name, datatype, type: to },
  });
  if (Object.hasOwn(storedAs, type)) return stored(...storedAs[type]!);
  if (type.startsWith('DECIMAL')) return stored('Decimal', type);
  if (isWideInteger(type)) {
    return fitsInteger ? stored('Integer', 'BIGINT') : stored('Decimal', 'DECIMAL(38,0)');
  }
  if (type === 'BLOB') {
    const message = 'Bytes are left out: the column is empty.';
    return {
      ...stored('String', 'VARCHAR', 'CAST(NULL AS VARCHAR)'),
      warning: { code: 'bytes_left_out', column: name, message },
    };
  }
  if (asText.test(type)) return stored('String', 'VARCHAR');
  return stored('String', 'VARCHAR', `CAST(to_json(${value}) AS VARCHAR)`);
};

const timeText = (value: string): string =>
  `regexp_replace(regexp_replace(strftime(${value}, '%Y-%m-%dT%H:%M:%S.%f'), '(\\.\\d*?)0+$', '\\1'), '\\.$', '')`;

/**
 * The text of a value that is no number, as answers show it: days `YYYY-MM-DD`, times with `T`, and with `Z` if they
 * have a zone.
 */
const textOf = ({ name, datatype }: StoredColumn): string => {
  const value = quoteName(name);
  if (datatype === 'DateTime') return timeText(value);
  if (datatype === 'DateTimeTz') return `${timeText(value)} || 'Z'`;
  return datatype === 'String' ? value : `CAST(${value} AS VARCHAR)`;
};

/**
 * The JSON of a value, as every answer shows it. An Integer beyond 2^53 and a Decimal that a double cannot hold are
 * strings of their digits; what is no number (NaN, infinity) is null. Texts are cut to `maxCharacters`.
 *
 * JSON has the shortest digits of a double, and -2^63 ends in 776000 there: so it is these that must be the Decimal.
 */
export const jsonOf = (column: StoredColumn, maxCharacters?: number): string => {
  const value = quoteName(column.name);
  const digits = `to_json(CAST(${value} AS VARCHAR))`;
  switch (column.datatype) {
    case 'Boolean':
      return `to_json(${value})`;
    case 'Integer':
      return `CASE WHEN ${value} BETWEEN -9007199254740991 AND 9007199254740991 THEN to_json(${value}) ELSE ${digits} END`;
    case 'Decimal':
      return `CASE WHEN TRY_CAST(CAST(CAST(${value} AS DOUBLE) AS VARCHAR) AS ${column.type}) = ${value} THEN to_json(CAST(${value} AS DOUBLE)) ELSE ${digits} END`;
    case 'Float':
      return `CASE WHEN isfinite(${value}) THEN to_json(${value}) END`;
    case 'String':
      return `to_json(${maxCharacters === undefined ? value : `left(${value}, ${maxCharacters})`})`;
    default:
      return `to_json(${textOf(column)})`;
  }
};

/** Beginning of a formula for spreadsheets. */
const formula = /^[=+\-@\t\r]/;

/** A name as the header of a CSV file. */
export const csvName = (name: string, spreadsheetSafe: boolean): string =>
  spreadsheetSafe && formula.test(name) ? `'${name}` : name;

/** The text of a value in a CSV file. A Decimal keeps its zeros, so that it is read again as a Decimal. */
export const csvOf = (column: StoredColumn, spreadsheetSafe: boolean): string => {
  const value = quoteName(column.name);
  if (column.datatype === 'Float') return `CASE WHEN isfinite(${value}) THEN CAST(${value} AS VARCHAR) END`;
  if (column.datatype !== 'String' || !spreadsheetSafe) return textOf(column);
  return `CASE WHEN regexp_matches(${value}, '^[=+\\-@\\t\\r]') THEN '''' || ${value} ELSE ${value} END`;
};
