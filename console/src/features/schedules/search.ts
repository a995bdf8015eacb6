import { path, type Query } from '../../api/request.ts';
import { moment, oneOf, searchSchema, text } from '../../app/search.ts';

export const scheduleViews = ['list', 'timeline', 'calendar'] as const;
export const schedulesSearch = searchSchema({
  view: oneOf(scheduleViews),
  q: text,
  agent_id: text,
  schedule_id: text,
  state: oneOf(['enabled', 'paused', 'blocked']),
  outcome: oneOf(['on_time', 'late', 'caught_up', 'skipped', 'manual']),
  zone: text,
  sort: oneOf(['next', 'last', 'name']),
  /** What the timeline and the calendar show: two moments, or else a span around now. */
  from: moment,
  to: moment,
  span: oneOf(['1h', '6h', '1d', '3d', '7d', '14d']),
  next: text,
});

export type SchedulesSearch = ReturnType<typeof schedulesSearch>;

export const schedulesPath = '/app/api/schedules';
export const pageSize = 50;

/** The parameters that narrow the list. */
export const filterNames = [
  'q',
  'agent_id',
  'state',
  'outcome',
  'zone',
] as const satisfies readonly (keyof SchedulesSearch)[];

/** The filters of an address as the API takes them. */
export const filterOf = (search: SchedulesSearch): Query =>
  Object.fromEntries(filterNames.map((name) => [name, search[name]]));

/** What the list asks for. */
export const listRequest = (search: SchedulesSearch) => ({
  path: schedulesPath,
  query: { ...filterOf(search), sort: search.sort, next: search.next, limit: pageSize } as Query,
});

/** The agents that the form offers. */
export const newScheduleRequest = { path: '/app/api/agents', query: { mode: 'worker', limit: 50 } };

export const newScheduleSearch = searchSchema({ agent: text, copy: text });

export const scheduleTabs = ['occurrences', 'upcoming', 'history', 'definition'] as const;
export const scheduleSearch = searchSchema({
  tab: oneOf(scheduleTabs),
  outcome: text,
  from: moment,
  to: moment,
  /** The time that "Why?" explains. */
  at: moment,
  next: text,
});

/** The occurrences that the ledger shows. */
export const ledgerRequest = (
  agentId: string,
  scheduleId: string,
  { outcome, from, to, next }: ReturnType<typeof scheduleSearch>,
) => ({
  path: path`/app/api/agents/${agentId}/schedules/${scheduleId}/occurrences`,
  query: { outcome, from, to, next } as Query,
});

/** What the page of one schedule asks for, with the tab that is open first. */
export const scheduleRequests = (
  agentId: string,
  scheduleId: string,
  search: ReturnType<typeof scheduleSearch>,
) => [
  { path: path`/app/api/schedules/${scheduleId}` },
  ...((search.tab ?? 'occurrences') === 'occurrences' ? [ledgerRequest(agentId, scheduleId, search)] : []),
];
