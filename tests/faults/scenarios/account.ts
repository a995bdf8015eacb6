import type { Client } from '../../harness/http.ts';
import type { Rows } from './ground.ts';
import { must } from './ground.ts';

const minute = 60_000;
const graceMs = 60_000;

/** An expression with the minutes of the hour that it means, so that the cron engine has no part in the account. */
const expressions: [text: string, minutes: (m: number) => boolean][] = [
  ['* * * * *', () => true],
  ['*/2 * * * *', (m) => m % 2 === 0],
  ['3-59/7 * * * *', (m) => m >= 3 && (m - 3) % 7 === 0],
  ['1,2,5,30-40 * * * *', (m) => [1, 2, 5].includes(m) || (m >= 30 && m <= 40)],
];

export interface TestSchedule {
  id: string;
  agentId: string;
  catchUp: boolean;
  matches: (minuteOfHour: number) => boolean;
  /** What the API answered as its first occurrence. */
  first: number;
}

/** Makes `count` schedules through the API, 20 an agent; most are due every minute. Answers them. */
export const makeSchedules = async (api: Client, count: number): Promise<TestSchedule[]> => {
  const made: TestSchedule[] = [];
  let agent = '';
  for (let i = 0; i < count; i++) {
    if (i % 20 === 0) {
      const body = {
        name: `Agent ${i / 20}`,
        mode: 'worker',
        settings: { max_attempts: 100, max_concurrency: 50 },
      };
      agent = (await must(api.post('/agents', body))).id!;
    }
    const [text, matches] = expressions[i % 8 < 5 ? 0 : (i % 8) - 4]!;
    const catchUp = i % 3 !== 0;
    const body = { cron_expression: text, catch_up: catchUp, message: `Schedule ${i}` };
    const schedule = await must(api.post(`/agents/${agent}/schedules`, body));
    made.push({
      id: schedule.id!,
      agentId: agent,
      catchUp,
      matches,
      first: Date.parse(schedule.next_run_at!),
    });
  }
  return made;
};

interface Happened {
  schedule_id: string;
  scheduled_for: Date;
  outcome: 'fired' | 'caught_up' | 'skipped';
  work_item_id: string | null;
  at: Date;
  count: number;
}

/** What the account adds up to. `problems` is empty where every occurrence was dealt with exactly once. */
export interface Account {
  occurrences: number;
  fired: number;
  caughtUp: number;
  skipped: number;
  problems: string[];
}

const iso = (ms: number): string => new Date(ms).toISOString();

/**
 * Compares the database with the occurrences by definition (product, section 7, "Missed"): walks every minute from
 * the first occurrence of each schedule to `until`, and expects each matching one to be exactly one Work Item or
 * one of a counted row of skipped ones; what fired to have been the latest due, `caught_up` only past the grace and
 * only with `catch_up`; and `next_run_at` to be the first minute that is left.
 */
export const accountOf = async (rows: Rows, schedules: TestSchedule[], until: number): Promise<Account> => {
  const account: Account = { occurrences: 0, fired: 0, caughtUp: 0, skipped: 0, problems: [] };
  const stored = await rows<{ id: string; next_run_at: Date | null; last_run_at: Date | null }>(
    'select id, next_run_at, last_run_at from schedules',
  );
  const all = await rows<Happened>(`select schedule_id, scheduled_for, outcome, work_item_id, at, count
    from occurrences where outcome <> 'manual' order by scheduled_for`);
  const items = await rows<{ id: string; schedule_id: string; occurrence: Date; created: number }>(`
    select w.id, w.schedule_id, w.occurrence,
      (select count(*)::int from work_item_events e where e.work_item_id = w.id and e.action = 'create') as created
    from work_items w where w.schedule_id is not null`);
  for (const schedule of schedules) {
    const say = (problem: string) => account.problems.push(`schedule ${schedule.id}: ${problem}`);
    const nominal = (from: number): number => {
      let at = Math.ceil(from / minute) * minute;
      while (!schedule.matches(new Date(at).getUTCMinutes())) at += minute;
      return at;
    };
    const happened = all.filter((row) => row.schedule_id === schedule.id);
    const made = new Map(
      items.filter((i) => i.schedule_id === schedule.id).map((i) => [i.id, i.occurrence.getTime()]),
    );
    for (const item of items) {
      if (item.schedule_id === schedule.id && item.created !== 1)
        say(`Work Item ${item.id} created ${item.created} times`);
    }

    const seen = new Map<number, number>();
    const latestDue = (from: number, at: number): number => {
      let latest = from;
      for (let next = latest; next <= at; next = nominal(next + 1)) latest = next;
      return latest;
    };
    for (const row of happened) {
      const at = row.at.getTime();
      let covered = nominal(row.scheduled_for.getTime());
      if (covered !== row.scheduled_for.getTime())
        say(`${iso(row.scheduled_for.getTime())} is no occurrence of it`);
      for (let n = 1; n <= row.count; n++) {
        seen.set(covered, (seen.get(covered) ?? 0) + 1);
        if (n < row.count) covered = nominal(covered + 1);
      }
      if (covered > at) say(`${iso(covered)} was dealt with at ${iso(at)}, before its time`);
      const latest = latestDue(covered, at);
      const late = at - latest > graceMs;
      if (row.outcome === 'skipped') {
        account.skipped += row.count;
        if (covered === latest && !(late && !schedule.catchUp))
          say(`${iso(covered)} was skipped and should have fired`);
        continue;
      }
      if (row.outcome === 'fired') account.fired++;
      else account.caughtUp++;
      if (covered !== latest) say(`${iso(covered)} fired, and ${iso(latest)} was the latest due`);
      if ((row.outcome === 'caught_up') !== late)
        say(`${iso(covered)} is ${row.outcome}, ${at - covered} ms late`);
      if (late && !schedule.catchUp) say(`${iso(covered)} fired late without catch_up`);
      if (made.get(row.work_item_id!) !== covered) say(`the Work Item of ${iso(covered)} is missing`);
      made.delete(row.work_item_id!);
    }
    for (const [id, occurrence] of made) say(`Work Item ${id} of ${iso(occurrence)} is recorded nowhere`);

    let next = nominal(schedule.first);
    if (next !== schedule.first) say(`its first occurrence was said to be ${iso(schedule.first)}`);
    for (; next <= until; next = nominal(next + 1)) {
      account.occurrences++;
      const times = seen.get(next) ?? 0;
      if (times !== 1) say(`${iso(next)} was dealt with ${times} times`);
      seen.delete(next);
    }
    for (const extra of seen.keys()) say(`${iso(extra)} is not due yet`);
    const is = stored.find((row) => row.id === schedule.id)?.next_run_at?.getTime();
    if (is !== next) say(`next_run_at is ${is === undefined ? null : iso(is)}, not ${iso(next)}`);
  }
  return account;
};
