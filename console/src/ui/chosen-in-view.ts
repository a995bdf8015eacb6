import { type RefObject, useLayoutEffect } from 'react';

const chosen = '[aria-selected="true"], [aria-current]';

/** Scrolls a row that is wider than the window to the entry that is chosen, at first and when `value` changes. */
export const useChosenInView = (row: RefObject<HTMLElement | null>, value: string): void => {
  // biome-ignore lint/correctness/useExhaustiveDependencies: the entry is read from the page.
  useLayoutEffect(() => {
    const list = row.current;
    const entry = list?.querySelector(chosen);
    if (!list || !entry) return;
    const [around, inside] = [list.getBoundingClientRect(), entry.getBoundingClientRect()];
    // A part of its neighbour stays in view, so that one sees that there are more.
    const margin = 40;
    if (inside.left < around.left) list.scrollLeft -= around.left - inside.left + margin;
    else if (inside.right > around.right) list.scrollLeft += inside.right - around.right + margin;
  }, [row, value]);
};
