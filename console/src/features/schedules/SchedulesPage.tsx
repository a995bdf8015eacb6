import { useUrlState } from '../../routing/url-state.ts';
import { CalendarView } from './calendar/CalendarView.tsx';
import { ListView } from './list/ListView.tsx';
import type { SchedulesSearch } from './search.ts';
import { TimelineView } from './timeline/TimelineView.tsx';

const views = { list: ListView, timeline: TimelineView, calendar: CalendarView };

export const SchedulesPage = () => {
  const { search } = useUrlState<SchedulesSearch>();
  const View = views[search.view ?? 'list'];
  return <View />;
};
