const listeners = new Set<() => void>();

/** Returns the value that this browser remembers; null if none, or if storage is not allowed. */
export const readPreference = (name: string): string | null => {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
};

/** Remembers `value` in this browser, or removes it if it is null. No secrets: every script of the page can read it. */
export const writePreference = (name: string, value: string | null): void => {
  try {
    if (value === null) localStorage.removeItem(name);
    else localStorage.setItem(name, value);
  } catch {
    // Storage is not allowed: the choice holds until the page is loaded again.
  }
  for (const listener of listeners) listener();
};

/** Calls `listener` after each change, also one of another tab. */
export const subscribePreferences = (listener: () => void): (() => void) => {
  listeners.add(listener);
  addEventListener('storage', listener);
  return () => {
    listeners.delete(listener);
    removeEventListener('storage', listener);
  };
};
