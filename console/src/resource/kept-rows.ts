import { useEffect, useState } from 'react';
import {
  type LoadState,
  listPolling,
  type Output,
  type Params,
  type QueryOf,
  useOperation,
  withRefresh,
} from '../api/index.ts';

type RowsId = 'listAllSchedules' | 'searchWorkItems';
type RowOf<O extends RowsId> = Output<O>['data'][number];

/** Tells if `milliseconds` have passed since `key` changed: the page is fresh until then. */
const useElapsed = (milliseconds: number, key: string): boolean => {
  const [elapsed, setElapsed] = useState<string | null>(null);
  useEffect(() => {
    const timer = setTimeout(() => setElapsed(key), milliseconds);
    return () => clearTimeout(timer);
  }, [milliseconds, key]);
  return elapsed === key;
};

/**
 * A page of a list. Its rows keep their places and are refreshed in them, so that nothing moves under the pointer; the order
 * is new when the page is opened, or after a change. With `live` the list is read again and again instead. `later`: the page
 * is no longer fresh, and its rows are refreshed each `every` milliseconds.
 */
export const useKeptRows = <O extends RowsId>({
  operation,
  query,
  ofRows,
  isActive,
  gone,
  live = false,
  onFocus = true,
}: {
  operation: O;
  query: QueryOf<O>;
  /** The query for rows by their ids. */
  ofRows: (ids: string[]) => QueryOf<O>;
  /** Tells if a row changes soon: the rows are refreshed more often then. */
  isActive: (row: RowOf<O>) => boolean;
  /** Rows that others deleted stay until the list is read again, or go at once. */
  gone: 'stay' | 'go';
  live?: boolean;
  onFocus?: boolean;
}): { list: LoadState<Output<O>>; rows: RowOf<O>[]; every: number; later: boolean } => {
  const [active, setActive] = useState(false);
  const [empty, setEmpty] = useState(false);
  const every = listPolling(active || live);
  const params = {} as Params<O>;
  const list = useOperation(operation, params, {
    query,
    keepPrevious: true,
    every: live || empty ? every : undefined,
    onFocus,
  });
  const rows: RowOf<O>[] = list.data?.data ?? [];
  const later = useElapsed(every, `${list.updatedAt}`) && !live && rows.length > 0;
  const refreshed = useOperation(operation, params, {
    query: ofRows(rows.map(({ id }) => id)),
    every,
    enabled: later,
  });
  const isNewer = refreshed.updatedAt > list.updatedAt;
  const fresh = new Map(refreshed.data?.data.map((row: RowOf<O>) => [row.id, row]));
  const shown = isNewer
    ? rows.flatMap((row): RowOf<O>[] => {
        const now = fresh.get(row.id) ?? (gone === 'stay' ? row : null);
        return now === null ? [] : [now];
      })
    : rows;
  const nowActive = shown.some(isActive);
  if (nowActive !== active) setActive(nowActive);
  const nowEmpty = list.data !== undefined && rows.length === 0;
  if (nowEmpty !== empty) setEmpty(nowEmpty);
  return { list: withRefresh(list, later ? refreshed : null), rows: shown, every, later };
};
