import { Fragment, type ReactNode, useRef } from 'react';
import { ui } from '../text/en/ui.ts';
import { cx } from './cx.ts';
import { useKeys } from './keys.ts';
import { Link } from './Link.tsx';
import { Menu } from './Menu.tsx';
import type { MenuEntry } from './MenuButton.tsx';
import { useRowLinks } from './row-link.ts';
import { SelectAll, type Selection, SelectRow } from './selection.tsx';
import { useShown } from './shown.ts';
import css from './Table.module.css';

/** A column. The first one names the row and holds its link. */
export interface Column<R> {
  key: string;
  title: string;
  cell: (row: R) => ReactNode;
  /** A CSS width: `21%`, `208px`. The rest shares what is left. */
  width?: string;
  numeric?: boolean;
  /** On phones: at the right of the first line (`aside`, the default), below over the whole width, or not at all. */
  phone?: 'aside' | 'below' | 'hide';
  /** On phones, where columns have no heads, the title stands before the value: "Open 3". */
  titled?: boolean;
}

export interface TableProps<R> {
  label: string;
  columns: readonly Column<R>[];
  rows: readonly R[];
  rowKey: (row: R) => string;
  href?: ((row: R) => string) | undefined;
  name: (row: R) => string;
  /** Entries of the menu at the end of the row. */
  actions?: ((row: R) => readonly MenuEntry[]) | undefined;
  selection?: Selection;
  /** A line above the row that says what changed between it and the row before. */
  noteBefore?: (row: R) => ReactNode;
  /** Such a line below the last row. */
  noteAfter?: ReactNode;
  /** The row that is open next to the table. */
  current?: (row: R) => boolean;
  nothing?: ReactNode;
}

/** Moves the focus to the link of the row `step` rows from the one that has it. */
const moveFocus = (body: HTMLElement | null, step: number): void => {
  const links = [...(body?.querySelectorAll<HTMLElement>('[data-row-link]') ?? [])];
  const row = document.activeElement?.closest('tr');
  const present = links.findIndex((link) => link.closest('tr') === row);
  const next = present < 0 ? 0 : Math.min(links.length - 1, Math.max(0, present + step));
  links[next]?.focus();
};

/**
 * A table whose rows lead to what they show. `j` and `k` move between rows, `x` selects, Enter opens. Actions are in the menu at the
 * end of each row. On phones each row has two lines.
 */
export const Table = <R,>(props: TableProps<R>) => {
  const { label, columns, rows, rowKey, href, name, actions, selection, noteBefore, noteAfter, current } =
    props;
  const body = useRef<HTMLTableSectionElement>(null);
  const shown = useShown(rows);
  useRowLinks(body);
  useKeys({
    j: () => moveFocus(body.current, 1),
    k: () => moveFocus(body.current, -1),
    x: () => {
      const key = document.activeElement?.closest('tr')?.dataset.key;
      if (key !== undefined && body.current?.contains(document.activeElement)) selection?.toggle(key);
    },
  });
  if (rows.length === 0 && props.nothing) return props.nothing;
  const span = columns.length + (selection ? 1 : 0) + (actions ? 1 : 0);
  const rowLink = (row: R, content: ReactNode) =>
    href ? (
      <Link
        href={href(row)}
        className={css.link}
        data-row-link
        // Details that open next to the table leave it where it is.
        keepScroll={current !== undefined}
        aria-current={current?.(row) ? 'true' : undefined}
      >
        {content}
      </Link>
    ) : (
      content
    );
  return (
    <table className={css.table} aria-label={label}>
      <thead>
        <tr>
          {selection && (
            <th scope="col" className={css.check}>
              <SelectAll selection={selection} keys={rows.map(rowKey)} />
            </th>
          )}
          {columns.map(({ key, title, width, numeric }) => (
            <th key={key} scope="col" style={{ width }} className={cx(numeric && css.numeric)}>
              {title}
            </th>
          ))}
          {actions && (
            <th scope="col" className={css.menu}>
              <span className="visually-hidden">{ui.actions}</span>
            </th>
          )}
        </tr>
      </thead>
      <tbody ref={body}>
        {shown.map((row) => {
          const key = rowKey(row);
          const note = noteBefore?.(row);
          return (
            <Fragment key={key}>
              {note && (
                <tr className={css.note}>
                  <td colSpan={span}>{note}</td>
                </tr>
              )}
              <tr
                id={key}
                data-key={key}
                className={cx(
                  href && css.linked,
                  selection?.has(key) && css.selected,
                  current?.(row) && css.current,
                )}
              >
                {selection && (
                  <td className={css.check}>
                    <SelectRow selection={selection} rowKey={key} name={name(row)} />
                  </td>
                )}
                {columns.map(({ key: column, title, titled, cell, numeric, phone }, index) => (
                  <td
                    key={column}
                    data-title={titled ? title : undefined}
                    className={cx(numeric && css.numeric, index > 0 && css[phone ?? 'aside'])}
                  >
                    {index === 0 ? rowLink(row, cell(row)) : cell(row)}
                  </td>
                ))}
                {actions && (
                  <td className={css.menu}>
                    <Menu label={ui.moreActions(name(row))} entries={actions(row)} />
                  </td>
                )}
              </tr>
            </Fragment>
          );
        })}
        {noteAfter && shown.length === rows.length && (
          <tr className={css.note}>
            <td colSpan={span}>{noteAfter}</td>
          </tr>
        )}
      </tbody>
    </table>
  );
};
