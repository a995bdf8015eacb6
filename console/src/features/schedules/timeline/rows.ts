import type { Timeline, TimelineRow } from '../../../api/types.gen.ts';
import { bucketCounts } from '../../../resource/index.ts';
import type { BandRow } from '../../../ui/index.ts';
import { scheduleHref } from '../shared/address.ts';

const iso = (at: number) => new Date(at).toISOString();

/** A row of the band; what was recorded leads to the ledger of that time. */
export const toBandRow = (row: TimelineRow, { bucket_ms, now }: Timeline): BandRow => ({
  id: row.id,
  name: row.name,
  href: scheduleHref(row.agent.id, row.id),
  buckets: row.buckets.map((bucket) => {
    const from = Date.parse(bucket.t);
    const past = from < Date.parse(now);
    return {
      from,
      to: from + bucket_ms,
      counts: bucketCounts(bucket),
      href: past
        ? (begin, end) => scheduleHref(row.agent.id, row.id, { from: iso(begin - 1), to: iso(end) })
        : undefined,
    };
  }),
});
