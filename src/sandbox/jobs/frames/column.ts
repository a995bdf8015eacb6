import { castText } from './cast.ts';
import { type FrameDatatype, fits, isAmbiguous, maxDecimalDigits } from './datatypes.ts';

/**
 * Origin of a text, which decides what the text may become: a cell of a CSV file can be anything; a number, a boolean
 * and a date are what their file says; a string of a JSON file may be a date, for which JSON has no type of its own;
 * text stays text.
 */
export type CellKind = 'cell' | 'number' | 'boolean' | 'string' | 'date' | 'text';

/** A cell that is not empty. */
export interface Cell {
  kind: CellKind;
  text: string;
}

const candidatesOf: Record<CellKind, readonly FrameDatatype[]> = {
  cell: ['Boolean', 'Integer', 'Decimal', 'Date', 'DateTime', 'DateTimeTz'],
  number: ['Integer', 'Decimal', 'Float'],
  boolean: ['Boolean'],
  string: ['Date', 'DateTime', 'DateTimeTz'],
  date: ['Date', 'DateTime'],
  text: [],
};

/**
 * Datatypes of a column if not all of its values are of the declared one, in the order of preference; else it is text.
 */
const declaredCandidates: Partial<Record<FrameDatatype, readonly FrameDatatype[]>> = {
  // A BIGINT of 19 digits is a whole number that only a Decimal holds.
  Integer: ['Integer', 'Decimal'],
  String: [],
};

/**
 * Returns whether all values of one datatype are also values of another. A date of a CSV file is no time: it stays
 * text.
 */
const widens = (from: FrameDatatype, to: FrameDatatype, kind: CellKind): boolean =>
  (from === 'Integer' && (to === 'Decimal' || to === 'Float')) ||
  (from === 'Decimal' && to === 'Float') ||
  (from === 'Date' && to === 'DateTime' && kind === 'date');

/** Infers the datatype of one column from all its values: the first candidate that fits each of them, else String. */
export class Column {
  readonly #asked: FrameDatatype | undefined;
  #kind: CellKind | undefined;
  #candidates: readonly FrameDatatype[] = [];
  #wholeDigits = 1;
  #fraction = 0;
  #values = 0;
  /** True if all its values can still be numbers or dates to a person, and whether one of them is ambiguous. */
  #looksTyped = true;
  #sawAmbiguous = false;

  constructor(asked?: FrameDatatype) {
    this.#asked = asked;
  }

  /** A column whose source says its datatype. It becomes text if a value is not of it. Add cells of `kind` only. */
  static declared(datatype: FrameDatatype, kind: CellKind): Column {
    const column = new Column();
    column.#kind = kind;
    column.#candidates = declaredCandidates[datatype] ?? [datatype];
    return column;
  }

  /** Returns the text of the value as it is read later; null if it is no value of the datatype that was asked for. */
  add({ kind, text }: Cell): string | null {
    if (this.#asked) return this.#addAsked(this.#asked, text);
    if (this.#kind === undefined) {
      this.#kind = kind;
      this.#candidates = candidatesOf[kind];
    }
    if (this.#kind !== kind) this.#candidates = [];
    // The first candidate fits all values so far; the others are tried when it fails.
    while (this.#candidates.length > 0 && !this.#fits(this.#candidates[0]!, text)) {
      const [failed, ...others] = this.#candidates;
      this.#candidates = this.#values === 0 ? others : others.filter((other) => widens(failed!, other, kind));
    }
    this.#values++;
    if (this.#candidates[0] === 'Integer' || this.#candidates[0] === 'Decimal') this.#measure(text);
    if (this.#candidates.length === 0 && this.#looksTyped) this.#look(kind, text);
    return text;
  }

  /** The datatype of all values; of a Decimal also its digits, and those after the point. */
  get result(): { datatype: FrameDatatype; precision: number; scale: number } {
    const precision = this.#wholeDigits + this.#fraction;
    const datatype = this.#asked ?? this.#candidates[0] ?? 'String';
    if (datatype !== 'Decimal' || precision <= maxDecimalDigits)
      return { datatype, precision, scale: this.#fraction };
    return { datatype: this.#candidates.includes('Float') ? 'Float' : 'String', precision: 0, scale: 0 };
  }

  /** True if no further value changes anything: the column is text, and no person takes it for numbers or dates. */
  get isText(): boolean {
    return this.#kind !== undefined && this.#candidates.length === 0 && !this.#looksTyped;
  }

  /** True if its values look like numbers or dates, and one of them can be read in two ways. */
  get isAmbiguous(): boolean {
    return this.#looksTyped && this.#sawAmbiguous;
  }

  #addAsked(asked: FrameDatatype, given: string): string | null {
    const text = castText(asked, given);
    if (text === null || asked !== 'Decimal') return text;
    this.#measure(text);
    return this.#wholeDigits + this.#fraction <= maxDecimalDigits ? text : null;
  }

  #look(kind: CellKind, text: string): void {
    if (kind === 'cell' && isAmbiguous(text)) this.#sawAmbiguous = true;
    else this.#looksTyped = kind === 'cell' && (fits.Decimal(text) || fits.Date(text));
  }

  #fits(datatype: FrameDatatype, text: string): boolean {
    if (this.#kind !== 'date') return fits[datatype](text);
    // Dates of spreadsheets always come with their time.
    return datatype === 'DateTime' || text.endsWith('T00:00:00.000');
  }

  #measure(text: string): void {
    const point = text.indexOf('.');
    const sign = text.startsWith('-') ? 1 : 0;
    this.#wholeDigits = Math.max(this.#wholeDigits, (point === -1 ? text.length : point) - sign);
    if (point !== -1) this.#fraction = Math.max(this.#fraction, text.length - point - 1);
  }
}
