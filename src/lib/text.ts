import type { Fault } from './errors.ts';

/** The path of a fault as a client sees it: `payload.items[2]`; `whole` for the empty path. */
export const showPath = (path: readonly PropertyKey[], whole = 'body'): string => {
  let shown = '';
  for (const key of path) {
    if (typeof key === 'number') shown += `[${key}]`;
    else shown += shown === '' ? String(key) : `.${String(key)}`;
  }
  return shown === '' ? whole : shown;
};

/** Returns why `text` cannot be stored, or null: PostgreSQL holds neither NUL nor half a surrogate pair. */
const textFault = (text: string): string | null => {
  if (text.includes('\u0000')) return 'must not contain the character NUL';
  if (!text.isWellFormed()) return 'must not contain half of a surrogate pair';
  return null;
};

/** Returns whether the database can hold `text`: nothing that it cannot hold has such a name. */
export const isStorable = (text: string): boolean => textFault(text) === null;

/** At most this many faults of one request are reported: its sender has to fix these first anyway. */
export const mostFaults = 100;

/** Returns the faults of strings and numbers in `value`, keys included, that cannot be stored: at most `mostFaults`. */
export const storageFaults = (value: unknown): Fault[] => {
  const faults: Fault[] = [];
  // One path for all items: a copy for each would cost time in proportion to its depth.
  const path: PropertyKey[] = [];
  const fault = (message: string) => void faults.push({ path: showPath(path), message });
  const inside = (key: PropertyKey, item: unknown): void => {
    path.push(key);
    walk(item);
    path.pop();
  };
  const walk = (v: unknown): void => {
    if (faults.length >= mostFaults) return;
    if (typeof v === 'string') {
      const why = textFault(v);
      if (why) fault(why);
    } else if (typeof v === 'number') {
      // A number out of range is parsed as Infinity, which JSON would write as null.
      if (!Number.isFinite(v)) fault('is a number that is too large');
    } else if (Array.isArray(v)) {
      for (let i = 0; i < v.length; i++) inside(i, v[i]);
    } else if (v !== null && typeof v === 'object') {
      // Not `Object.entries`: its pairs cost twice the time of the rest.
      for (const key of Object.keys(v)) {
        const why = textFault(key);
        if (why) fault(`has a key that ${why}`);
        else inside(key, (v as Record<string, unknown>)[key]);
      }
    }
  };
  walk(value);
  return faults;
};

/**
 * Returns whether `json` nests arrays and objects deeper than `limit`. It scans the text, so that it can run before a
 * parser.
 */
export const nestsDeeperThan = (json: string, limit: number): boolean => {
  let depth = 0;
  let inString = false;
  for (let i = 0; i < json.length; i++) {
    const c = json.charCodeAt(i);
    if (inString) {
      if (c === 92) i++;
      else if (c === 34) inString = false;
    } else if (c === 34) inString = true;
    else if (c === 91 || c === 123) {
      if (++depth > limit) return true;
    } else if (c === 93 || c === 125) depth--;
  }
  return false;
};

/** The number of Unicode code points, which the product calls characters. */
export const characters = (text: string): number => {
  let n = 0;
  for (const _ of text) n++;
  return n;
};

/**
 * The name, or the first of `name-2`, `name-3` … that is not taken. Before a number, what is longer than `most` characters is
 * cut.
 */
export const numberedName = (
  name: string,
  isTaken: (name: string) => boolean,
  most = Number.POSITIVE_INFINITY,
): string => {
  let free = name;
  for (let n = 2; isTaken(free); n++) free = `${[...name].slice(0, most).join('')}-${n}`;
  return free;
};
