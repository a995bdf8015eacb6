import { type ReactNode, useState } from 'react';
import { rows as words } from '../text/en/rows.ts';
import { Bar, Button } from './Button.tsx';
import { RowsBar } from './RowsBar.tsx';
import { type RowsColumn, RowsGrid, type RowValue } from './RowsGrid.tsx';

/** More rows at once make the page slow to show and hard to read. */
const perPage = 20;

/** Rows of a database, in the order they came, 20 a page. It scrolls sideways by itself. `note` is said below. */
export const RowsTable = ({
  label,
  columns,
  rows,
  note,
}: {
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
  return (
    <>
      <RowsGrid label={label} columns={columns} rows={visible} />
      <RowsBar at="below">
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
      </RowsBar>
    </>
  );
};
