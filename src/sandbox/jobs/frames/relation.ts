import type { DuckDBConnection } from '@duckdb/node-api';
import type { FrameWarning } from './cells.ts';
import { isWideInteger, quoteName, quoteText, type StoredColumn, storeColumn } from './values.ts';

/** A file in the folder of the job, as SQL text. */
export const fileText = (name: string): string => quoteText(`${process.cwd()}/${name}`);

export const queryRows = async (connection: DuckDBConnection, sql: string): Promise<unknown[][]> =>
  (await connection.runAndReadAll(sql)).getRowsJS();

export interface Relation {
  columns: StoredColumn[];
  /** Query that selects the columns as they are stored. */
  select: string;
  warnings: FrameWarning[];
}

/** The columns of a table or view, and how they are stored in a frame. */
export const describeRelation = async (connection: DuckDBConnection, name: string): Promise<Relation> => {
  const described = await queryRows(connection, `DESCRIBE ${name}`);
  const types = described.map(([column, type]) => [String(column), String(type)] as const);
  const wide = types.filter(([, type]) => isWideInteger(type)).map(([column]) => column);
  const fits = new Map<string, boolean>();
  if (wide.length > 0) {
    const checks = wide.map(
      (column) =>
        `coalesce(bool_and(${quoteName(column)} BETWEEN -999999999999999999 AND 999999999999999999), true)`,
    );
    const [row] = await queryRows(connection, `SELECT ${checks.join(', ')} FROM ${name}`);
    wide.forEach((column, index) => {
      fits.set(column, row![index] === true);
    });
  }
  const stored = types.map(([column, type]) => storeColumn(column, type, fits.get(column) ?? false));
  return {
    columns: stored.map(({ column }) => column),
    select: stored.map(({ expression }) => expression).join(', '),
    warnings: stored.flatMap(({ warning }) => warning ?? []),
  };
};

/** The file of the frame that a job makes. */
export const frameFile = 'frame.parquet';

/** Writes rows to `frame.parquet`. Returns how many. */
export const writeFrame = async (connection: DuckDBConnection, select: string): Promise<number> => {
  const [row] = await queryRows(
    connection,
    `COPY (${select}) TO ${fileText(frameFile)} (FORMAT parquet, COMPRESSION zstd)`,
  );
  return Number(row![0]);
};
