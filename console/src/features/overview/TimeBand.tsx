import { useMemo, useState } from 'react';
import { useOperation } from '../../api/index.ts';
import type { Timeline, TimelineRow } from '../../api/types.gen.ts';
import { bucketCounts } from '../../resource/index.ts';
import { to } from '../../routing/to.ts';
import { overview as words } from '../../text/en/overview.ts';
import { useClock, useZone } from '../../time/index.ts';
import { Band, type BandRow, Box, Legend, Muted, Section } from '../../ui/index.ts';

const hour = 3_600_000;
const everyMs = 60_000;

/** Events of the triggers of an agent: a row of its own, below that of its schedules. */
const eventRows = ({ id, name, buckets }: TimelineRow, bucketMs: number): BandRow[] => {
  const received = buckets.flatMap(({ t, events }) => {
    if (!events) return [];
    const { fired, other, failed } = events;
    const from = Date.parse(t);
    return fired + other + failed === 0
      ? []
      : [{ from, to: from + bucketMs, counts: { 'on-time': fired, skipped: other, missing: failed } }];
  });
  if (received.length === 0) return [];
  return [
    {
      id: `${id} events`,
      name: words.eventsOf(name),
      href: to('/agents/$agentId', { agentId: id }, { tab: 'triggers' }),
      words: { 'on-time': words.fired, skipped: words.other, missing: words.lost },
      buckets: received,
    },
  ];
};

const rowsOf = ({ data, bucket_ms }: Timeline): BandRow[] =>
  data.flatMap((row) => [
    ...(row.schedules > 0 ? [scheduleRow(row, bucket_ms)] : []),
    ...eventRows(row, bucket_ms),
  ]);

const scheduleRow = ({ id, name, buckets }: TimelineRow, bucketMs: number): BandRow => ({
  id,
  name,
  href: to('/agents/$agentId', { agentId: id }, { tab: 'schedules' }),
  buckets: buckets.map((bucket) => {
    const from = new Date(bucket.t).getTime();
    return {
      from,
      to: from + bucketMs,
      counts: bucketCounts(bucket),
      href: (begin: number, end: number) =>
        to(
          '/schedules',
          {},
          {
            view: 'timeline',
            agent_id: id,
            from: new Date(begin - hour).toISOString(),
            to: new Date(end + hour).toISOString(),
          },
        ),
    };
  }),
});

/** Twelve hours back and ahead, a row for each agent with schedules. */
export const TimeBand = () => {
  const zone = useZone();
  // The line of now moves in the span, and the span follows it once an hour: the page may be open for days.
  const [opened] = useState(() => Math.floor(Date.now() / everyMs) * everyMs);
  const middle = useClock((now) => opened + Math.floor((now - opened) / hour) * hour);
  const span = { from: middle - 12 * hour, to: middle + 12 * hour };
  const got = useOperation(
    'getScheduleTimeline',
    {},
    {
      query: {
        rows: 'agents' as const,
        from: new Date(span.from).toISOString(),
        to: new Date(span.to).toISOString(),
        buckets: 96,
        zone,
        limit: 20,
      },
      // With jitter at most once in a minute.
      every: everyMs * 1.25,
      keepPrevious: true,
    },
  );
  const { data } = got;
  const rows = useMemo(() => (data ? rowsOf(data) : []), [data]);
  return (
    <Section
      title={words.timeline}
      note={words.timelineNote(zone)}
      aside={<Legend kinds={['on-time', 'late', 'caught-up', 'skipped', 'missing', 'due', 'manual']} />}
    >
      <Box padded>
        {data && rows.length === 0 ? (
          <p style={{ margin: 0 }}>
            <Muted>{words.noSchedules}</Muted>
          </p>
        ) : (
          <Band
            label={words.bandLabel}
            rows={rows}
            from={span.from}
            to={span.to}
            now={data ? new Date(data.now).getTime() : Date.now()}
            zone={zone}
            transitions={data?.zone_transitions}
          />
        )}
      </Box>
    </Section>
  );
};
