import { randomUUIDv7 } from 'node:crypto';

/** A new id: UUID version 7 (RFC 9562), so that ids sort by the time they were made. */
export const newId = (): string => randomUUIDv7();

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Whether `value` has the form of an id. One that has not is treated like one that is unknown. */
export const isId = (value: string): boolean => uuid.test(value);
