import { useOperation } from '../../../api/index.ts';
import { useKeptRows } from '../../../resource/index.ts';
import type { ListedWorkItem } from '../types.ts';
import { filterOf, listQuery, type Search } from './filters.ts';

const isMoving = ({ status }: ListedWorkItem): boolean => status === 'EXECUTING' || status === 'PENDING';

/** A page of the list, and the number of new ones, which come when someone asks for them. */
export const useListing = (search: Search) => {
  const live = search.live === '1';
  const { list, rows, every, later } = useKeptRows({
    operation: 'searchWorkItems',
    query: listQuery(search),
    ofRows: (ids) => ({ ids }),
    isActive: isMoving,
    gone: 'stay',
    live,
    onFocus: live,
  });
  const newestFirst = search.next === undefined && (search.sort ?? 'created') === 'created';
  const query = { ...filterOf(search), than: rows[0]?.id ?? '' };
  const newer = useOperation('countNewerWorkItems', {}, { query, every, enabled: later && newestFirst });
  return {
    list,
    rows,
    counts: list.data?.counts,
    newer: newer.updatedAt > list.updatedAt && newer.data ? newer.data : { count: 0, more: false },
    showNewer: list.refetch,
  };
};
