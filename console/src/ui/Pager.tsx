import type { ReactNode } from 'react';
import { ui } from '../text/en/ui.ts';
import { Bar, ButtonLink } from './Button.tsx';
import css from './Pager.module.css';

/**
 * The pages of a list. The API continues after a cursor, so that there is a next page and a first one, and the browser's
 * Back is the previous one. `useCursor` (app/url-state.ts) makes the addresses.
 */
export const Pager = ({
  first,
  next,
  note,
}: {
  /** The address of the first page; null on it. */
  first: string | null;
  /** The address of the next page; null on the last. */
  next: string | null;
  /** Number of rows shown: "50 of about 1,200". */
  note?: ReactNode;
}) =>
  first === null && next === null && !note ? null : (
    <nav className={css.pager} aria-label={ui.pages}>
      <span className={css.note}>{note}</span>
      <Bar>
        {first !== null && (
          <ButtonLink small href={first}>
            {ui.firstPage}
          </ButtonLink>
        )}
        {next !== null && (
          <ButtonLink small href={next}>
            {ui.nextPage}
          </ButtonLink>
        )}
      </Bar>
    </nav>
  );
