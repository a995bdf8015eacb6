import { JobFault } from '../fault.ts';
import type { Cell } from './column.ts';

const separators = [',', ';', '\t', '|'];

/** The separator that the first line has most of; a comma if several have as many. */
const separatorOf = (text: string): string => {
  const line = /^[^\r\n]*/.exec(text)![0];
  const counts = separators.map((separator) => line.split(separator).length);
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
    value += plain.exec(text)![0];
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

/** The text between the quotes that begin at `start`, and the position behind them. */
const readQuoted = (text: string, start: number): [string, number] => {
  const parts: string[] = [];
  let from = start + 1;
  for (;;) {
    const end = text.indexOf('"', from);
    if (end === -1) {
      const line = text.slice(0, start).split(/\r\n|\r|\n/).length;
      throw new JobFault('unreadable', `the quoted cell that begins in line ${line} does not end`);
    }
    parts.push(text.slice(from, end));
    if (text[end + 1] !== '"') return [parts.join(''), end + 1];
    parts.push('"');
    from = end + 2;
  }
};
