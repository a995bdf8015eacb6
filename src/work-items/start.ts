import { z } from 'zod';
import { sql, type Tx } from '../database/index.ts';
import { optional } from '../http/index.ts';
import { unprocessable } from '../lib/errors.ts';

/** Start of a Work Item in a body: RFC 3339, always with an offset. */
const givenStart = z.iso.datetime({
  offset: true,
  error: 'must be a time with its offset, such as 2026-01-31T08:00:00Z (RFC 3339)',
});

const text =
  'When it starts: RFC 3339 with an offset, at most a year ahead. Until then it waits as PENDING. A time that has passed is at once.';

export const startAt = optional(givenStart, null).describe(text);

/** Start of a Work Item in a change: null is at once. */
export const changedStartAt = givenStart.nullable().optional().describe(`${text} null: at once.`);

/**
 * Returns the time as the row stores it. Throws 422 if it is more than a year ahead by the database's clock, which decides
 * when it starts.
 */
export const readStart = async (tx: Tx, given: string | null): Promise<Date | null> => {
  if (given === null) return null;
  const at = new Date(given);
  const { rows } = await sql<{ far: boolean }>`
    select ${at}::timestamptz > platform_now() + interval '1 year' as far`.execute(tx);
  if (rows[0]!.far) throw unprocessable([{ path: 'start_at', message: 'must be at most a year ahead' }]);
  return at;
};
