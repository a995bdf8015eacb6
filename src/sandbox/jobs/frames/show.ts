import { BIGINT, BOOLEAN, DOUBLE, type DuckDBConnection, type DuckDBType, VARCHAR } from '@duckdb/node-api';
import { JobFault } from '../fault.ts';
import type { FrameDatatype } from './datatypes.ts';
import type { FrameMade } from './read.ts';
import { describeRelation, fileText, frameFile, writeFrame } from './relation.ts';
import { csvName, csvOf, jsonOf, quoteName, type StoredColumn } from './values.ts';

type FrameValue = string | number | boolean | null;

export interface AnswerLimits {
  /** Texts are cut after this many characters. */
  maxCharacters: number;
  /** Rows end when their JSON has this many bytes. */
  maxBytes: number;
}

/** Reads rows of a frame. */
export interface FrameRowsInput extends AnswerLimits {
  /** The file in the folder of the job. */
  file: string;
  /** Columns in the order to show; all if null. */
  columns: string[] | null;
  order: { column: string; descending: boolean }[];
  limit: number;
  offset: number;
}

export interface FrameRows {
  columns: { name: string; datatype: FrameDatatype }[];
  rows: FrameValue[][];
  /** Rows were left out because of `maxBytes`. */
  truncated: boolean;
  /** A text was cut. */
  cut: boolean;
}

/** Writes `frame.parquet` to the file `content`. */
export interface FrameExportInput {
  format: 'csv' | 'json' | 'ndjson';
  /** Puts `'` before text that a spreadsheet would take for a formula. */
  spreadsheetSafe: boolean;
}

type FrameParameter = string | number | boolean | null | { integer: string };

/** Runs one SELECT over frames. With `saveRows` its result is also written to `frame.parquet`. */
export interface FrameQueryInput extends AnswerLimits {
  sql: string;
  parameters: FrameParameter[];
  /** The files in the folder of the job, by the names of their tables. */
  tables: Record<string, string>;
  limit: number;
  /** Number of rows that a saved frame may have; null: none is saved. */
  saveRows: number | null;
}

/** A frame that was made, with its first rows. */
export type FrameKept = FrameMade & { head: FrameValue[][] };

/** `truncated`: there are more rows than `limit` or `maxBytes` allow. */
export type FrameAnswer = FrameRows & { saved: FrameKept | null };

/** Not the name of a frame, which a query may use in the same job. */
const frameView = 'main."the frame"';

const nameAndDatatype = ({ name, datatype }: StoredColumn) => ({ name, datatype });

/** The rows that `from` selects, as values of JSON. */
const answer = async (
  connection: DuckDBConnection,
  columns: StoredColumn[],
  from: string,
  { maxCharacters, maxBytes }: AnswerLimits,
): Promise<Omit<FrameRows, 'columns'>> => {
  // Reads one character more, to see that a text is cut.
  const values = columns.map((column) => jsonOf(column, maxCharacters + 1));
  const result = await connection.stream(
    `SELECT CAST(json_array(${values.join(', ')}) AS VARCHAR) FROM ${from}`,
  );
  const rows: FrameValue[][] = [];
  let [bytes, cut] = [0, false];
  for await (const chunk of result.yieldRowsJs()) {
    for (const [text] of chunk as [string][]) {
      bytes += Buffer.byteLength(text) + 1;
      if (bytes > maxBytes) return { rows, truncated: true, cut };
      const row = JSON.parse(text) as FrameValue[];
      rows.push(
        row.map((value) => {
          if (typeof value !== 'string' || value.length <= maxCharacters) return value;
          const characters = [...value];
          if (characters.length <= maxCharacters) return value;
          cut = true;
          return characters.slice(0, maxCharacters).join('');
        }),
      );
    }
  }
  return { rows, truncated: false, cut };
};

export const readRows = async (connection: DuckDBConnection, input: FrameRowsInput): Promise<FrameRows> => {
  const { file, limit, offset, order } = input;
  await connection.run(`CREATE VIEW ${frameView} AS SELECT * FROM read_parquet(${fileText(file)})`);
  const { columns: all } = await describeRelation(connection, frameView);
  const columns = (input.columns ?? all.map(({ name }) => name)).map((name) => {
    const found = all.find((column) => column.name === name);
    if (!found) throw new JobFault('invalid_column', 'there is no such column', { column: name });
    return found;
  });
  const keys = order.map(
    ({ column, descending }) => `${quoteName(column)} ${descending ? 'DESC' : 'ASC'} NULLS LAST`,
  );
  // Rows that are equal in the order stay in that of the file, so that pages do not overlap.
  const ordered = keys.length > 0 ? `ORDER BY ${[...keys, 'file_row_number'].join(', ')}` : '';
  const source = `read_parquet(${fileText(file)}${keys.length > 0 ? ', file_row_number = true' : ''})`;
  const page = `(SELECT * FROM ${source} ${ordered} LIMIT ${limit} OFFSET ${offset})`;
  return { columns: columns.map(nameAndDatatype), ...(await answer(connection, columns, page, input)) };
};

/** The most rows, and bytes, that are kept beside a frame. A page of them needs no process. */
const mostHeadRows = 1_000;
const mostHeadBytes = 256 * 1024;

/** The first rows of the frame that was just made, as a page shows them. */
export const headOf = async (
  connection: DuckDBConnection,
  { maxCharacters }: Pick<AnswerLimits, 'maxCharacters'>,
): Promise<FrameValue[][]> => {
  const limits = { maxCharacters, maxBytes: mostHeadBytes };
  const page = { file: frameFile, columns: null, order: [], limit: mostHeadRows, offset: 0, ...limits };
  return (await readRows(connection, page)).rows;
};

export const exportFrame = async (
  connection: DuckDBConnection,
  { format, spreadsheetSafe }: FrameExportInput,
): Promise<null> => {
  await connection.run(`CREATE VIEW ${frameView} AS SELECT * FROM read_parquet(${fileText(frameFile)})`);
  const { columns } = await describeRelation(connection, frameView);
  const select = columns.map((column) =>
    format === 'csv'
      ? `${csvOf(column, spreadsheetSafe)} AS ${quoteName(csvName(column.name, spreadsheetSafe))}`
      : `${jsonOf(column)} AS ${quoteName(column.name)}`,
  );
  const how = { csv: 'FORMAT csv, HEADER true', json: 'FORMAT json, ARRAY true', ndjson: 'FORMAT json' }[
    format
  ];
  await connection.run(
    `COPY (SELECT ${select.join(', ')} FROM ${frameView}) TO ${fileText('content')} (${how})`,
  );
  return null;
};

const bound = (
  parameter: FrameParameter,
): [value: string | number | bigint | boolean | null, type: DuckDBType] => {
  if (typeof parameter === 'boolean') return [parameter, BOOLEAN];
  if (typeof parameter === 'number') {
    return Number.isSafeInteger(parameter) ? [BigInt(parameter), BIGINT] : [parameter, DOUBLE];
  }
  if (parameter === null || typeof parameter === 'string') return [parameter, VARCHAR];
  return [BigInt(parameter.integer), BIGINT];
};

/** The table of what a query gave. */
const resultTable = `main."result of the query"`;

export const queryFrames = async (
  connection: DuckDBConnection,
  input: FrameQueryInput,
): Promise<FrameAnswer> => {
  const { sql, parameters, tables, limit, saveRows } = input;
  for (const [name, file] of Object.entries(tables)) {
    await connection.run(`CREATE VIEW ${quoteName(name)} AS SELECT * FROM read_parquet(${fileText(file)})`);
  }
  const values = parameters.map(bound);
  // One row more than is needed, to see that there are more.
  const needed = Math.max(limit, saveRows ?? 0) + 1;
  const created = await connection.runAndReadAll(
    `CREATE TABLE ${resultTable} AS SELECT * FROM (${sql}) LIMIT ${needed}`,
    values.map(([value]) => value),
    values.map(([, type]) => type),
  );
  const { columns, select, warnings } = await describeRelation(connection, resultTable);
  const count = Number(created.getRowsJS()[0]![0]);
  const shown = `(SELECT ${select} FROM ${resultTable} LIMIT ${limit})`;
  const { rows, truncated, cut } = await answer(connection, columns, shown, input);
  const saved =
    saveRows === null
      ? null
      : await writeFrame(connection, `SELECT ${select} FROM ${resultTable} LIMIT ${saveRows}`);
  return {
    columns: columns.map(nameAndDatatype),
    rows,
    truncated: truncated || count > limit,
    cut,
    saved:
      saved === null
        ? null
        : {
            columns: columns.map(nameAndDatatype),
            row_count: saved,
            truncated: count > saved,
            warnings,
            head: await headOf(connection, input),
          },
  };
};
