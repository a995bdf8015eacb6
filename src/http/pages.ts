import { z } from 'zod';
import type { Database, Executor, Page } from '../database/index.ts';
import { notFound } from '../lib/errors.ts';
import { isId } from '../lib/ids.ts';
import type { Context } from './route.ts';

/** The envelope of description 2.5 around `record`; each list is its own named schema. */
export const pageOf = <S extends z.ZodType>(name: string, record: S) =>
  z
    .object({
      data: z.array(record).describe('The records, newest first.'),
      has_more: z.boolean().describe('Whether there are more records.'),
      next: z.string().describe('Send it as `?next=` to get the next page; empty at the end.'),
    })
    .meta({ id: name });

/** The offset-based shape of Work Item lists. */
export const offsetPageOf = <S extends z.ZodType>(name: string, record: S) =>
  z
    .object({
      records: z.array(record).describe('The records, newest first.'),
      total_count: z.int().describe('The number of records that match.'),
      next_offset: z.int().nullable().describe('The offset of the next page; null at the end.'),
    })
    .meta({ id: name });

interface PageResponse<T> {
  data: T[];
  has_more: boolean;
  next: string;
}

const cursorOf = (id: string): string => Buffer.from(`v1:${id}`).toString('base64url');

/** Returns the id in a `next` of an earlier page; null if it is not one. */
export const readCursor = (next: string): string | null => {
  const key = Buffer.from(next, 'base64url').toString('utf8');
  return key.startsWith('v1:') && isId(key.slice(3)) ? key.slice(3) : null;
};

/** Returns a page of `rows`. The store selects one row more than `limit`, which shows whether there are more. */
const toPage = <R extends { id: string }, T>(
  rows: R[],
  limit: number,
  toResponse: (row: R) => T,
): PageResponse<T> => {
  const shown = rows.slice(0, limit);
  const more = rows.length > limit;
  return { data: shown.map(toResponse), has_more: more, next: more ? cursorOf(shown.at(-1)!.id) : '' };
};

/**
 * Makes the handler of a list. `list` selects rows, newest first, and one row more than the limit. Pages continue after
 * an id, so that inserts do not move the next page.
 */
export const listPage =
  <F, Q extends Page, R extends { id: string }, T = R>(
    db: Database,
    list: (executor: Executor, page: Q, context: Context<F, Q>) => Promise<R[]>,
    toResponse: (row: R, context: Context<F, Q>) => T = (row) => row as unknown as T,
  ) =>
  async (context: Context<F, Q>): Promise<PageResponse<T>> => {
    const rows = await db.run((executor) => list(executor, context.query, context));
    return toPage(rows, context.query.limit, (row) => toResponse(row, context));
  };

/**
 * Makes the `find` of routes below `{param}`: it loads what the id in the path names, and throws 404 for an unknown or
 * malformed id.
 */
export const finder =
  <R>(
    db: Database,
    what: string,
    param: string,
    find: (executor: Executor, id: string) => Promise<R | undefined>,
  ) =>
  async ({ params }: { params: Record<string, string> }): Promise<R> => {
    const id = params[param]!;
    const found = isId(id) ? await db.run((executor) => find(executor, id)) : undefined;
    if (!found) throw notFound(what);
    return found;
  };
