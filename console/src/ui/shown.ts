import { startTransition, useEffect, useState } from 'react';

/** As many rows as a window of 800 px shows; the others come when these are painted. */
const firstRows = 12;

/**
 * Returns the rows that are shown now: the first ones, and a moment later all. So a long list is there sooner, and the
 * rows below the window never keep a click waiting: a transition is rendered in parts.
 */
export const useShown = <R>(rows: readonly R[]): readonly R[] => {
  const [all, setAll] = useState(rows.length <= firstRows);
  useEffect(() => {
    if (!all) startTransition(() => setAll(true));
  }, [all]);
  return all ? rows : rows.slice(0, firstRows);
};
