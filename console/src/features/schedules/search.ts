import type { QueryOf } from '../../api/operations.ts';
import { moment, oneOf, searchSchema, text } from '../../routing/search.ts';

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
  /** The time that the timeline and the calendar show: two moments, or else a span around now. */
  from: moment,
  to: moment,
  span: oneOf(['1h', '6h', '1d', '3d', '7d', '14d']),
  next: text,
});

export type SchedulesSearch = ReturnType<typeof schedulesSearch>;

export const pageSize = 50;

export const filterNames = [
  'q',
  'agent_id',
  'state',
  'outcome',
  'zone',
] as const satisfies readonly (keyof SchedulesSearch)[];

export const filterOf = (search: SchedulesSearch): Pick<SchedulesSearch, (typeof filterNames)[number]> =>
  Object.fromEntries(filterNames.map((name) => [name, search[name]]));

export const listQuery = (search: SchedulesSearch): QueryOf<'listAllSchedules'> => ({
  ...filterOf(search),
  sort: search.sort,
  next: search.next,
  limit: pageSize,
});

export const newScheduleSearch = searchSchema({ agent: text, copy: text });

export const scheduleSearch = searchSchema({
  tab: oneOf(['occurrences', 'upcoming', 'history', 'definition']),
  outcome: oneOf(['fired', 'on_time', 'late', 'caught_up', 'skipped', 'manual']),
  from: moment,
  to: moment,
  /** The time that "Why?" explains. */
  at: moment,
  next: text,
});

export const ledgerQuery = ({
  outcome,
  from,
  to,
  next,
}: ReturnType<typeof scheduleSearch>): QueryOf<'listOccurrences'> => ({ outcome, from, to, next });
