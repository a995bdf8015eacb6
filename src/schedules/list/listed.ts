import type { z } from 'zod';
import type { Executor } from '../../database/index.ts';
import { LocalClock } from '../../lib/times.ts';
import { findScheduling, type Scheduling } from '../../replicas/index.ts';
import { type HistoryRow, listLastPauses } from '../definition-store.ts';
import { type LedgerEntry, statusOf, toLedger } from '../explain/ledger.ts';
import { skipCauseOf, whyOverdue } from '../explain/sentences.ts';
import { inWords } from '../explain/versions.ts';
import { lateAfterMs } from '../lateness.ts';
import type { OccurrenceRow } from '../occurrence-store.ts';
import { occurrencesOfStored } from '../occurrences.ts';
import type { listedSchedule } from './schemas.ts';
import { type ListedRow, listRecent } from './store.ts';

const recentRecords = 20;

/** The next `count` occurrences: from the stored next run on, or after `now` if that is overdue. */
const upcomingOf = (row: ListedRow, count: number, now: number) => {
  const occurrences = row.next_run_at === null ? null : occurrencesOfStored(row);
  const upcoming: { at: Date; local: string; dst: 'gap' | 'overlap' | null }[] = [];
  if (!occurrences) return upcoming;
  let at = occurrences.next(Math.max(now, row.next_run_at!.getTime() - 1));
  while (at !== null && upcoming.length < count) {
    upcoming.push({ at: new Date(at), ...occurrences.explain(at) });
    at = occurrences.next(at);
  }
  return upcoming;
};

const pausedOf = (pause: HistoryRow | undefined, row: ListedRow) =>
  row.enabled
    ? null
    : { at: pause?.from_at ?? null, by: pause?.principal?.name ?? null, reason: pause?.reason ?? null };

const blockedReason = (row: ListedRow, last: LedgerEntry | undefined): string | null => {
  if (!row.enabled) return null;
  if (last?.cause === 'blocked') return last.reason;
  return row.next_run_at === null
    ? 'No next time of the schedule can be computed. Change its definition.'
    : null;
};

const overdueOf = (row: ListedRow, scheduling: Scheduling) => {
  const due = row.next_run_at;
  if (due === null || scheduling.now.getTime() - due.getTime() <= lateAfterMs) return null;
  return {
    since: due,
    reason: whyOverdue(scheduling, due, new LocalClock(row.timezone, scheduling.now.getTime())),
  };
};

const toRecent = (row: OccurrenceRow) => {
  const { scheduled_for, count, work_item_id } = row;
  return { scheduled_for, status: statusOf(row), cause: skipCauseOf(row), count, work_item_id };
};

/**
 * Adds to schedules what the application shows of them: their last records with reasons and Work Items, their next
 * times, and by whom they are paused or from what they are blocked.
 */
export const toListed = async (
  executor: Executor,
  rows: readonly ListedRow[],
  upcoming = 3,
): Promise<z.input<typeof listedSchedule>[]> => {
  const ids = rows.map((row) => row.id);
  const scheduling = await findScheduling(executor);
  const now = scheduling.now.getTime();
  const bySchedule = Map.groupBy(await listRecent(executor, ids, recentRecords), (row) => row.schedule_id);
  const zones = new Map(rows.map((row) => [row.id, row.timezone]));
  const last = await toLedger(
    executor,
    [...bySchedule.values()].map(([row]) => ({ ...row!, timezone: zones.get(row!.schedule_id)! })),
    now,
  );
  const lastOf = new Map(last.map((entry) => [entry.schedule_id, entry]));
  const paused = rows.flatMap((row) => (row.enabled ? [] : row.id));
  const pauses = paused.length === 0 ? [] : await listLastPauses(executor, paused);
  const pauseOf = new Map(pauses.map((pause) => [pause.schedule_id, pause]));
  return rows.map((row) => {
    const { agent_id, agent_name, revision: _, sort_name: __, ...schedule } = row;
    return {
      ...schedule,
      agent: { id: agent_id, name: agent_name },
      description: inWords(row.cron_expression),
      last: lastOf.get(row.id) ?? null,
      recent: (bySchedule.get(row.id) ?? []).map(toRecent),
      upcoming: upcomingOf(row, upcoming, now),
      paused: pausedOf(pauseOf.get(row.id), row),
      blocked_reason: blockedReason(row, lastOf.get(row.id)),
      overdue: overdueOf(row, scheduling),
    };
  });
};
