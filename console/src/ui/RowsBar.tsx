import type { ReactNode } from 'react';
import { cx } from './cx.ts';
import css from './RowsBar.module.css';

/** A line above or below the rows of a box: which are shown, and the buttons to others. */
export const RowsBar = ({ at, children }: { at: 'above' | 'below'; children: ReactNode }) => (
  <div className={cx(css.bar, css[at])}>{children}</div>
);
