import type { Timeline, TimelineBucket, TimelineRow } from '../../../api/types.gen.ts';
import { to } from '../../../routing/to.ts';
import type { BandBucket, BandRow } from '../../../ui/index.ts';

const iso = (at: number) => new Date(at).toISOString();

const countsOf = (bucket: TimelineBucket): BandBucket['counts'] => ({
  'on-time': bucket.on_time,
  late: bucket.late,
  'caught-up': bucket.caught_up,
  skipped: bucket.skipped,
  missing: bucket.missing,
  due: bucket.due + bucket.expected,
  manual: bucket.manual,
});

/** A row of the band; what was recorded leads to the ledger of that time. */
export const toBandRow = (row: TimelineRow, { bucket_ms, now }: Timeline): BandRow => ({
  id: row.id,
  name: row.name,
  href: to('/agents/$agentId/schedules/$scheduleId', { agentId: row.agent.id, scheduleId: row.id }),
  buckets: row.buckets.map((bucket) => {
    const from = Date.parse(bucket.t);
    const past = from < Date.parse(now);
    return {
      from,
      to: from + bucket_ms,
      counts: countsOf(bucket),
      href: past
        ? (begin, end) =>
            to(
              '/agents/$agentId/schedules/$scheduleId',
              { agentId: row.agent.id, scheduleId: row.id },
              { from: iso(begin - 1), to: iso(end) },
            )
        : undefined,
    };
  }),
});
