import { closeSync, openSync, writeSync } from 'node:fs';
import { JobFault } from '../fault.ts';
import type { Cell, Column } from './column.ts';
import { Columns } from './columns.ts';
import type { FrameDatatype } from './datatypes.ts';
import type { JsonRow } from './json.ts';

/** The file in which cells wait for DuckDB, in the folder of the job. */
export const cellsFile = 'cells.csv';

/** Cells are written to the file in chunks of about this many characters. */
const chunkLength = 1024 * 1024;

export interface FrameWarning {
  code: 'ambiguous_format' | 'bytes_left_out' | 'datatype_changed';
  column: string;
  message: string;
}

export interface StagedColumn {
  name: string;
  datatype: FrameDatatype;
  precision: number;
  scale: number;
}

export interface Staged {
  columns: StagedColumn[];
  truncated: boolean;
  warnings: FrameWarning[];
}

export interface StageOptions {
  /** Datatypes by the names of their columns, instead of those that are inferred. */
  asked: Record<string, FrameDatatype>;
  maxRows: number;
}

/**
 * Collects rows in a file of cells that DuckDB reads without guessing, and infers the datatype of each column from all
 * of its values. Every value is quoted, NULL is not, and a first cell keeps rows without values from being empty lines.
 */
export class Stage {
  readonly #maxRows: number;
  readonly #file = openSync(cellsFile, 'w', 0o600);
  readonly #columns: Columns;
  #rows = 0;
  #chunk = '';
  truncated = false;

  constructor({ asked, maxRows }: StageOptions) {
    this.#columns = new Columns(asked);
    this.#maxRows = maxRows;
  }

  get width(): number {
    return this.#columns.length;
  }

  /** Returns the index of the new column, whose datatype is inferred unless it is `declared`. */
  addColumn(given: string, declared?: Column): number {
    return this.#columns.add(given, declared);
  }

  /** Returns false if there are as many rows as there may be. */
  addRow(cells: readonly (Cell | null | undefined)[]): boolean {
    if (this.#rows === this.#maxRows) {
      this.truncated = true;
      return false;
    }
    this.#rows++;
    let line = '.';
    for (let index = 0; index < cells.length; index++) {
      const cell = cells[index];
      line += ',';
      if (!cell) continue;
      const text = this.#columns.values(index).add(cell);
      if (text === null) {
        const column = this.#columns.name(index);
        throw new JobFault(
          'invalid_column',
          `row ${this.#rows} has a value that is no ${this.#columns.asked(column)}`,
          { column },
        );
      }
      line += `"${text.includes('"') ? text.replaceAll('"', '""') : text}"`;
    }
    this.#chunk += `${line}\n`;
    if (this.#chunk.length > chunkLength) this.#flush();
    return true;
  }

  finish(): Staged {
    this.#flush();
    closeSync(this.#file);
    return { ...this.#columns.result(), truncated: this.truncated };
  }

  #flush(): void {
    writeSync(this.#file, this.#chunk);
    this.#chunk = '';
  }
}

/** Stages rows that are lists of cells. The first names the columns, if there is a header. */
export const stageLists = async (
  rows: Iterable<(Cell | null)[]> | AsyncIterable<(Cell | null)[]>,
  options: StageOptions & { header: boolean },
): Promise<Staged> => {
  const stage = new Stage(options);
  let number = 0;
  const add = (row: (Cell | null)[]): boolean => {
    number++;
    if (number === 1) {
      for (const cell of row) stage.addColumn(options.header ? (cell?.text ?? '') : '');
      if (options.header) return true;
    }
    if (row.length > stage.width) {
      throw new JobFault(
        'unreadable',
        `row ${number} has ${row.length} cells, the first row has ${stage.width}`,
      );
    }
    return stage.addRow(row);
  };
  if (Symbol.asyncIterator in rows) {
    for await (const row of rows) if (!add(row)) break;
  } else {
    // Not `for await`, which costs a microsecond a row.
    for (const row of rows) if (!add(row)) break;
  }
  return stage.finish();
};

/** Stages objects. A column is added when its key first appears. */
export const stageObjects = (rows: Iterable<JsonRow>, options: StageOptions): Staged => {
  const stage = new Stage(options);
  const indexes = new Map<string, number>();
  for (const row of rows) {
    const cells: (Cell | null)[] = [];
    for (const [key, cell] of row) {
      let index = indexes.get(key);
      if (index === undefined) {
        index = stage.addColumn(key);
        indexes.set(key, index);
      }
      cells[index] = cell;
    }
    if (!stage.addRow(cells)) break;
  }
  return stage.finish();
};
