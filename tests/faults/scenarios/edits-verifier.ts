import type { Rows } from './fixture.ts';
import { type Matches, nominalTimes, type TestSchedule } from './test-schedules.ts';

/** A change of a schedule, with its request and its response. Times by the database's clock. */
export interface Change {
  scheduleId: string;
  kind: 'put' | 'pause' | 'resume';
  revision: number;
  expression: string;
  enabled: boolean;
  requestedAt: number;
  respondedAt: number;
}

/** When a deletion was requested and when its response came, by the database's clock. */
export interface Deletion {
  schedule: TestSchedule;
  requestedAt: number;
  respondedAt: number;
}

/** The largest difference between the clock of the test and that of the database, on one machine. */
const toleranceMs = 20;

/**
 * When `schedule` was due, by the acknowledged changes in the order of their revisions. The moment of each change is
 * the one in the database, which must lie between request and response. `problems` says which responses do not follow
 * from one another.
 */
export const definitionsOf = async (
  rows: Rows,
  schedule: TestSchedule,
  changes: readonly Change[],
  meanings: ReadonlyMap<string, Matches>,
): Promise<{ definitions: TestSchedule['definitions']; problems: string[] }> => {
  const problems: string[] = [];
  const stored = await rows<{ revision: number; from_at: Date }>(
    `select revision, from_at from schedule_definitions where schedule_id = '${schedule.id}' and revision > 1
      and (changed is null or changed && '{cron_expression,timezone}')`,
  );
  const moments = new Map(stored.map((row) => [row.revision, row.from_at.getTime()]));
  const definitions = [...schedule.definitions];
  const byRevision = Map.groupBy(
    changes.filter(({ scheduleId }) => scheduleId === schedule.id),
    ({ revision }) => revision,
  );
  let [expression, enabled] = ['* * * * *', true];
  for (let revision = 2; revision <= Math.max(...byRevision.keys()); revision++) {
    const responses = byRevision.get(revision) ?? [];
    // A pause of a paused schedule returns the current revision: the change is the PUT, or any other that fits.
    const change = responses.find(({ kind }) => kind === 'put') ?? responses[0];
    const say = (problem: string) =>
      problems.push(`schedule ${schedule.id}, revision ${revision}: ${problem}`);
    if (!change) {
      say('no one requested it');
      continue;
    }
    const before = { expression, enabled };
    if (change.kind === 'put') expression = change.expression;
    else enabled = change.kind === 'resume';
    if (responses.some((response) => response.expression !== expression || response.enabled !== enabled))
      say(`returned ${JSON.stringify(responses)} after ${JSON.stringify(before)}`);
    const after = moments.get(revision);
    moments.delete(revision);
    const changed = before.expression !== expression || before.enabled !== enabled;
    if ((after !== undefined) !== changed) say(changed ? 'not recorded' : 'recorded, and nothing changed');
    if (after === undefined) continue;
    const within = ({ requestedAt, respondedAt }: Change) =>
      after >= requestedAt - toleranceMs && after <= respondedAt + toleranceMs;
    if (!responses.some(within)) say('made at another time than requested');
    definitions.push({ after, matches: enabled ? meanings.get(expression)! : null });
  }
  for (const revision of moments.keys())
    problems.push(`schedule ${schedule.id}: revision ${revision} was not requested`);
  return { definitions, problems };
};

/**
 * A deleted schedule has a Work Item for each of its times until shortly before the request to delete it, at most one
 * for those around it, and none for later ones.
 */
export const deletedProblems = async (rows: Rows, deletions: readonly Deletion[]): Promise<string[]> => {
  const problems: string[] = [];
  for (const { schedule, requestedAt, respondedAt } of deletions) {
    const since = new Date(schedule.definitions[0]!.after).toISOString();
    const items = await rows<{ occurrence: Date }>(
      `select occurrence from work_items where schedule_id = '${schedule.id}' and occurrence > '${since}'`,
    );
    const made = new Map<number, number>();
    for (const { occurrence } of items)
      made.set(occurrence.getTime(), (made.get(occurrence.getTime()) ?? 0) + 1);
    for (const at of nominalTimes(schedule, respondedAt).due) {
      const n = made.get(at) ?? 0;
      made.delete(at);
      // What was due and not yet fired is deleted with the schedule. Before these instants everything was fired.
      if (n > 1 || (n === 0 && at < requestedAt - 5_000))
        problems.push(`deleted schedule ${schedule.id}: ${new Date(at).toISOString()} has ${n} Work Items`);
    }
    for (const at of made.keys())
      problems.push(`deleted schedule ${schedule.id}: a Work Item for ${new Date(at).toISOString()}`);
  }
  return problems;
};
