import type { Rows } from './fixture.ts';
import { nominalTimes, type TestSchedule } from './test-schedules.ts';

const graceMs = 60_000;

interface RecordedRow {
  schedule_id: string;
  scheduled_for: Date;
  outcome: 'fired' | 'caught_up' | 'skipped';
  work_item_id: string | null;
  at: Date;
  count: number;
  reason: string | null;
  running_work_item_id: string | null;
}

interface Item {
  id: string;
  schedule_id: string;
  occurrence: Date;
  status: string;
  created: number;
}

/** Occurrences by outcome. */
export interface Counts {
  fired: number;
  caughtUp: number;
  skipped: number;
}

/** The result of a verification. `problems` is empty if every occurrence was handled exactly once. */
export interface Verification extends Counts {
  /** The nominal times that were due. */
  occurrences: number;
  /** Of these: not handled, and handled more than once. */
  missing: number;
  doubled: number;
  bySchedule: Map<string, Counts>;
  problems: string[];
}

const iso = (ms: number): string => new Date(ms).toISOString();

/** Checks one recorded row for the nominal time `due[first]` and the `count - 1` after it. */
const rowProblems = (schedule: TestSchedule, due: number[], first: number, row: RecordedRow): string[] => {
  const problems: string[] = [];
  const at = row.at.getTime();
  const last = first + row.count - 1;
  const covered = due[last]!;
  if (covered > at) problems.push(`${iso(covered)} was handled at ${iso(at)}, before its time`);
  let latest = last;
  while (latest + 1 < due.length && due[latest + 1]! <= at) latest++;
  const late = at - due[latest]! > graceMs;
  if (row.outcome === 'skipped') {
    if (row.reason === 'edited' || row.reason === 'paused') {
      // A change records what it skips in its own transaction, at its own moment.
      const change = schedule.definitions.find(({ after }) => after === at);
      if (!change || (change.matches === null) !== (row.reason === 'paused'))
        problems.push(`${iso(covered)} was skipped as ${row.reason}, and no one did so at ${iso(at)}`);
    } else if (row.reason === 'overlap') {
      if (schedule.overlap !== 'skip' || row.running_work_item_id === null || last !== latest)
        problems.push(`${iso(covered)} was skipped because of an overlap`);
    } else if (last === latest && !(late && !schedule.catchUp))
      problems.push(`${iso(covered)} was skipped and should have fired`);
    return problems;
  }
  if (last !== latest) problems.push(`${iso(covered)} fired, and ${iso(due[latest]!)} was the latest due`);
  if ((row.outcome === 'caught_up') !== late)
    problems.push(`${iso(covered)} is ${row.outcome}, ${at - covered} ms late`);
  if (late && !schedule.catchUp) problems.push(`${iso(covered)} fired late without catch_up`);
  return problems;
};

/** Verifies one schedule and adds the result to `verification`. */
const addSchedule = (
  verification: Verification,
  schedule: TestSchedule,
  until: number,
  stored: { happened: RecordedRow[]; items: Item[]; nextRunAt: number | null | undefined },
): void => {
  const say = (problem: string) => verification.problems.push(`schedule ${schedule.id}: ${problem}`);
  const counts: Counts = { fired: 0, caughtUp: 0, skipped: 0 };
  verification.bySchedule.set(schedule.id, counts);
  const { due, next } = nominalTimes(schedule, until);
  const places = new Map(due.map((at, place) => [at, place]));
  const times = due.map(() => 0);
  const made = new Map(stored.items.map((item) => [item.id, item.occurrence.getTime()]));
  for (const { id, created } of stored.items) {
    if (created !== 1) say(`Work Item ${id} created ${created} times`);
  }
  // No Work Item ends here by itself, so that one at most is open of a schedule that lets none overlap.
  const open = stored.items.filter(({ status }) => status === 'PENDING');
  if (schedule.overlap !== 'queue' && open.length > 1) say(`${open.length} Work Items are open`);
  for (const { running_work_item_id: running } of stored.happened) {
    if (running !== null && running !== open[0]?.id) say(`${running} was running, and is not open`);
  }
  for (const row of stored.happened) {
    const scheduledFor = row.scheduled_for.getTime();
    const first = places.get(scheduledFor);
    if (first === undefined || first + row.count > due.length) {
      say(`${iso(scheduledFor)}, ${row.count} times, is no occurrence of it up to ${iso(until)}`);
      continue;
    }
    for (let k = 0; k < row.count; k++) times[first + k]!++;
    for (const problem of rowProblems(schedule, due, first, row)) say(problem);
    if (row.outcome === 'skipped') {
      counts.skipped += row.count;
      continue;
    }
    counts[row.outcome === 'fired' ? 'fired' : 'caughtUp']++;
    if (made.get(row.work_item_id!) !== scheduledFor) say(`the Work Item of ${iso(scheduledFor)} is missing`);
    made.delete(row.work_item_id!);
  }
  for (const [id, occurrence] of made) say(`Work Item ${id} of ${iso(occurrence)} is not recorded`);
  for (const [place, n] of times.entries()) {
    if (n === 0) verification.missing++;
    if (n > 1) verification.doubled++;
    if (n !== 1) say(`${iso(due[place]!)} was handled ${n} times`);
  }
  if (stored.nextRunAt !== next)
    say(`next_run_at is ${stored.nextRunAt && iso(stored.nextRunAt)}, not ${next && iso(next)}`);
  verification.occurrences += due.length;
  for (const outcome of ['fired', 'caughtUp', 'skipped'] as const) verification[outcome] += counts[outcome];
};

/**
 * Compares the database with the occurrences by definition. It walks every minute from
 * the first occurrence of each schedule to `until`, and expects that each matching minute is exactly one Work Item or
 * belongs to one counted row of skipped ones; that what fired was the latest due; that `caught_up` is only past the
 * grace and only with `catch_up`; and that `next_run_at` is the first minute left.
 */
export const verifyOccurrences = async (
  rows: Rows,
  schedules: TestSchedule[],
  until: number,
): Promise<Verification> => {
  const verification: Verification = {
    occurrences: 0,
    fired: 0,
    caughtUp: 0,
    skipped: 0,
    missing: 0,
    doubled: 0,
    bySchedule: new Map(),
    problems: [],
  };
  const stored = await rows<{ id: string; next_run_at: Date | null }>(
    'select id, next_run_at from schedules',
  );
  const next = new Map(stored.map((row) => [row.id, row.next_run_at?.getTime() ?? null]));
  const happened = Map.groupBy(
    await rows<RecordedRow>(`select schedule_id, scheduled_for, outcome, work_item_id, at, count, reason,
      running_work_item_id
      from occurrences where outcome <> 'manual' order by scheduled_for`),
    (row) => row.schedule_id,
  );
  const items = Map.groupBy(
    await rows<Item>(`select w.id, w.schedule_id, w.occurrence, w.status, count(e.*)::int as created from work_items w
      left join work_item_events e on e.work_item_id = w.id and e.action = 'create'
      where w.schedule_id is not null group by w.id`),
    (item) => item.schedule_id,
  );
  for (const schedule of schedules) {
    addSchedule(verification, schedule, until, {
      happened: happened.get(schedule.id) ?? [],
      items: items.get(schedule.id) ?? [],
      nextRunAt: next.get(schedule.id),
    });
  }
  return verification;
};
