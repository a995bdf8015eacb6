import { databaseNow, type Executor } from '../../database/index.ts';
import { positionCursor, readPosition, sortedPage } from '../../http/index.ts';
import { type WorkItemOutcome, workItemCalls } from '../../work-items/index.ts';
import { isLate } from '../lateness.ts';
import { listOccurrences, type OccurrenceRow, type OutcomeFilter } from '../occurrence-store.ts';
import type { ledgerStatuses } from '../schemas.ts';
import type { ScheduleRow } from '../store.ts';
import { reasonsOf } from './reasons.ts';
import { type SkipCause, skipCauseOf } from './sentences.ts';

/** Status of an occurrence in the ledger: its outcome, but one that fired is on time or late. */
export type LedgerStatus = (typeof ledgerStatuses)[number];

/** A recorded occurrence with why it has its outcome and what became of its Work Item. */
export interface LedgerEntry extends Omit<OccurrenceRow, 'reason' | 'running_work_item_id'> {
  status: LedgerStatus;
  lateness_ms: number;
  cause: SkipCause | null;
  reason: string | null;
  /** The Work Item that was still running; only if it was skipped because of it. */
  running_work_item_id?: string;
  /** Name of the principal that ran it by hand; null for any other. */
  by: string | null;
  work_item: Omit<WorkItemOutcome, 'by'> | null;
}

export const statusOf = (row: Pick<OccurrenceRow, 'outcome' | 'at' | 'scheduled_for'>): LedgerStatus => {
  if (row.outcome !== 'fired') return row.outcome;
  return isLate(row) ? 'late' : 'on_time';
};

const longestError = 200;

const itemOf = ({ by: _, error, ...item }: WorkItemOutcome): LedgerEntry['work_item'] => ({
  ...item,
  error: error && { ...error, message: error.message.slice(0, longestError) },
});

/** Adds to recorded occurrences their reasons, in times of their zones, and their Work Items. Keeps their order. */
export const toLedger = async (
  executor: Executor,
  rows: readonly (OccurrenceRow & { timezone: string })[],
  now: number,
): Promise<LedgerEntry[]> => {
  if (rows.length === 0) return [];
  const reasons = await reasonsOf(executor, rows, now);
  const ids = rows.flatMap(({ work_item_id }) => work_item_id ?? []);
  const found = ids.length === 0 ? [] : await workItemCalls.findOutcomes(executor, ids);
  const items = new Map(found.map((item) => [item.id, item]));
  return rows.map(({ timezone: _, running_work_item_id: running, ...row }, k) => {
    const item = row.work_item_id === null ? undefined : items.get(row.work_item_id);
    return {
      ...row,
      status: statusOf(row),
      // Occurrences that a person planned are recorded before their time.
      lateness_ms: Math.max(0, row.at.getTime() - row.scheduled_for.getTime()),
      cause: skipCauseOf(row),
      reason: reasons[k]!,
      ...(running ? { running_work_item_id: running } : {}),
      by: row.outcome === 'manual' ? (item?.by ?? null) : null,
      work_item: item ? itemOf(item) : null,
    };
  });
};

const dateOf = (time: string | undefined): Date | null => (time === undefined ? null : new Date(time));

/** Returns a page of the recorded occurrences of a schedule. */
export const pageOfOccurrences = async (
  executor: Executor,
  { id, timezone }: Pick<ScheduleRow, 'id' | 'timezone'>,
  query: {
    limit: number;
    next?: string | undefined;
    from?: string | undefined;
    to?: string | undefined;
    outcome?: OutcomeFilter | undefined;
  },
) => {
  const { limit, next, outcome = null } = query;
  const position = readPosition(next, 'scheduled_for', ['time', 'id']);
  const rows = await listOccurrences(executor, id, {
    limit: limit + 1,
    from: dateOf(query.from),
    to: dateOf(query.to),
    outcome,
    before: position && { scheduled_for: new Date(position[0] ?? 0), id: position[1] },
  });
  const page = sortedPage(
    rows,
    limit,
    (row) => positionCursor('scheduled_for', [row.scheduled_for.getTime(), row.id]),
    (row) => ({ ...row, timezone }),
  );
  return { ...page, data: await toLedger(executor, page.data, await databaseNow(executor)) };
};
