const key = 'reloaded';
/** If it fails again so soon, another load changes nothing. */
const againMs = 30_000;

/** Recognizes that a part of the application is gone, because the platform was updated since the page was loaded. */
export const isOldVersion = (error: unknown): boolean =>
  error instanceof Error &&
  /dynamically imported module|Importing a module script failed|Unable to preload CSS/.test(error.message);

/** Loads the page again, unless that was tried just now. Returns false then. */
export const reloadOnce = (): boolean => {
  try {
    if (Date.now() - Number(sessionStorage.getItem(key) ?? 0) < againMs) return false;
    sessionStorage.setItem(key, String(Date.now()));
  } catch {
    // Without storage it could load again without end.
    return false;
  }
  location.reload();
  return true;
};
