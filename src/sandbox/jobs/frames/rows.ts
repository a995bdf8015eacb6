import { closeSync, openSync, readSync } from 'node:fs';
import { StringDecoder } from 'node:string_decoder';
import type { DuckDBConnection } from '@duckdb/node-api';
import { JobFault } from '../fault.ts';
import { type FrameWarning, Stage } from './cells.ts';
import { type Cell, type CellKind, Column } from './column.ts';
import type { FrameDatatype } from './datatypes.ts';
import { type FrameMade, writeCells } from './read.ts';

/** The file of the rows, in the folder of the job: a line of JSON for each, a list of its values. */
const rowsFile = 'rows';

/** Makes `frame.parquet` of the rows that a query gave. */
export interface FrameOfRowsInput {
  columns: { name: string; datatype: FrameDatatype }[];
}

const kindOf: Record<FrameDatatype, CellKind> = {
  Boolean: 'boolean',
  Integer: 'number',
  Decimal: 'number',
  Float: 'number',
  Date: 'string',
  Time: 'string',
  DateTime: 'string',
  DateTimeTz: 'string',
  String: 'text',
};

const readBytes = 1024 * 1024;

/** The lines of a file that may be longer than the longest string. */
function* linesOf(path: string): Generator<string> {
  const file = openSync(path, 'r');
  const decoder = new StringDecoder('utf8');
  const chunk = Buffer.allocUnsafe(readBytes);
  let rest = '';
  for (let size = readSync(file, chunk); size > 0; size = readSync(file, chunk)) {
    const lines = (rest + decoder.write(chunk.subarray(0, size))).split('\n');
    rest = lines.pop()!;
    yield* lines;
  }
  closeSync(file);
}

const cellOf = (value: string | number | boolean | null, kind: CellKind): Cell | null =>
  value === null ? null : { kind, text: String(value) };

/**
 * Returns whether the values of a column are no longer of the datatype that the query gave it. An Integer is also a
 * Decimal.
 */
const isChanged = (from: FrameDatatype, to: FrameDatatype): boolean => from !== to && to === 'String';

/**
 * Makes a frame of rows whose datatypes are known. A column with a value that is not of its datatype, such as the date
 * `infinity` of PostgreSQL or any text in a SQLite column, becomes text and has a warning.
 */
export const frameOfRows = async (
  connection: DuckDBConnection,
  { columns }: FrameOfRowsInput,
): Promise<FrameMade> => {
  if (columns.length === 0) throw new JobFault('unreadable', 'there are no columns');
  const stage = new Stage({ asked: {}, maxRows: Number.POSITIVE_INFINITY });
  const kinds = columns.map(({ datatype }) => kindOf[datatype]);
  for (const [i, { name, datatype }] of columns.entries()) {
    stage.addColumn(name, Column.declared(datatype, kinds[i]!));
  }
  for (const line of linesOf(rowsFile)) {
    const values = JSON.parse(line) as (string | number | boolean | null)[];
    stage.addRow(values.map((value, i) => cellOf(value, kinds[i]!)));
  }
  const made = await writeCells(connection, stage.finish());
  const changed = made.columns.flatMap(({ name, datatype }, i): FrameWarning[] => {
    const { datatype: from } = columns[i]!;
    if (!isChanged(from, datatype)) return [];
    return [
      {
        code: 'datatype_changed',
        column: name,
        message: `Not every value is a ${from}: the column is text.`,
      },
    ];
  });
  return { ...made, warnings: [...made.warnings, ...changed] };
};
