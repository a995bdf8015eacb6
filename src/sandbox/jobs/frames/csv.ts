import { JobFault } from '../fault.ts';
import type { Cell } from './column.ts';

const separators = [',', ';', '\t', '|'];

/** The separator that the first line has most of outside of quoted cells; a comma if several have as many. */
export const separatorOf = (text: string): string => {
  const counts = separators.map(() => 0);
  let beginsCell = true;
  for (let at = 0; at < text.length && text[at] !== '\n' && text[at] !== '\r'; at++) {
    if (beginsCell && text[at] === '"') at = Math.max(at, endOfQuoted(text, at) - 1);
    const found = separators.indexOf(text[at]!);
    beginsCell = found !== -1;
    if (beginsCell) counts[found]!++;
  }
  return separators[counts.indexOf(Math.max(...counts))]!;
};

/**
 * The rows of a CSV file (RFC 4180). Like spreadsheets it also takes lines that end in different ways, and quotes inside
 * a cell that is not quoted. DuckDB's own reader refuses the first, or, told to be lenient, drops surplus cells in
 * silence. An empty cell is null; an empty line is no row, unless a row has only one cell.
 */
export function* readCsv(text: string, given?: string): Generator<(Cell | null)[]> {
  const separator = given ?? separatorOf(text);
  const plain = new RegExp(`[^${separator === '|' ? '\\|' : separator}\\r\\n]*`, 'y');
  let at = 0;
  let row: (Cell | null)[] = [];
  let columns = 0;
  while (at < text.length) {
    let value = '';
    if (text[at] === '"') {
      const [quoted, end] = readQuoted(text, at);
      value = quoted;
      at = end;
    }
    plain.lastIndex = at;
    // Always matches. `exec` would make an object for each cell.
    plain.test(text);
    const rest = text.slice(at, plain.lastIndex);
    value = value === '' ? rest : value + rest;
    at = plain.lastIndex;
    row.push(value === '' ? null : { kind: 'cell', text: value });
    if (text[at] === separator) {
      at++;
      // A separator at the very end is followed by one more empty cell.
      if (at === text.length) row.push(null);
      else continue;
    }
    if (row.length > 1 || row[0] !== null || columns === 1) yield row;
    columns ||= row.length;
    row = [];
    at += text.startsWith('\r\n', at) ? 2 : 1;
  }
  if (row.length > 0) yield row;
}

/** The position behind the quotes that begin at `start`; -1 if they do not end. */
const endOfQuoted = (text: string, start: number): number => {
  for (let from = start + 1; ; ) {
    const end = text.indexOf('"', from);
    if (end === -1) return -1;
    if (text[end + 1] !== '"') return end + 1;
    from = end + 2;
  }
};

/** The text between the quotes that begin at `start`, and the position behind them. */
const readQuoted = (text: string, start: number): [string, number] => {
  const end = endOfQuoted(text, start);
  if (end === -1) {
    const line = text.slice(0, start).split(/\r\n|\r|\n/).length;
    throw new JobFault('unreadable', `the quoted cell that begins in line ${line} does not end`);
  }
  return [text.slice(start + 1, end - 1).replaceAll('""', '"'), end];
};
