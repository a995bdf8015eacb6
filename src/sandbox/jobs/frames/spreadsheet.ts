import { open } from 'node:fs/promises';
import { readSheet } from 'read-excel-file/node';
import { JobFault } from '../fault.ts';
import { checkZip } from '../zip-check.ts';
import type { Cell } from './column.ts';

/** The first bytes of a compound file: a spreadsheet of an older Excel, or one with a password. */
const compoundFile = 'd0cf11e0a1b11ae1';

/** A number keeps the text that the file has. Its class tells it from a text of digits. */
class NumberText {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** An empty cell, an error value and a formula without a stored value are null already. */
const cellOf = (value: unknown): Cell | null => {
  if (value === null || value === undefined || value === '') return null;
  if (value instanceof NumberText) return { kind: 'number', text: plainNumber(value.text) };
  if (typeof value === 'boolean') return { kind: 'boolean', text: String(value) };
  if (value instanceof Date) return { kind: 'date', text: dateText(value) };
  return { kind: 'text', text: String(value) };
};

/** Excel writes doubles, also as `4.0000000000000001E-2`. Digits in excess are those of the double. */
const plainNumber = (text: string): string => {
  if (/^-?(?:0|[1-9]\d*)$/.test(text)) return text;
  return String(Number(text));
};

/**
 * Days are doubles, so the library's time can be a millisecond short. A whole second is more probable than one that
 * lacks a millisecond.
 */
const dateText = (value: Date): string => {
  const ms = value.getTime();
  return new Date(ms % 1000 === 999 || ms % 1000 === -1 ? ms + 1 : ms).toISOString().slice(0, -1);
};

/** The rows of one sheet, the first unless it is named. */
export async function* readSpreadsheet(path: string, sheet?: string): AsyncGenerator<(Cell | null)[]> {
  await refuseCompoundFile(path);
  await checkZip(path);
  const options = { trim: false, parseNumber: (text: string) => new NumberText(text) };
  let rows: unknown[][];
  try {
    rows = await readSheet(path, sheet ?? 1, options);
  } catch (error) {
    const { name, sheets } = error as Error & { sheets?: string[] };
    if (name === 'SheetNotFoundError' && sheet !== undefined) {
      throw new JobFault('not_found', 'there is no such sheet', { sheets });
    }
    throw new JobFault('unreadable', 'the file is not a spreadsheet that can be read');
  }
  for (const row of rows) yield row.map(cellOf);
}

/** Throws for a file of an older Office, and for one with a password. */
export const refuseCompoundFile = async (path: string): Promise<void> => {
  const file = await open(path);
  try {
    const { buffer } = await file.read(Buffer.alloc(8), 0, 8, 0);
    if (buffer.toString('hex') !== compoundFile) return;
    const isEncrypted = (await file.readFile()).includes(Buffer.from('EncryptedPackage', 'utf16le'));
    throw isEncrypted
      ? new JobFault('encrypted', 'the file has a password')
      : new JobFault('unsupported', 'files of this older format are not supported: save it as XLSX or DOCX');
  } finally {
    await file.close();
  }
};
