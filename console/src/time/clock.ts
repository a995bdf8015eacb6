import { useSyncExternalStore } from 'react';

const listeners = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | null = null;

const tick = () => {
  for (const listener of listeners) listener();
};

/** Starts the clock if someone looks at it, and stops it if no one does or the page is hidden. */
const update = () => {
  const wanted = listeners.size > 0 && document.visibilityState === 'visible';
  if (wanted && timer === null) timer = setInterval(tick, 1_000);
  if (!wanted && timer !== null) {
    clearInterval(timer);
    timer = null;
  }
};

document.addEventListener('visibilitychange', () => {
  update();
  if (document.visibilityState === 'visible') tick();
});

const subscribe = (listener: () => void) => {
  listeners.add(listener);
  update();
  return () => {
    listeners.delete(listener);
    update();
  };
};

/**
 * Returns what `read` makes of the present time, and renders again only when that changes. `read` is called each second,
 * so a text with minutes costs one rendering a minute.
 */
export const useClock = <T extends string | number | boolean>(read: (now: number) => T): T =>
  useSyncExternalStore(subscribe, () => read(Date.now()));
