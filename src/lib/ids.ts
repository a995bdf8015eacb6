import { randomUUIDv7 } from 'node:crypto';

let time = 0;
let timeHex = '';
let counter = 0;

const setTime = (milliseconds: number): void => {
  time = milliseconds;
  const hex = milliseconds.toString(16).padStart(12, '0');
  timeHex = `${hex.slice(0, 8)}-${hex.slice(8)}-7`;
};

/**
 * Returns a new id: a UUID version 7 (RFC 9562), so that ids sort by the time of their creation. The ids of one process
 * sort in the order of the calls, also within a millisecond and when the clock is set back: the 12 bits after the time
 * count up from a random number (section 6.2, method 1), and the time runs ahead when they are used up.
 */
export const newId = (): string => {
  const random = randomUUIDv7();
  const now = Date.now();
  if (now > time) {
    setTime(now);
    // Less than half of the range, so that there is room to count up.
    counter = Number.parseInt(random.slice(15, 18), 16) >> 1;
  } else if (++counter > 0xfff) {
    setTime(time + 1);
    counter = 0;
  }
  return timeHex + counter.toString(16).padStart(3, '0') + random.slice(18);
};

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Returns whether `value` has the form of a UUID. An id without it is treated like an unknown one. */
export const isId = (value: string): boolean => uuid.test(value);

/** The ids that begin with `text`, as the first and the last of them; null if none can. */
export const idsBeginning = (text: string): { first: string; last: string } | null => {
  const begin = text.toLowerCase();
  const fill = (digit: string) =>
    begin + '00000000-0000-0000-0000-000000000000'.slice(begin.length).replaceAll('0', digit);
  return isId(fill('0')) ? { first: fill('0'), last: fill('f') } : null;
};
