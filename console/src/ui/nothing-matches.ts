import { useLayoutEffect, useSyncExternalStore } from 'react';

let shown = 0;
const listeners = new Set<() => void>();

const add = (count: number) => {
  shown += count;
  for (const listener of listeners) listener();
};

/** Says that the page shows a list that nothing matches, with the button that clears its filters. */
export const useReportNothingMatches = (): void =>
  useLayoutEffect(() => {
    add(1);
    return () => add(-1);
  }, []);

/** Says that the page shows such a list: the filters then have no button of their own that clears them. */
export const useNothingMatches = (): boolean =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => shown > 0,
  );
