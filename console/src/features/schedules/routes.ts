import { readOf } from '../../api/operations.ts';
import { page } from '../../routing/page.ts';
import { noSearch } from '../../routing/search.ts';
import { ledgerQuery, listQuery, newScheduleSearch, scheduleSearch, schedulesSearch } from './search.ts';

export const schedulesPages = [
  page({
    path: '/schedules',
    search: schedulesSearch,
    operation: 'listSchedules',
    first: ({ search }) =>
      (search.view ?? 'list') === 'list' ? [readOf('listAllSchedules', {}, listQuery(search))] : [],
    component: [() => import('./SchedulesPage.tsx'), 'SchedulesPage'],
  }),
  page({
    path: '/schedules/new',
    search: newScheduleSearch,
    operation: 'createSchedule',
    first: () => [readOf('listAgentSummaries', {}, { mode: 'worker', limit: 50 })],
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
    first: ({ params: { agentId, scheduleId }, search }) => [
      readOf('findSchedule', { schedule_id: scheduleId }),
      ...((search.tab ?? 'occurrences') === 'occurrences'
        ? [readOf('listOccurrences', { agent_id: agentId, schedule_id: scheduleId }, ledgerQuery(search))]
        : []),
    ],
    component: [() => import('./SchedulePage.tsx'), 'SchedulePage'],
  }),
  page({
    path: '/agents/$agentId/schedules/$scheduleId/edit',
    search: noSearch,
    operation: 'replaceSchedule',
    component: [() => import('./EditSchedulePage.tsx'), 'EditSchedulePage'],
  }),
] as const;
