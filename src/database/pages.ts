import type { SelectQueryBuilder } from 'kysely';

/** Page of a list: `limit` rows with ids below `next`; the newest ones if it is null. */
export interface Page {
  limit: number;
  next: string | null;
}

/** The page with all rows of a list that is short by nature. */
export const everything: Page = { limit: 1_000_000, next: null };

/** Selects a page of `query` and one row more, newest first. Ids are UUIDv7, so they sort by time. */
// biome-ignore-start lint/suspicious/noExplicitAny: any table, any columns
export const selectPage = <O>(
  query: SelectQueryBuilder<any, any, O>,
  { limit, next }: Page,
  id = 'id',
): Promise<O[]> => {
  const page = query.orderBy(id, 'desc').limit(limit + 1);
  return (next === null ? page : page.where(id, '<', next)).execute();
};
// biome-ignore-end lint/suspicious/noExplicitAny: any table, any columns
