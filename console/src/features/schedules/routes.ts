import { readEarly } from '../../api/query.ts';
import { page } from '../../routing/page.ts';
import { noSearch } from '../../routing/search.ts';
import { ledgerQuery, listQuery, newScheduleSearch, scheduleSearch, schedulesSearch } from './search.ts';

export const schedulesPages = [
  page({
    path: '/schedules',
    search: schedulesSearch,
    operation: 'listSchedules',
    first: ({ search }) => {
      if ((search.view ?? 'list') === 'list') readEarly('listAllSchedules', {}, listQuery(search));
    },
    component: [() => import('./SchedulesPage.tsx'), 'SchedulesPage'],
  }),
  page({
    path: '/schedules/new',
    search: newScheduleSearch,
    operation: 'createSchedule',
    first: () => readEarly('listAgentSummaries', {}, { mode: 'worker', limit: 50 }),
    component: [() => import('./NewSchedulePage.tsx'), 'NewSchedulePage'],
  }),
  page({
    path: '/schedules/$scheduleId',
    search: scheduleSearch,
    operation: 'getSchedule',
    component: [() => import('./ScheduleRedirectPage.tsx'), 'ScheduleRedirectPage'],
  }),
  page({
    path: '/agents/$agentId/schedules/$scheduleId',
    search: scheduleSearch,
    operation: 'getSchedule',
    first: ({ params: { agentId, scheduleId }, search }) => {
      readEarly('findSchedule', { schedule_id: scheduleId });
      if ((search.tab ?? 'occurrences') === 'occurrences')
        readEarly('listOccurrences', { agent_id: agentId, schedule_id: scheduleId }, ledgerQuery(search));
    },
    component: [() => import('./SchedulePage.tsx'), 'SchedulePage'],
  }),
  page({
    path: '/agents/$agentId/schedules/$scheduleId/edit',
    search: noSearch,
    operation: 'replaceSchedule',
    component: [() => import('./EditSchedulePage.tsx'), 'EditSchedulePage'],
  }),
] as const;
