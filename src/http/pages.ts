import { z } from 'zod';
import { unprocessable } from '../lib/errors.ts';
import { isId } from '../lib/ids.ts';

/** The envelope of description 2.5 around `record`; each list is its own named schema. */
export const pageOf = <S extends z.ZodType>(name: string, record: S) =>
  z
    .object({
      data: z.array(record).describe('The records, newest first.'),
      has_more: z.boolean().describe('More records exist.'),
      next: z.string().describe('Send it back as `?next=` for the page after; empty at the end.'),
    })
    .meta({ id: name });

/** The offset-based shape of Work Item lists. */
export const offsetPageOf = <S extends z.ZodType>(name: string, record: S) =>
  z
    .object({
      records: z.array(record).describe('The records, newest first.'),
      total_count: z.int().describe('How many records match.'),
      next_offset: z.int().nullable().describe('The offset of the next page; null at the end.'),
    })
    .meta({ id: name });

export interface Page<T> {
  data: T[];
  has_more: boolean;
  next: string;
}

/** What `?next=` stands for: the id of the last record seen. 422 for one that we did not make. */
export const readCursor = (next: string | undefined): string | null => {
  if (next === undefined || next === '') return null;
  const key = Buffer.from(next, 'base64url').toString('utf8');
  if (!key.startsWith('v1:') || !isId(key.slice(3))) {
    throw unprocessable([{ path: 'next', message: 'is not the `next` of an earlier page' }]);
  }
  return key.slice(3);
};

/**
 * A page of `rows`, of which the store fetched one more than `limit` to know whether there are more.
 * Lists are sorted by id, newest first, so that the next page is stable under inserts.
 */
export const toPage = <R extends { id: string }, T>(
  rows: R[],
  limit: number,
  present: (row: R) => T,
): Page<T> => {
  const shown = rows.slice(0, limit);
  const more = rows.length > limit;
  return {
    data: shown.map(present),
    has_more: more,
    next: more ? Buffer.from(`v1:${shown.at(-1)!.id}`).toString('base64url') : '',
  };
};
