import type { ListedSchedule } from '../../../api/types.gen.ts';
import { useKeptRows } from '../../../resource/index.ts';
import { listQuery, pageSize, type SchedulesSearch } from '../search.ts';

const isRunning = ({ last }: ListedSchedule): boolean =>
  last?.work_item?.status === 'EXECUTING' || last?.work_item?.status === 'PENDING';

export const useListing = (search: SchedulesSearch) =>
  useKeptRows({
    operation: 'listAllSchedules',
    query: listQuery(search),
    ofRows: (ids) => ({ ids: ids.join(','), limit: pageSize }),
    isActive: isRunning,
    gone: 'go',
  });
