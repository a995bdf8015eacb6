import type { Occurrence, OccurrencePage, ScheduleVersion } from '../../../api/types.gen.ts';
import type { OccurrenceStatus } from '../shared/outcomes.ts';

export interface LedgerRow
  extends Pick<Occurrence, 'scheduled_for' | 'count' | 'reason' | 'by' | 'work_item' | 'work_item_id'> {
  status: OccurrenceStatus;
  cause?: Occurrence['cause'];
  running_work_item_id?: string;
  lateness_ms: number | null;
  /** Changes between it and the row above it, the newest first. */
  changes: ScheduleVersion[];
}

/** The address of a row in the page: `#occurrence-2026-11-20T01:30:00.000Z`. */
export const rowKey = ({ scheduled_for, status }: LedgerRow): string =>
  `${status === 'manual' ? 'run' : 'occurrence'}-${scheduled_for}`;

/**
 * Returns the rows of a page, with the changes of the schedule where they were made. `due` is the next time, which is on
 * the first page. `before` are the changes before the first occurrence.
 */
export const ledgerRows = (
  { data, changes }: Pick<OccurrencePage, 'data' | 'changes'>,
  due: string | null,
): { rows: LedgerRow[]; before: ScheduleVersion[] } => {
  const next: LedgerRow[] =
    due === null
      ? []
      : [
          {
            scheduled_for: due,
            status: 'due',
            count: 1,
            reason: null,
            by: null,
            lateness_ms: null,
            work_item: null,
            work_item_id: null,
            changes: [],
          },
        ];
  let left = [...changes];
  const recorded = data.map((occurrence) => {
    const at = Date.parse(occurrence.scheduled_for);
    const later = left.filter((change) => Date.parse(change.at) >= at);
    left = left.filter((change) => Date.parse(change.at) < at);
    return { ...occurrence, changes: later };
  });
  return { rows: [...next, ...recorded], before: left };
};
