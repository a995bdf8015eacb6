import type { Fault } from './errors.ts';

/** The path of a fault as shown to a client: `payload.items[2]`, `body` for the whole. */
export const showPath = (path: readonly PropertyKey[], whole = 'body'): string => {
  let shown = '';
  for (const key of path) {
    if (typeof key === 'number') shown += `[${key}]`;
    else shown += shown === '' ? String(key) : `.${String(key)}`;
  }
  return shown === '' ? whole : shown;
};

/** Why `text` cannot be stored, or null: PostgreSQL holds neither NUL nor half a surrogate pair. */
const textFault = (text: string): string | null => {
  if (text.includes('\u0000')) return 'must not contain the character NUL';
  if (!text.isWellFormed()) return 'must not contain half of a surrogate pair';
  return null;
};

/** More faults of one request are not looked for: whoever sent it mends these first. */
export const mostFaults = 100;

/** The strings and numbers in `value`, keys included, that could not be stored; the first `mostFaults` of them. */
export const storageFaults = (value: unknown): Fault[] => {
  const faults: Fault[] = [];
  // One path for all: a copy for each item would cost as much again as the item is deep.
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
      // JSON has no other number that is not finite, and would be written as null.
      if (!Number.isFinite(v)) fault('is a number that is too large');
    } else if (Array.isArray(v)) {
      for (let i = 0; i < v.length; i++) inside(i, v[i]);
    } else if (v !== null && typeof v === 'object') {
      for (const [key, item] of Object.entries(v)) {
        const why = textFault(key);
        if (why) fault(`has a key that ${why}`);
        else inside(key, item);
      }
    }
  };
  walk(value);
  return faults;
};

/** Whether `json` nests arrays and objects deeper than `limit`; read from the text, before anything parses it. */
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

/** The number of Unicode code points: what the product calls the characters of a text. */
export const characters = (text: string): number => {
  let n = 0;
  for (const _ of text) n++;
  return n;
};
