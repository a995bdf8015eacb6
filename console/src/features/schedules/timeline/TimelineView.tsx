import { useMemo } from 'react';
import { listPolling, useOperation } from '../../../api/index.ts';
import type { Timeline } from '../../../api/types.gen.ts';
import { useCursor, useUrlState } from '../../../routing/url-state.ts';
import { scheduleTimeline as words } from '../../../text/en/schedule-timeline.ts';
import { schedules } from '../../../text/en/schedules.ts';
import { Time, useClock, useZone } from '../../../time/index.ts';
import {
  Band,
  Box,
  Legend,
  Link,
  Loaded,
  Muted,
  NothingMatches,
  Pager,
  Section,
  Skeleton,
  Words,
} from '../../../ui/index.ts';
import { NoSchedules, SchedulesFrame } from '../SchedulesFrame.tsx';
import type { SchedulesSearch } from '../search.ts';
import { scheduleHref } from '../shared/address.ts';
import { legendKinds } from '../shared/outcomes.ts';
import { toBandRow } from './rows.ts';
import { bucketCount, paramsOf, type Span, useSpan } from './span.ts';
import { TimelineBar, timelineFilters } from './TimelineBar.tsx';
import css from './timeline.module.css';

const mostChanges = 8;

/** The zone of all times: the viewer's, or that of the schedules if the viewer wants theirs and they have one. */
const useTimelineZone = (rows: Timeline['data'] | undefined): string => {
  const zones = new Set(rows?.map(({ zone }) => zone));
  return useZone(zones.size === 1 ? [...zones][0] : null);
};

const Changes = ({ timeline, zone }: { timeline: Timeline; zone: string }) => {
  const rows = new Map(timeline.data.map((row) => [row.id, row]));
  const { changes } = timeline;
  if (changes.length === 0) return null;
  return (
    <Section title={words.changes}>
      <Box>
        <ul className={css.changes}>
          {changes
            .slice(-mostChanges)
            .reverse()
            .map(({ at, schedule_id, text }) => {
              const row = rows.get(schedule_id);
              return (
                <li key={`${at} ${schedule_id}`}>
                  <Time at={at} form="date" zone={zone} fixedZone />
                  <span>
                    {row && <Link href={scheduleHref(row.agent.id, row.id)}>{row.name}</Link>}{' '}
                    <Muted>{text}</Muted>
                  </span>
                </li>
              );
            })}
        </ul>
      </Box>
      {changes.length > mostChanges && <Muted small>{words.moreChanges(changes.length - mostChanges)}</Muted>}
    </Section>
  );
};

const Drawing = ({ timeline, span, zone }: { timeline: Timeline; span: Span; zone: string }) => {
  const clock = useClock((at) => Math.floor(at / 10_000) * 10_000);
  // Counted occurrences have happened, also when the clock of this page is behind.
  const now = Math.max(clock, Date.parse(timeline.now));
  const from = Date.parse(timeline.from);
  const until = Date.parse(timeline.to);
  const rows = useMemo(() => timeline.data.map((row) => toBandRow(row, timeline)), [timeline]);
  return (
    <Section
      title={words.title}
      note={
        <Words
          text={words.note}
          zone={zone}
          from={<Time at={new Date(span.from)} form="date" zone={zone} fixedZone />}
          to={<Time at={new Date(span.to)} form="date" zone={zone} fixedZone />}
        />
      }
      aside={<Legend kinds={legendKinds} />}
    >
      <Box padded>
        <Band
          label={words.label}
          rows={rows}
          from={from}
          to={until}
          now={now}
          zone={zone}
          transitions={timeline.zone_transitions}
        />
      </Box>
      {timeline.zone_transitions.length > 0 && (
        <ul className={css.notes}>
          {timeline.zone_transitions.map(({ at, zone: name, text }) => (
            <li key={`${at} ${name}`}>{text}</li>
          ))}
        </ul>
      )}
      {timeline.data.every(({ buckets }) => buckets.length === 0) && (
        <p className={css.notes}>{words.quiet}</p>
      )}
    </Section>
  );
};

export const TimelineView = () => {
  const { search, clear, count } = useUrlState<SchedulesSearch>();
  const span = useSpan(search);
  const { agent_id, schedule_id, next } = search;
  const own = useZone();
  const query = {
    ...paramsOf(span.from, span.to),
    buckets: bucketCount,
    agent_id,
    schedule_id,
    zone: own,
    limit: 50,
    next,
  };
  const got = useOperation(
    'getScheduleTimeline',
    {},
    { query, every: listPolling(false), keepPrevious: true },
  );
  const zone = useTimelineZone(got.data?.data);
  const pager = useCursor(got.data?.next);
  const filters = count(timelineFilters);
  const nothing = got.data?.data.length === 0;
  const empty = nothing && filters === 0 && next === undefined;
  return (
    <SchedulesFrame wide empty={empty} lead={words.timelineLead}>
      {!empty && (
        <TimelineBar span={span} scheduleName={got.data?.data.find(({ id }) => id === schedule_id)?.name} />
      )}
      <Loaded got={got} operation="getScheduleTimeline" skeleton={<Skeleton rows={8} height={30} />}>
        {(timeline) =>
          timeline.data.length > 0 ? (
            <>
              <Drawing timeline={timeline} span={span} zone={zone} />
              <Changes timeline={timeline} zone={zone} />
            </>
          ) : (
            <Section label={words.title}>
              <Box>
                {filters > 0 ? (
                  <NothingMatches
                    what={schedules.what}
                    filters={filters}
                    onClear={() => clear(timelineFilters)}
                  />
                ) : (
                  <NoSchedules />
                )}
              </Box>
            </Section>
          )
        }
      </Loaded>
      <Pager {...pager} />
    </SchedulesFrame>
  );
};
