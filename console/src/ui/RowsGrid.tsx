import { type ReactNode, useState } from 'react';
import { common } from '../text/en/common.ts';
import { rows as words } from '../text/en/rows.ts';
import { number } from '../text/format.ts';
import { Bar, Button } from './Button.tsx';
import { CopyButton } from './CopyValue.tsx';
import { cx } from './cx.ts';
import { Dialog } from './Dialog.tsx';
import { RowsBar } from './RowsBar.tsx';
import css from './RowsGrid.module.css';

/** A value of a row: numbers that a double cannot hold come as texts. */
export type RowValue = string | number | boolean | null;

export interface RowsColumn {
  name: string;
  label?: string | null;
  datatype: string;
}

export interface RowsGridProps {
  label: string;
  columns: readonly RowsColumn[];
  rows: readonly (readonly RowValue[])[];
  /** The number of the first row; without it the rows have no numbers. */
  first?: number;
  /** Content of the head of a column, if it is not the name alone. */
  head?: (column: RowsColumn) => ReactNode;
  sortOf?: (column: RowsColumn) => 'ascending' | 'descending' | undefined;
}

/** More columns at once make thousands of cells, which are slow to show. */
const columnsAtOnce = 40;
/** A longer text is cut, and opens in a dialog. */
const shownCharacters = 80;

const numeric = new Set(['Integer', 'Decimal', 'Float']);

interface Opened {
  column: string;
  row: number;
  value: string;
}

/** Numbers are shown as they are: digits are copied, and `2026` may be a year. */
const Value = ({ value, onOpen, name }: { value: RowValue; onOpen: () => void; name: string }) => {
  if (value === null) return <span className={css.null}>{words.null}</span>;
  if (typeof value === 'boolean') return value ? words.yes : words.no;
  const text = String(value);
  if (text.length <= shownCharacters) return <bdi>{text}</bdi>;
  return (
    <button type="button" className={css.long} onClick={onOpen} title={name}>
      <bdi>{words.cut(text.slice(0, shownCharacters))}</bdi>
    </button>
  );
};

/**
 * Rows in a region that scrolls by itself and keeps its head. Forty columns are shown at once. What the cells hold is text
 * and nothing else, each in a direction of its own.
 */
export const RowsGrid = ({ label, columns, rows, first, head, sortOf }: RowsGridProps) => {
  const [start, setStart] = useState(0);
  const [opened, setOpened] = useState<Opened | null>(null);
  const from = Math.min(start, Math.max(0, columns.length - 1));
  const visible = columns.slice(from, from + columnsAtOnce);
  const className = (datatype: string) => cx(numeric.has(datatype) && css.numeric);
  return (
    <>
      {columns.length > columnsAtOnce && (
        <RowsBar at="above">
          <span role="status">{words.columns(from + 1, from + visible.length, columns.length)}</span>
          <Bar>
            <Button
              small
              disabledReason={from === 0 ? words.isFirstColumn : null}
              onClick={() => setStart(Math.max(0, from - columnsAtOnce))}
            >
              {words.previousColumns}
            </Button>
            <Button
              small
              disabledReason={from + columnsAtOnce >= columns.length ? words.isLastColumn : null}
              onClick={() => setStart(from + columnsAtOnce)}
            >
              {words.nextColumns}
            </Button>
          </Bar>
        </RowsBar>
      )}
      <div className={css.scroll} role="group" tabIndex={0} aria-label={label}>
        <table className={css.table} aria-label={label}>
          <thead>
            <tr>
              {first !== undefined && (
                <th scope="col" className={css.number}>
                  <span className="visually-hidden">{words.row}</span>
                </th>
              )}
              {visible.map((column) => (
                <th
                  key={column.name}
                  scope="col"
                  className={className(column.datatype)}
                  aria-sort={sortOf?.(column)}
                >
                  {head?.(column) ?? <bdi>{column.label ?? column.name}</bdi>}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: rows have no identity but their place.
              <tr key={index}>
                {first !== undefined && (
                  <th scope="row" className={css.number}>
                    {number(first + index)}
                  </th>
                )}
                {visible.map(({ name, datatype }, at) => {
                  const value = row[from + at] ?? null;
                  const place = (first ?? 1) + index;
                  return (
                    <td key={name} className={className(datatype)}>
                      <Value
                        value={value}
                        name={words.showValue(name, place)}
                        onOpen={() => setOpened({ column: name, row: place, value: String(value) })}
                      />
                    </td>
                  );
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {opened && (
        <Dialog
          open
          wide
          title={words.valueOf(opened.column, opened.row)}
          onClose={() => setOpened(null)}
          actions={<CopyButton value={opened.value} label={common.copy} />}
        >
          <pre className={css.whole} dir="auto" tabIndex={0}>
            {opened.value}
          </pre>
        </Dialog>
      )}
    </>
  );
};
