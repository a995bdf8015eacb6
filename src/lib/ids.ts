import { randomUUIDv7 } from 'node:crypto';

let last = '';

/**
 * A new id: UUID version 7 (RFC 9562), so that ids sort by the time they were made. Those of one process sort in
 * the order of the calls, also within a millisecond and when the clock goes back: its time and the 12 bits behind
 * it only grow (section 6.2, method 1).
 */
export const newId = (): string => {
  const id = randomUUIDv7();
  if (id > last) last = id;
  else {
    const next = BigInt(`0x${last.slice(0, 8)}${last.slice(9, 13)}${last.slice(15, 18)}`) + 1n;
    const head = next.toString(16).padStart(15, '0');
    last = `${head.slice(0, 8)}-${head.slice(8, 12)}-7${head.slice(12)}${id.slice(18)}`;
  }
  return last;
};

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Whether `value` has the form of an id. One that has not is treated like one that is unknown. */
export const isId = (value: string): boolean => uuid.test(value);
