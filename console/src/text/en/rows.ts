import { catalog } from '../catalog.ts';
import { number, plural } from '../format.ts';

export const rows = catalog({
  null: 'NULL',
  yes: 'true',
  no: 'false',
  range: (first: number, last: number, all: number) =>
    `Rows ${number(first)} to ${number(last)} of ${number(all)}.`,
  count: (all: number) => plural(all, { one: '# row.', other: '# rows.' }),
  previous: 'Previous rows',
  next: 'Next rows',
  isFirst: 'These are the first rows.',
  isLast: 'These are the last rows.',
  row: 'Row',
  cut: (text: string) => `${text}…`,
  columns: (first: number, last: number, all: number) =>
    `Columns ${number(first)} to ${number(last)} of ${number(all)}.`,
  previousColumns: 'Previous columns',
  nextColumns: 'Next columns',
  isFirstColumn: 'These are the first columns.',
  isLastColumn: 'These are the last columns.',
  showValue: (column: string, row: number) => `Show the whole value of ${column}, row ${number(row)}`,
  valueOf: (column: string, row: number) => `${column}, row ${number(row)}`,
});
