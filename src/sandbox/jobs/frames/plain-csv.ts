import { JobFault } from '../fault.ts';
import type { Staged, StageOptions } from './cells.ts';
import { Columns } from './columns.ts';
import { separatorOf } from './csv.ts';

/** Returns whether a CSV file has what DuckDB must not read by itself: quotes, `\r`, NUL, an empty line, or one column only. */
const hasMore = (text: string, separator: string): boolean => {
  const end = text.indexOf('\n');
  const first = end === -1 ? text : text.slice(0, end);
  return (
    !first.includes(separator) ||
    text.includes('"') ||
    text.includes('\r') ||
    text.includes('\0') ||
    text.startsWith('\n') ||
    text.includes('\n\n')
  );
};

/** What DuckDB needs to read the file as it is. */
export interface PlainCsv extends Staged {
  separator: string;
  rows: number;
}

/**
 * Infers the columns of a CSV file without quotes and `\r`, as most of them are: what a line end and a separator are is
 * then not in doubt, and DuckDB reads the file itself, four times as fast as cells that are staged for it. Null if the
 * file has more, or is to be cut or cast: then its cells are staged.
 */
export const readPlainCsv = (
  text: string,
  given: string | undefined,
  { asked, maxRows, header }: StageOptions & { header: boolean },
): PlainCsv | null => {
  const separator = given ?? separatorOf(text);
  if (Object.keys(asked).length > 0 || hasMore(text, separator)) return null;
  const between = separator.charCodeAt(0);
  const columns = new Columns({});
  let [row, column, start, rows] = [0, 0, 0, 0];
  for (let at = 0; at <= text.length; at++) {
    const code = at === text.length ? 0x0a : text.charCodeAt(at);
    if (code !== between && code !== 0x0a) continue;
    // The line end of the last line is followed by no row.
    if (at === text.length && start === at && column === 0) break;
    if (row === 0) columns.add(header ? text.slice(start, at) : '');
    if (column >= columns.length) {
      let cells = column + 1;
      for (let rest = at; rest < text.length && text[rest] !== '\n'; rest++) {
        if (text[rest] === separator) cells++;
      }
      throw new JobFault(
        'unreadable',
        `row ${row + 1} has ${cells} cells, the first row has ${columns.length}`,
      );
    }
    const isValue = at > start && (row > 0 || !header);
    if (isValue) {
      const values = columns.values(column);
      if (!values.isText) values.add({ kind: 'cell', text: text.slice(start, at) });
    }
    column++;
    start = at + 1;
    if (code === 0x0a) {
      if (row > 0 || !header) rows++;
      if (rows > maxRows) return null;
      row++;
      column = 0;
    }
  }
  return { ...columns.result(), truncated: false, separator, rows };
};
