import { type ReactNode, useState } from 'react';
import { rows as words } from '../text/en/rows.ts';
import { Bar, Button } from './Button.tsx';
import { cx } from './cx.ts';
import css from './RowsTable.module.css';

/** A value of a row: numbers that a double cannot hold come as texts. */
export type RowValue = string | number | boolean | null;

export interface RowsColumn {
  name: string;
  /** Shown instead of the name. */
  label?: string | null;
  datatype: string;
}

/** More rows at once make the page slow to show and hard to read. */
const perPage = 20;

const numeric = new Set(['Integer', 'Decimal', 'Float']);

/** Numbers are shown as they are: digits are copied, and `2026` may be a year. */
const Value = ({ value }: { value: RowValue }) => {
  if (value === null) return <span className={css.null}>{words.null}</span>;
  if (typeof value === 'boolean') return value ? words.yes : words.no;
  return String(value);
};

const cut = (value: RowValue): string | undefined =>
  typeof value === 'string' && value.length > 60 ? value : undefined;

/** Rows of a database, in the order they came, 20 a page. It scrolls sideways by itself. `note` is said below. */
export const RowsTable = ({
  label,
  columns,
  rows,
  note,
}: {
  /** What the rows are, for screen readers. */
  label: string;
  columns: readonly RowsColumn[];
  rows: readonly (readonly RowValue[])[];
  note?: ReactNode;
}) => {
  const [page, setPage] = useState(0);
  const last = Math.max(0, Math.ceil(rows.length / perPage) - 1);
  const shown = Math.min(page, last);
  const first = shown * perPage;
  const visible = rows.slice(first, first + perPage);
  const className = (datatype: string) => cx(numeric.has(datatype) && css.numeric);
  return (
    <>
      <div className={css.scroll} role="group" tabIndex={0} aria-label={label}>
        <table className={css.table} aria-label={label}>
          <thead>
            <tr>
              {columns.map(({ name, label: title, datatype }) => (
                <th key={name} scope="col" className={className(datatype)}>
                  {title ?? name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {visible.map((row, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: rows have no identity but their place.
              <tr key={first + index}>
                {columns.map(({ name, datatype }, at) => (
                  <td key={name} className={className(datatype)} title={cut(row[at] ?? null)}>
                    <Value value={row[at] ?? null} />
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <div className={css.foot}>
        <span>
          {last > 0 ? words.range(first + 1, first + visible.length, rows.length) : words.count(rows.length)}{' '}
          {note}
        </span>
        {last > 0 && (
          <Bar>
            <Button
              small
              disabledReason={shown === 0 ? words.isFirst : null}
              onClick={() => setPage(shown - 1)}
            >
              {words.previous}
            </Button>
            <Button
              small
              disabledReason={shown === last ? words.isLast : null}
              onClick={() => setPage(shown + 1)}
            >
              {words.next}
            </Button>
          </Bar>
        )}
      </div>
    </>
  );
};
