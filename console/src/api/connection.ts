import { useSyncExternalStore } from 'react';
import type { ApiProblem } from './request.ts';

/** Whether the platform was out of reach at the last attempt, and since when. */
let offlineSince: number | null = null;
const listeners = new Set<() => void>();

const set = (since: number | null) => {
  if ((since === null) === (offlineSince === null)) return;
  offlineSince = since;
  for (const listener of listeners) listener();
};

/** Whether no platform responded, or only a proxy before it. */
export const isUnreachable = (problem: ApiProblem): boolean => [0, 502, 503, 504].includes(problem.status);

/** Records that a request reached the platform, or did not. */
export const recordConnection = (reached: boolean): void => set(reached ? null : Date.now());

/** Returns since when the platform is out of reach; null if it is not. */
export const useOfflineSince = (): number | null =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => offlineSince,
  );
