import type { ReactNode } from 'react';
import css from './RowOf.module.css';

/** One of several conditions or steps: its fields, under its number. */
export const RowOf = ({
  label,
  remove,
  children,
}: {
  label: string;
  remove: ReactNode;
  children: ReactNode;
}) => (
  <fieldset className={css.row}>
    <legend>{label}</legend>
    {children}
    {remove && <div>{remove}</div>}
  </fieldset>
);
