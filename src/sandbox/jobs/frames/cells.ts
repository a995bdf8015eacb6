import { closeSync, openSync, writeSync } from 'node:fs';
import { JobFault } from '../fault.ts';
import { type Cell, Column } from './column.ts';
import type { FrameDatatype } from './datatypes.ts';
import type { JsonRow } from './json.ts';

/** The file in which cells wait for DuckDB, in the folder of the job. */
export const cellsFile = 'cells.csv';

const maxColumns = 2_000;
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

/** Names columns as they come: without a name `column_n`, and no two alike for SQL, which ignores case. */
const namer = () => {
  const taken = new Set<string>();
  return (given: string, number: number): string => {
    const wanted = given.replaceAll(/\p{Cc}+/gu, ' ').trim() || `column_${number}`;
    let name = wanted;
    for (let suffix = 2; taken.has(name.toLowerCase()); suffix++) name = `${wanted}_${suffix}`;
    taken.add(name.toLowerCase());
    return name;
  };
};

/**
 * Collects rows in a file of cells that DuckDB reads without guessing, and infers the datatype of each column from all
 * of its values. Every value is quoted, NULL is not, and a first cell keeps rows without values from being empty lines.
 */
export class Stage {
  readonly #options: StageOptions;
  readonly #file = openSync(cellsFile, 'w', 0o600);
  readonly #nameOf = namer();
  readonly #columns: { name: string; values: Column }[] = [];
  #rows = 0;
  #chunk = '';
  truncated = false;

  constructor(options: StageOptions) {
    this.#options = options;
  }

  get width(): number {
    return this.#columns.length;
  }

  /** Returns the index of the new column, whose datatype is inferred unless it is `declared`. */
  addColumn(given: string, declared?: Column): number {
    if (this.#columns.length === maxColumns) {
      throw new JobFault('too_large', `there are more than ${maxColumns.toLocaleString('en')} columns`);
    }
    const name = this.#nameOf(given, this.#columns.length + 1);
    const asked = Object.hasOwn(this.#options.asked, name) ? this.#options.asked[name] : undefined;
    return this.#columns.push({ name, values: declared ?? new Column(asked) }) - 1;
  }

  /** Returns false if there are as many rows as there may be. */
  addRow(cells: readonly (Cell | null | undefined)[]): boolean {
    if (this.#rows === this.#options.maxRows) {
      this.truncated = true;
      return false;
    }
    this.#rows++;
    let line = '.';
    for (let index = 0; index < cells.length; index++) {
      const cell = cells[index];
      line += ',';
      if (!cell) continue;
      const { name, values } = this.#columns[index]!;
      const text = values.add(cell);
      if (text === null) {
        throw new JobFault(
          'invalid_column',
          `row ${this.#rows} has a value that is no ${this.#options.asked[name]}`,
          {
            column: name,
          },
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
    const names = this.#columns.map(({ name }) => name);
    for (const column of Object.keys(this.#options.asked)) {
      if (!names.includes(column))
        throw new JobFault('invalid_column', 'there is no such column', { column });
    }
    if (names.length === 0) throw new JobFault('unreadable', 'the file has no columns');
    return {
      columns: this.#columns.map(({ name, values }) => ({ name, ...values.result })),
      truncated: this.truncated,
      warnings: this.#columns
        .filter(({ values }) => values.isAmbiguous)
        .map(({ name }) => ({
          code: 'ambiguous_format',
          column: name,
          message: 'Its values look like numbers or dates that can be read in several ways. They stay text.',
        })),
    };
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
  for await (const row of rows) {
    number++;
    if (number === 1) {
      for (const cell of row) stage.addColumn(options.header ? (cell?.text ?? '') : '');
      if (options.header) continue;
    }
    if (row.length > stage.width) {
      throw new JobFault(
        'unreadable',
        `row ${number} has ${row.length} cells, the first row has ${stage.width}`,
      );
    }
    if (!stage.addRow(row)) break;
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
