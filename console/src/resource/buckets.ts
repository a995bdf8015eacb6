import type { TimelineBucket } from '../api/types.gen.ts';
import type { BandBucket } from '../ui/index.ts';

/** The marks of a bucket of the timeline, with their numbers. */
export const bucketCounts = (bucket: TimelineBucket): BandBucket['counts'] => ({
  'on-time': bucket.on_time,
  late: bucket.late,
  'caught-up': bucket.caught_up,
  skipped: bucket.skipped,
  missing: bucket.missing,
  due: bucket.due + bucket.expected,
  manual: bucket.manual,
});
