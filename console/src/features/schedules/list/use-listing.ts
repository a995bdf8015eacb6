import { useState } from 'react';
import { listPolling, useOperation, withRefresh } from '../../../api/index.ts';
import type { ListedSchedule } from '../../../api/types.gen.ts';
import { useClock } from '../../../time/index.ts';
import { listQuery, pageSize, type SchedulesSearch } from '../search.ts';

const isRunning = ({ last }: ListedSchedule): boolean =>
  last?.work_item?.status === 'EXECUTING' || last?.work_item?.status === 'PENDING';

/**
 * A page of the list. Its rows keep their places and are refreshed in them, so that nothing moves under the pointer; the
 * order is new when the page is opened, or after a change.
 */
export const useListing = (search: SchedulesSearch) => {
  const [calm, setCalm] = useState(true);
  const [empty, setEmpty] = useState(false);
  const every = listPolling(!calm);
  const list = useOperation(
    'listAllSchedules',
    {},
    {
      query: listQuery(search),
      keepPrevious: true,
      every: empty ? every : undefined,
    },
  );
  const rows = list.data?.data ?? [];
  const ids = rows.map(({ id }) => id).join(',');
  // Until then the list itself is fresh.
  const later = useClock((now) => now - list.updatedAt >= every);
  const refreshed = useOperation(
    'listAllSchedules',
    {},
    {
      query: { ids, limit: pageSize },
      every,
      enabled: later && rows.length > 0,
    },
  );
  const fresh = new Map(refreshed.data?.data.map((row) => [row.id, row]));
  const isNewer = refreshed.data !== undefined && refreshed.updatedAt > list.updatedAt;
  const shown = isNewer ? rows.flatMap((row) => fresh.get(row.id) ?? []) : rows;
  const nowCalm = !shown.some(isRunning);
  if (nowCalm !== calm) setCalm(nowCalm);
  const nowEmpty = list.data !== undefined && rows.length === 0;
  if (nowEmpty !== empty) setEmpty(nowEmpty);
  return { list: withRefresh(list, later ? refreshed : null), rows: shown };
};
