import { useEffect, useState } from 'react';
import { listPolling, useOperation, withRefresh } from '../../../api/index.ts';
import type { ListedWorkItem } from '../types.ts';
import { filterOf, listQuery, type Search } from './filters.ts';

/** Tells if `milliseconds` have passed since `key` changed: the page is fresh until then. */
const useElapsed = (milliseconds: number, key: string): boolean => {
  const [elapsed, setElapsed] = useState<string | null>(null);
  useEffect(() => {
    const timer = setTimeout(() => setElapsed(key), milliseconds);
    return () => clearTimeout(timer);
  }, [milliseconds, key]);
  return elapsed === key;
};

const isMoving = ({ status }: ListedWorkItem): boolean => status === 'EXECUTING' || status === 'PENDING';

/**
 * A page of the list. Its rows are kept as they are and refreshed in place; what is new is counted, and comes when
 * someone asks for it. With Live on, the list is read again and again instead.
 */
export const useListing = (search: Search) => {
  const live = search.live === '1';
  const filter = filterOf(search);
  const [moving, setMoving] = useState(false);
  const every = listPolling(moving || live);
  const [empty, setEmpty] = useState(false);
  const list = useOperation(
    'searchWorkItems',
    {},
    {
      query: listQuery(search),
      keepPrevious: true,
      every: live || empty ? every : undefined,
      onFocus: live,
    },
  );
  const rows = list.data?.data ?? [];
  const later = useElapsed(every, `${list.updatedAt}`) && !live && rows.length > 0;
  const refreshed = useOperation(
    'searchWorkItems',
    {},
    {
      query: { ids: rows.map(({ id }) => id), counts: undefined },
      every,
      enabled: later,
    },
  );
  const newestFirst = search.next === undefined && (search.sort ?? 'created') === 'created';
  const newer = useOperation(
    'countNewerWorkItems',
    {},
    {
      query: { ...filter, than: rows[0]?.id ?? '' },
      every,
      enabled: later && newestFirst,
    },
  );
  const isNewer = refreshed.updatedAt > list.updatedAt;
  const fresh = new Map(isNewer ? refreshed.data?.data.map((row) => [row.id, row]) : []);
  const shown = rows.map((row) => fresh.get(row.id) ?? row);
  const nowMoving = shown.some(isMoving);
  if (nowMoving !== moving) setMoving(nowMoving);
  const nowEmpty = list.data !== undefined && rows.length === 0;
  if (nowEmpty !== empty) setEmpty(nowEmpty);
  return {
    list: withRefresh(list, later ? refreshed : null),
    rows: shown,
    counts: list.data?.counts,
    newer: newer.updatedAt > list.updatedAt && newer.data ? newer.data : { count: 0, more: false },
    showNewer: list.refetch,
  };
};
