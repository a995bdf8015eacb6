import { listPolling, useOperation } from '../../../api/index.ts';
import type { Timeline } from '../../../api/types.gen.ts';
import { useUrlState } from '../../../routing/url-state.ts';
import { common } from '../../../text/en/common.ts';
import { scheduleTimeline as words } from '../../../text/en/schedule-timeline.ts';
import { schedules } from '../../../text/en/schedules.ts';
import { shortDay, Time, useClock, useZone } from '../../../time/index.ts';
import {
  Bar,
  Box,
  Button,
  CopyButton,
  FilterBar,
  Loaded,
  Muted,
  NothingMatches,
  Section,
  Skeleton,
  Words,
} from '../../../ui/index.ts';
import { AgentFilter } from '../list/AgentFilter.tsx';
import { NoSchedules, SchedulesFrame } from '../SchedulesFrame.tsx';
import type { SchedulesSearch } from '../search.ts';
import { paramsOf } from '../timeline/span.ts';
import css from './Calendar.module.css';
import { Calendar } from './Calendar.tsx';
import { cellsOf, collisionOf, extremesOf, type Week, weekOf } from './load.ts';

const hour = 3_600_000;
const mostAgents = 100;

const Load = ({
  timeline,
  zone,
  agentId,
}: {
  timeline: Timeline;
  zone: string;
  agentId: string | undefined;
}) => {
  const { busiest, quiet } = extremesOf(timeline);
  const query = {
    ...paramsOf(busiest.at, busiest.at + hour),
    buckets: 60,
    rows: 'agents' as const,
    limit: mostAgents,
    agent_id: agentId,
  };
  const got = useOperation(
    'getScheduleTimeline',
    {},
    { query, enabled: busiest.total > 1, keepPrevious: true, staleTime: 60_000 },
  );
  if (busiest.total === 0) return <p className={css.facts}>{words.noLoad}</p>;
  const collision = got.data && !got.previous ? collisionOf(got.data) : null;
  const time = (at: number) => <Time at={new Date(at)} form="date" zone={zone} fixedZone />;
  return (
    <ul className={css.facts}>
      <li>
        <Words text={words.busiest(busiest.total)} at={time(busiest.at)} />{' '}
        {collision && collision.count > 1 && (
          <Words text={words.collision(collision.count)} at={time(collision.at)} />
        )}
      </li>
      <li>
        {quiet.hours > 0 ? <Words text={words.quietest(quiet.hours)} at={time(quiet.at)} /> : words.noQuiet}
      </li>
      {timeline.zone_transitions.map(({ at, zone: name, text }) => (
        <li key={`${at} ${name}`}>{text}</li>
      ))}
      {timeline.has_more && (
        <li>
          <Muted>{words.firstAgents(mostAgents)}</Muted>
        </li>
      )}
    </ul>
  );
};

const CalendarBar = ({ week, shown }: { week: Week; shown: boolean }) => {
  const { search, set, href, clear, count } = useUrlState<SchedulesSearch>();
  const go = (at: number) => set({ from: new Date(at).toISOString(), to: undefined });
  return (
    <FilterBar
      set={shown ? count(['agent_id']) : 0}
      onClear={() => clear(['agent_id'])}
      aside={
        // A moment in the middle of the week is in the same week in every zone.
        <CopyButton
          small
          label={common.copyLink}
          value={`${location.origin}${href({ from: new Date(week.from + 84 * hour).toISOString(), to: undefined })}`}
        />
      }
    >
      <AgentFilter value={search.agent_id} onChange={(agent_id) => set({ agent_id })} />
      <Bar>
        <Button small onClick={() => go(week.from - 84 * hour)}>
          {words.weekBefore}
        </Button>
        <Button
          small
          disabledReason={search.from === undefined ? words.thisWeekShown : null}
          onClick={() => set({ from: undefined, to: undefined })}
        >
          {words.thisWeek}
        </Button>
        <Button small onClick={() => go(week.to + 84 * hour)}>
          {words.weekAfter}
        </Button>
      </Bar>
    </FilterBar>
  );
};

/** The week of all schedules: the number of occurrences in each hour, collisions, and quiet hours. */
export const CalendarView = () => {
  const { search, clear } = useUrlState<SchedulesSearch>();
  const zone = useZone();
  const today = useClock((now) => weekOf(now, zone).from);
  const asked = Date.parse(search.from ?? '');
  const week = weekOf(Number.isNaN(asked) ? today : asked, zone);
  const { agent_id } = search;
  const query = {
    ...paramsOf(week.from, week.to),
    buckets: Math.round((week.to - week.from) / hour),
    rows: 'agents' as const,
    limit: mostAgents,
    agent_id,
    zone,
  };
  const got = useOperation('getScheduleTimeline', {}, { query, every: listPolling(false) });
  const nothing = got.data?.data.length === 0;
  const empty = nothing && agent_id === undefined;
  const title = words.week(shortDay(new Date(week.from), zone), shortDay(new Date(week.to - hour), zone));
  return (
    <SchedulesFrame empty={empty} lead={words.calendarLead}>
      {!empty && <CalendarBar week={week} shown={!nothing} />}
      <Loaded got={got} operation="getScheduleTimeline" skeleton={<Skeleton rows={24} height={28} />}>
        {(timeline) =>
          nothing ? (
            <Box>
              {empty ? (
                <NoSchedules />
              ) : (
                <NothingMatches what={schedules.what} filters={1} onClear={() => clear(['agent_id'])} />
              )}
            </Box>
          ) : (
            <Section title={title} note={zone}>
              <Load timeline={timeline} zone={zone} agentId={agent_id} />
              <Box scroll>
                <Calendar week={week} cells={cellsOf(timeline, zone)} zone={zone} agentId={agent_id} />
              </Box>
            </Section>
          )
        }
      </Loaded>
    </SchedulesFrame>
  );
};
