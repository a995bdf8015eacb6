import { useSyncExternalStore } from 'react';
import type { ApiProblem } from './request.ts';

/** The time since which the platform is out of reach; null while it is reached. */
let offlineSince: number | null = null;
const listeners = new Set<() => void>();

const set = (since: number | null) => {
  if ((since === null) === (offlineSince === null)) return;
  offlineSince = since;
  for (const listener of listeners) listener();
};

/** Tells if no platform responded, or only a proxy before it. */
export const isUnreachable = (problem: ApiProblem): boolean => [0, 502, 503, 504].includes(problem.status);

export const recordConnection = (reached: boolean): void => set(reached ? null : Date.now());

export const useOfflineSince = (): number | null =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => offlineSince,
  );
