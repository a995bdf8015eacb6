import { JobFault } from '../fault.ts';
import type { FrameWarning, StagedColumn } from './cells.ts';
import { Column } from './column.ts';
import type { FrameDatatype } from './datatypes.ts';

const maxColumns = 2_000;

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

/** The columns of a frame that is being made, with what is known of the values of each. */
export class Columns {
  readonly #asked: Record<string, FrameDatatype>;
  readonly #nameOf = namer();
  readonly #columns: { name: string; values: Column }[] = [];

  /** `asked`: datatypes by the names of their columns, instead of those that are inferred. */
  constructor(asked: Record<string, FrameDatatype>) {
    this.#asked = asked;
  }

  get length(): number {
    return this.#columns.length;
  }

  name(index: number): string {
    return this.#columns[index]!.name;
  }

  values(index: number): Column {
    return this.#columns[index]!.values;
  }

  /** The datatype that was asked for. */
  asked(name: string): FrameDatatype | undefined {
    return Object.hasOwn(this.#asked, name) ? this.#asked[name] : undefined;
  }

  /** Returns the index of the new column, whose datatype is inferred unless it is `declared`. */
  add(given: string, declared?: Column): number {
    if (this.length === maxColumns) {
      throw new JobFault('too_large', `there are more than ${maxColumns.toLocaleString('en')} columns`);
    }
    const name = this.#nameOf(given, this.length + 1);
    return this.#columns.push({ name, values: declared ?? new Column(this.asked(name)) }) - 1;
  }

  /** The columns when all values are seen. Throws JobFault if one that was asked for is not there, or there are none. */
  result(): { columns: StagedColumn[]; warnings: FrameWarning[] } {
    const names = this.#columns.map(({ name }) => name);
    for (const column of Object.keys(this.#asked)) {
      if (!names.includes(column))
        throw new JobFault('invalid_column', 'there is no such column', { column });
    }
    if (names.length === 0) throw new JobFault('unreadable', 'the file has no columns');
    return {
      columns: this.#columns.map(({ name, values }) => ({ name, ...values.result })),
      warnings: this.#columns
        .filter(({ values }) => values.isAmbiguous)
        .map(({ name }) => ({
          code: 'ambiguous_format',
          column: name,
          message: 'Its values look like numbers or dates that can be read in several ways. They stay text.',
        })),
    };
  }
}
