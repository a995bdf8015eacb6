import type { DuckDBConnection } from '@duckdb/node-api';
import { JobFault } from '../fault.ts';
import { beginsWithMark, readTextFile } from '../text-file.ts';
import {
  cellsFile,
  type FrameWarning,
  type Staged,
  type StagedColumn,
  stageLists,
  stageObjects,
} from './cells.ts';
import { readCsv } from './csv.ts';
import type { FrameDatatype } from './datatypes.ts';
import { readJson, readNdjson } from './json.ts';
import { type PlainCsv, readPlainCsv } from './plain-csv.ts';
import { describeRelation, fileText, queryRows, writeFrame } from './relation.ts';
import { quoteName, quoteText } from './values.ts';

type FrameFormat = 'csv' | 'tsv' | 'json' | 'ndjson' | 'xlsx' | 'parquet';

/** Reads the file `source` of the job's folder into `frame.parquet`. */
export interface FrameReadInput {
  format: FrameFormat;
  /** Sheet of a spreadsheet: the first unless given. */
  sheet?: string;
  /** True if the first row names the columns (CSV, TSV and spreadsheets). */
  header: boolean;
  /** Datatypes by the names of their columns, instead of those that are inferred. */
  columns: Record<string, FrameDatatype>;
  maxRows: number;
}

export interface FrameMade {
  columns: { name: string; datatype: FrameDatatype }[];
  row_count: number;
  /** The rows beyond `maxRows` are left out. */
  truncated: boolean;
  warnings: FrameWarning[];
}

const source = 'source';

const stage = async (format: 'json' | 'ndjson' | 'xlsx', input: FrameReadInput): Promise<Staged> => {
  const options = { asked: input.columns, maxRows: input.maxRows, header: input.header };
  if (format === 'json') return stageObjects(readJson(readTextFile(source)), options);
  if (format === 'ndjson') return stageObjects(readNdjson(readTextFile(source)), options);
  // Loaded here: its library takes a third as long to load as DuckDB, and few jobs need it.
  const { readSpreadsheet } = await import('./spreadsheet.ts');
  return stageLists(readSpreadsheet(source, input.sheet), options);
};

/** The expression that makes a staged text the value of its column. */
const typed = ({ datatype, precision, scale }: StagedColumn, cell: string): string => {
  switch (datatype) {
    case 'Boolean':
      return `lower(${cell}) = 'true'`;
    case 'Integer':
      return `CAST(${cell} AS BIGINT)`;
    case 'Decimal':
      return `CAST(${cell} AS DECIMAL(${precision}, ${scale}))`;
    case 'Float':
      return `CAST(${cell} AS DOUBLE)`;
    case 'Date':
      // Dates of spreadsheets are staged with their time.
      return `CAST(left(${cell}, 10) AS DATE)`;
    case 'Time':
      return `CAST(${cell} AS TIME)`;
    case 'DateTime':
      return `CAST(${cell} AS TIMESTAMP)`;
    case 'DateTimeTz':
      // DuckDB does not read `+0530`.
      return `CAST(regexp_replace(${cell}, '([+-]\\d\\d)(\\d\\d)$', '\\1:\\2') AS TIMESTAMPTZ)`;
    case 'String':
      return cell;
  }
};

/** The largest row in bytes, and DuckDB's buffer, which must hold it. */
const maxRowBytes = 16 * 1024 * 1024;

/** A column of DuckDB's reader for each of a frame: texts, whose names are ours. */
const cellsOf = (columns: StagedColumn[]): string[] => columns.map((_column, index) => `c${index}`);

/** Writes the frame of the cells in `file`. Returns how many rows it has. */
const writeTyped = (
  connection: DuckDBConnection,
  columns: StagedColumn[],
  { file, options, extra }: { file: string; options: string; extra: string[] },
): Promise<number> => {
  const cells = cellsOf(columns);
  const types = [...extra, ...cells].map((cell) => `${cell}: 'VARCHAR'`).join(', ');
  const select = columns.map(
    (column, index) => `${typed(column, cells[index]!)} AS ${quoteName(column.name)}`,
  );
  return writeFrame(
    connection,
    `SELECT ${select.join(', ')} FROM read_csv(${fileText(file)}, auto_detect = false, new_line = '\\n',
      null_padding = true, max_line_size = ${maxRowBytes}, ${options}, columns = {${types}})`,
  );
};

const madeOf = ({ columns, truncated, warnings }: Staged, rowCount: number): FrameMade => ({
  columns: columns.map(({ name, datatype }) => ({ name, datatype })),
  row_count: rowCount,
  truncated,
  warnings,
});

/** Makes the frame of the cells that were staged. */
export const writeCells = async (connection: DuckDBConnection, staged: Staged): Promise<FrameMade> => {
  const rowCount = await writeTyped(connection, staged.columns, {
    file: cellsFile,
    options: `header = false, delim = ',', quote = '"', escape = '"', allow_quoted_nulls = false, parallel = false`,
    extra: ['row'],
  }).catch((error: Error) => {
    if (!/Maximum line size/.test(error.message)) throw error;
    throw new JobFault('too_large', `a row has more than ${maxRowBytes / 1024 / 1024} MB`);
  });
  return madeOf(staged, rowCount);
};

/**
 * Makes the frame of a plain CSV file, which DuckDB reads itself. Null if it sees other rows than we do: then what we
 * see holds.
 */
const writePlain = async (
  connection: DuckDBConnection,
  plain: PlainCsv,
  header: boolean,
): Promise<FrameMade | null> => {
  const rowCount = await writeTyped(connection, plain.columns, {
    file: source,
    options: `header = ${header}, delim = ${quoteText(plain.separator)}, quote = '', escape = ''`,
    extra: [],
  }).catch((error: Error) => {
    if (/^(?:Failed to [a-z ]+: )?Out of Memory/.test(error.message)) throw error;
    return null;
  });
  return rowCount === plain.rows ? madeOf(plain, rowCount) : null;
};

const readText = async (
  connection: DuckDBConnection,
  format: 'csv' | 'tsv',
  input: FrameReadInput,
): Promise<FrameMade> => {
  const options = { asked: input.columns, maxRows: input.maxRows, header: input.header };
  const given = format === 'tsv' ? '\t' : undefined;
  const text = readTextFile(source);
  const plain = beginsWithMark(source) ? null : readPlainCsv(text, given, options);
  const made = plain && (await writePlain(connection, plain, input.header));
  return made ?? writeCells(connection, await stageLists(readCsv(text, given), options));
};

/** A Parquet file has types of its own. */
const readParquet = async (connection: DuckDBConnection, input: FrameReadInput): Promise<FrameMade> => {
  const unreadable = () => new JobFault('unreadable', 'the file is not a Parquet file that can be read');
  const [column] = Object.keys(input.columns);
  if (column !== undefined) {
    throw new JobFault('invalid_column', 'the columns of a Parquet file have their datatypes', { column });
  }
  const parquet = `CREATE VIEW source AS SELECT * FROM read_parquet(${fileText(source)})`;
  await connection.run(parquet).catch((error: Error) => {
    throw /encrypt/i.test(error.message) ? new JobFault('encrypted', 'the file is encrypted') : unreadable();
  });
  try {
    const { columns, select, warnings } = await describeRelation(connection, 'source');
    const [row] = await queryRows(connection, 'SELECT count(*) FROM source');
    const rowCount = await writeFrame(connection, `SELECT ${select} FROM source LIMIT ${input.maxRows}`);
    return {
      columns: columns.map(({ name, datatype }) => ({ name, datatype })),
      row_count: rowCount,
      truncated: Number(row![0]) > input.maxRows,
      warnings,
    };
  } catch (error) {
    if (error instanceof Error && /^Out of Memory Error/.test(error.message)) throw error;
    throw unreadable();
  }
};

/** Makes a frame of a file. Its types are inferred from all values, except in a Parquet file. */
export const readFrame = async (connection: DuckDBConnection, input: FrameReadInput): Promise<FrameMade> => {
  const { format } = input;
  if (format === 'parquet') return readParquet(connection, input);
  if (format === 'csv' || format === 'tsv') return readText(connection, format, input);
  return writeCells(connection, await stage(format, input));
};
