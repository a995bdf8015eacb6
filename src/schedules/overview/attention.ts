import type { Executor } from '../../database/index.ts';
import { type Attention, linesOf, mostLines } from '../../lib/attention.ts';
import { counted, isolate, sentence } from '../../lib/prose.ts';
import { LocalClock } from '../../lib/times.ts';
import type { Scheduling } from '../../replicas/index.ts';
import { reasonsOf } from '../explain/reasons.ts';
import { whyOverdue } from '../explain/sentences.ts';
import {
  type BlockedRow,
  findRecords,
  listBlocked,
  listOverdue,
  listSkipped,
  mostCounted,
  type OverdueRow,
  type SkippedRow,
} from './attention-store.ts';

const subjectOf = ({ id, name }: { id: string; name: string }) => ({ type: 'schedule' as const, id, name });

const overdueLines = (
  { rows, total }: { rows: readonly OverdueRow[]; total: number },
  scheduling: Scheduling,
): Attention[] => {
  const now = scheduling.now.getTime();
  const line = (row: OverdueRow): Attention => {
    const clock = new LocalClock(row.timezone, now);
    const due = clock.near(row.due.getTime(), now);
    return {
      kind: 'schedule_overdue',
      severity: 'error',
      count: 1,
      since: row.due,
      subject: subjectOf(row),
      title: `${isolate(row.name)} is due and has not fired`,
      detail: `It has been due since ${due} (${clock.name}). ${whyOverdue(scheduling, row.due, clock)}`,
      filter: {},
    };
  };
  return linesOf(rows, line, ({ name }, { detail }) => ({
    count: total,
    title: `${counted(total, 'schedule', mostCounted)} are due and have not fired`,
    detail: `The first is ${isolate(name)}. ${detail}`,
    filter: { sort: 'next' },
  }));
};

const blockedLines = (rows: readonly BlockedRow[], now: number): Attention[] => {
  const line = (row: BlockedRow): Attention => {
    const clock = new LocalClock(row.timezone, now);
    const why = row.reason ? sentence(row.reason) : 'No next time can be computed.';
    const since = row.at
      ? ` Its last occurrence was skipped at ${clock.near(row.at.getTime(), now)} (${clock.name}).`
      : '';
    const next = row.next_run_at ? '' : ' It runs again after its definition has been changed.';
    return {
      kind: 'schedule_blocked',
      severity: 'error',
      count: 1,
      since: row.at,
      subject: subjectOf(row),
      title: `${isolate(row.name)} cannot fire`,
      detail: `${why}${since}${next}`,
      filter: {},
    };
  };
  return linesOf(rows, line, ({ name, total }, { detail }) => ({
    count: total,
    title: `${counted(total, 'schedule')} cannot fire`,
    detail: `The first is ${isolate(name)}. ${detail}`,
    filter: { state: 'blocked' },
  }));
};

/** The span of nominal times as a filter of occurrences, whose `from` is not included. */
const spanOf = (since: Date, until: Date) => ({
  from: new Date(since.getTime() - 1).toISOString(),
  to: until.toISOString(),
});

const skippedLines = async (
  executor: Executor,
  rows: readonly SkippedRow[],
  now: number,
): Promise<Attention[]> => {
  if (rows.length === 0) return [];
  const shown = rows.length <= mostLines ? rows : rows.slice(0, 1);
  const records = await findRecords(
    executor,
    shown.map(({ id, sample }) => ({ schedule_id: id, id: sample })),
  );
  const ordered = shown.flatMap((row) => {
    const record = records.find(({ schedule_id }) => schedule_id === row.id);
    return record ? [{ ...record, timezone: rows.length <= mostLines ? row.timezone : 'UTC' }] : [];
  });
  const reasons = await reasonsOf(executor, ordered, now);
  const reasonOf = new Map(ordered.map((record, k) => [record.schedule_id, reasons[k]!]));
  const line = (row: SkippedRow): Attention => ({
    kind: 'occurrences_skipped',
    severity: 'error',
    count: row.skipped,
    since: row.since,
    subject: subjectOf(row),
    title: `${counted(row.skipped, 'occurrence')} of ${isolate(row.name)} did not fire`,
    detail: reasonOf.get(row.id) ?? 'The records of them are no longer kept.',
    filter: { outcome: 'skipped', ...spanOf(row.since, row.until) },
  });
  return linesOf(rows, line, ({ id, name, total, schedules, first, last }) => ({
    count: total,
    since: first,
    title: `${counted(total, 'occurrence', mostCounted)} of ${counted(schedules, 'schedule', mostCounted)} did not fire`,
    detail: `Most are of ${isolate(name)}. ${reasonOf.get(id) ?? ''}`.trim(),
    filter: { outcome: 'skipped', ...spanOf(first, last) },
  }));
};

/** Schedules that are due and do not fire, cannot fire, or have missed occurrences since `from`. */
export const scheduleAttention = async (
  executor: Executor,
  scheduling: Scheduling,
  from: Date,
): Promise<Attention[]> => {
  const now = scheduling.now.getTime();
  return [
    ...overdueLines(await listOverdue(executor), scheduling),
    ...blockedLines(await listBlocked(executor), now),
    ...(await skippedLines(executor, await listSkipped(executor, from), now)),
  ];
};
