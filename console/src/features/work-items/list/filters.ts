import type { QueryOf } from '../../../api/index.ts';
import type { workItemsSearch } from '../search.ts';
import { type ListedWorkItemPage, type Status, statuses } from '../types.ts';

export type Search = ReturnType<typeof workItemsSearch>;

export const filterNames = [
  'status',
  'agent_id',
  'schedule_id',
  'source',
  'error_code',
  'created_from',
  'created_to',
  'finished_from',
  'finished_to',
  'q',
] as const satisfies readonly (keyof Search)[];

export const filterOf = (search: Search): Pick<Search, (typeof filterNames)[number]> =>
  Object.fromEntries(filterNames.map((name) => [name, search[name]]));

export const listQuery = (search: Search): QueryOf<'searchWorkItems'> => ({
  ...filterOf(search),
  sort: search.sort,
  next: search.next,
  counts: '1',
});

/** The most that the API counts of one status. */
export const countCap = 10_000;

/** Adds up the chosen statuses, or all; `more`: at least so many. */
export const totalOf = (
  counts: NonNullable<ListedWorkItemPage['counts']>,
  chosen: readonly Status[] = statuses,
): { total: number; more: boolean } => ({
  total: chosen.reduce((sum, status) => sum + counts[status], 0),
  more: chosen.some((status) => counts[status] >= countCap),
});
