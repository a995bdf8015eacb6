import { compileSchedule, type Occurrences } from '@agent-platform/cron';
import type { ScheduleRow } from './store.ts';

/** The occurrences of an expression in a zone; null if it is not accepted any more or the zone is no longer known. */
export const occurrencesOfStored = ({
  cron_expression,
  timezone,
}: Pick<ScheduleRow, 'cron_expression' | 'timezone'>): Occurrences | null => {
  try {
    return compileSchedule(cron_expression, timezone);
  } catch {
    return null;
  }
};
