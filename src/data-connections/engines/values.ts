import type { Datatype } from '@agent-platform/sql';
import { NotTaken, QueryFailure } from './failures.ts';

export type { Datatype };

export type Value = string | number | boolean | null;

export interface Column {
  name: string;
  datatype: Datatype;
}

export interface Warning {
  code: string;
  message: string;
}

/** The result of a query. */
export interface Rows {
  columns: Column[];
  rows: Value[][];
  /** There are more rows than the limit, or than 10 MB hold. */
  truncated: boolean;
  warnings: Warning[];
}

/** Takes a batch of rows. */
export type OnRows = (rows: Value[][]) => Promise<void>;

/** A batch is full when it has this many rows, or about this many bytes of JSON. */
const batchRows = 1_000;
const batchBytes = 1024 * 1024;

const defaultMaxCharacters = 10_000;
const maxBytes = 10 * 1024 * 1024;

/** The digits of a number as they would be printed shortest: `012.50e0` is no input. */
const canonical = (text: string): string => {
  const [, sign = '', whole = '', fraction = ''] = /^([+-]?)0*(\d*)(?:\.(\d*?)0*)?$/.exec(text) ?? [];
  const digits = `${whole || '0'}${fraction === '' ? '' : `.${fraction}`}`;
  return sign === '-' && digits !== '0' ? `-${digits}` : digits;
};

/** The number that a double holds to the digit, else the text. Null for NaN and infinity. */
const decimal = (text: string): Value => {
  if (/^(NaN|[+-]?Infinity)$/i.test(text)) return null;
  if (!/^[+-]?(\d+\.?\d*|\.\d+)$/.test(text)) return text;
  const number = Number(text);
  // From 1e21 and below 1e-6 on, a double is printed with an exponent: such decimals stay text.
  return String(number) === canonical(text) ? number : text;
};

const integer = (value: string | number | bigint): Value => {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : String(value);
};

const float = (value: unknown): Value => {
  const number = Number(value);
  return Number.isFinite(number) ? number : null;
};

/** `2026-01-31 08:00:00.500000+00` as `2026-01-31T08:00:00.5`. What is no date and time stays as it is. */
const dateTime = (text: string, zone: '' | 'Z'): string => {
  const match = /^(\d{4,}-\d\d-\d\d)[ T](\d\d:\d\d(?::\d\d)?)(?:(\.\d*?)0*)?(?:Z|[+-]00(?::?00)?)?$/.exec(
    text,
  );
  if (!match) return text;
  const [, date, time, fraction = ''] = match;
  return `${date}T${time!.length === 5 ? `${time}:00` : time}${fraction === '.' ? '' : fraction}${zone}`;
};

/** `08:30:00.500000` as `08:30:00.5`, `08:30` as `08:30:00`. What is no time stays as it is. */
const timeOfDay = (text: string): string =>
  text.replace(
    /^(-?\d+:\d\d)(:\d\d)?(?:(\.\d*?)0*)?(?=[+-]|$)/,
    (_, minutes, seconds = ':00', fraction = '') => `${minutes}${seconds}${fraction === '.' ? '' : fraction}`,
  );

/** MySQL keeps `0000-00-00` and `2026-01-00` where its mode allows them. */
const isNoDay = (text: string): boolean => /^(?:0000-|\d{4}-00-|\d{4}-\d\d-00)/.test(text);

const boolean = (value: unknown): Value => {
  if (value === 't' || value === 'true' || value === true) return true;
  if (value === 'f' || value === 'false' || value === false) return false;
  // A BIT of MySQL.
  if (Buffer.isBuffer(value)) return value.some((byte) => byte !== 0);
  const number = Number(value);
  return Number.isNaN(number) ? null : number !== 0;
};

const cut = (text: string, max: number): string => {
  if (text.length <= max) return text;
  const shorter = text.slice(0, max);
  return shorter.isWellFormed() ? shorter : shorter.slice(0, -1);
};

/** Collects rows as an answer has them, until there are enough. */
export class RowCollector {
  readonly #columns: Column[];
  /** Datatypes that the query declares; the others are as the database says. */
  readonly #declared: readonly (Datatype | null)[];
  readonly #limit: number;
  readonly #maxCharacters: number;
  readonly #onRows: OnRows | undefined;
  #rows: Value[][] = [];
  #count = 0;
  readonly #warnings = new Map<string, Warning>();
  #bytes = 0;
  #truncated = false;

  constructor(
    columns: readonly Column[],
    given: {
      limit: number;
      datatypes?: readonly (Datatype | null)[] | undefined;
      maxCharacters?: number | undefined;
      onRows?: OnRows | undefined;
    },
  ) {
    this.#onRows = given.onRows;
    this.#declared = given.datatypes ?? [];
    this.#columns = columns.map(({ name, datatype }, i) => ({
      name,
      datatype: given.datatypes?.[i] ?? datatype,
    }));
    this.#limit = given.limit;
    this.#maxCharacters = given.maxCharacters ?? defaultMaxCharacters;
  }

  /** Adds a row as the driver gave it. Returns false if no more rows are needed. */
  add(row: readonly unknown[]): boolean {
    if (this.#truncated) return false;
    if (this.#count >= this.#limit) {
      this.#truncated = true;
      return false;
    }
    const values = this.#columns.map((_column, i) => this.#valueOf(row[i], i));
    this.#bytes += 2 + values.reduce((sum: number, value) => sum + 1 + bytesOf(value), 0);
    if (!this.#onRows && this.#bytes > maxBytes) {
      this.#truncated = true;
      return false;
    }
    this.#rows.push(values);
    this.#count++;
    return true;
  }

  get hasBatch(): boolean {
    return this.#onRows !== undefined && (this.#rows.length >= batchRows || this.#bytes >= batchBytes);
  }

  /** Hands the rows over to who takes them in batches. Rejects with NotTaken. */
  async handOver(): Promise<void> {
    if (!this.#onRows || this.#rows.length === 0) return;
    const rows = this.#rows;
    this.#rows = [];
    this.#bytes = 0;
    await this.#onRows(rows).catch((error: unknown) => {
      throw new NotTaken(error);
    });
  }

  /** The column with this number holds bytes that did not come. */
  leftOut(column: number): void {
    const { name } = this.#columns[column]!;
    this.#warn('bytes_left_out', name, `${name} holds bytes, which are shown as null.`);
  }

  result(): Rows {
    return {
      columns: this.#columns,
      rows: this.#rows,
      truncated: this.#truncated,
      warnings: [...this.#warnings.values()],
    };
  }

  #valueOf(raw: unknown, column: number): Value {
    const { name, datatype } = this.#columns[column]!;
    if (raw === null || raw === undefined) return null;
    if (datatype === 'Boolean') return boolean(raw);
    // A geometry comes as an object of the driver.
    if (typeof raw === 'object') return this.#bytesValue(raw, column);
    if (typeof raw === 'boolean') return raw;
    const text = String(raw);
    switch (datatype) {
      case 'Integer':
        // SQLite goes on with doubles where whole numbers are too large for it.
        if (this.#declared[column] === 'Integer' && Number.isInteger(raw) && !Number.isSafeInteger(raw)) {
          throw new QueryFailure(
            'query_failed',
            `${name} is a whole number that is too large for the database.`,
          );
        }
        return /^-?\d+$/.test(text) ? integer(text) : this.#text(text, name);
      case 'Decimal':
        return typeof raw === 'number' ? float(raw) : decimal(text);
      case 'Float':
        return float(raw);
      case 'Date':
        if (isNoDay(text)) return this.#noDay(name);
        return /^\d{4}-\d\d-\d\d[ T]/.test(text) ? text.slice(0, 10) : text;
      case 'DateTime':
        return isNoDay(text) ? this.#noDay(name) : dateTime(text, '');
      case 'DateTimeTz':
        return isNoDay(text) ? this.#noDay(name) : dateTime(text, 'Z');
      case 'Time':
        return timeOfDay(text);
      default:
        return typeof raw === 'number' ? float(raw) : this.#text(text, name);
    }
  }

  #noDay(name: string): null {
    this.#warn(
      'invalid_date',
      name,
      `${name} holds dates without a year, month or day, which are shown as null.`,
    );
    return null;
  }

  #text(text: string, name: string): string {
    const shown = cut(text, this.#maxCharacters);
    if (shown !== text) {
      this.#warn('text_cut', name, `Texts of ${name} are cut after ${this.#maxCharacters} characters.`);
    }
    return shown;
  }

  /** A text may come as bytes if the engine does not know its character set. */
  #bytesValue(bytes: object, column: number): Value {
    const { name, datatype } = this.#columns[column]!;
    if (datatype === 'String' && bytes instanceof Uint8Array) {
      try {
        return this.#text(new TextDecoder('utf-8', { fatal: true }).decode(bytes), name);
      } catch {
        // Not a text.
      }
    }
    this.leftOut(column);
    return null;
  }

  #warn(code: string, name: string, message: string): void {
    this.#warnings.set(`${code} ${name}`, { code, message });
  }
}

/** About the bytes of a value as JSON. */
const bytesOf = (value: Value): number => {
  if (typeof value === 'string') return Buffer.byteLength(value) + 2;
  return typeof value === 'number' ? String(value).length : 5;
};
