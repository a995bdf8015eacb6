import { z } from 'zod';
import type { Database, Executor, Page } from '../database/index.ts';
import { notFound, unprocessable } from '../lib/errors.ts';
import { isId } from '../lib/ids.ts';
import type { Context } from './context.ts';

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

/** The `next` of a page of a list that is sorted by id, whose last record has this id. */
export const cursorOf = (id: string): string => Buffer.from(`v1:${id}`).toString('base64url');

/** Returns the id in a `next` of an earlier page; null if it is not one. */
export const readCursor = (next: string): string | null => {
  const key = Buffer.from(next, 'base64url').toString('utf8');
  return key.startsWith('v1:') && isId(key.slice(3)) ? key.slice(3) : null;
};

/** The values that a list sorts by: a time is milliseconds since 1970, and null comes after all of them. */
const positionChecks = {
  id: (value: unknown) => typeof value === 'string' && isId(value),
  text: (value: unknown) => typeof value === 'string' && value.isWellFormed() && !value.includes('\0'),
  time: (value: unknown) =>
    value === null || (Number.isSafeInteger(value) && Math.abs(value as number) < 8.64e15),
};
type PositionKind = keyof typeof positionChecks;
type PositionValue<K> = K extends 'time' ? number | null : string;
/** The position of a record in a list that is sorted by more than its id: its values in the order of the sort. */
type Position<K extends readonly PositionKind[]> = { -readonly [I in keyof K]: PositionValue<K[I]> };

/** The `next` of a page whose last record is at `position` in the order `sort`. */
export const positionCursor = (sort: string, position: readonly (string | number | null)[]): string =>
  Buffer.from(JSON.stringify(['v1', sort, ...position])).toString('base64url');

/**
 * Returns the position in a `next` that `positionCursor` made for the same sort, with values of these kinds; null at the
 * first page. Throws 422 for anything else.
 */
export const readPosition = <const K extends readonly PositionKind[]>(
  next: string | undefined,
  sort: string,
  kinds: K,
): Position<K> | null => {
  if (next === undefined || next === '') return null;
  try {
    const [version, of, ...position] = JSON.parse(Buffer.from(next, 'base64url').toString('utf8'));
    const isPosition =
      position.length === kinds.length && kinds.every((kind, k) => positionChecks[kind](position[k]));
    if (version === 'v1' && of === sort && isPosition) return position as unknown as Position<K>;
  } catch {
    // Not one of ours.
  }
  throw unprocessable([{ path: 'next', message: 'is not the `next` of an earlier page of this list' }]);
};

/** The records of a sorted page: `rows` has one more than `limit` if there are more. */
export const sortedPage = <R, T>(
  rows: readonly R[],
  limit: number,
  cursorOfRow: (row: R) => string,
  toResponse: (row: R) => T,
): PageResponse<T> => {
  const shown = rows.slice(0, limit);
  const more = rows.length > limit;
  return { data: shown.map(toResponse), has_more: more, next: more ? cursorOfRow(shown.at(-1)!) : '' };
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
    return sortedPage(
      rows,
      context.query.limit,
      ({ id }) => cursorOf(id),
      (row) => toResponse(row, context),
    );
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
