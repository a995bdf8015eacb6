import { useEffect, useEffectEvent, useRef } from 'react';
import { polling, refresh as readAgain, useEventStream } from '../../../api/index.ts';
import type { WorkItemDetail } from '../types.ts';

const finished: readonly WorkItemDetail['status'][] = ['COMPLETED', 'ERROR', 'CANCELLED'];

/** Events that come together are shown together. */
const gatherMs = 150;

/**
 * Follows a Work Item by its one stream until it is finished: what shows it is read again after each event. Returns how
 * often to ask instead while the stream does not work.
 */
export const useLive = (id: string, item: WorkItemDetail | undefined): number | undefined => {
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const refresh = useEffectEvent(() => void readAgain('getWorkItemDetail', 'listWorkItemEvents'));
  useEffect(() => () => clearTimeout(timer.current), []);
  const open = item !== undefined && !finished.includes(item.status);
  const state = useEventStream(
    'followWorkItemForPage',
    { work_item_id: id },
    {
      enabled: open,
      after: item ? String(item.last_event_id) : '0',
      onEvent: () => {
        clearTimeout(timer.current);
        timer.current = setTimeout(refresh, gatherMs);
      },
    },
  );
  return open && state === 'failed' ? polling.withoutStream : undefined;
};
