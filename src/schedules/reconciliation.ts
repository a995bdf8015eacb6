import { compileSchedule, type Occurrences } from './cron/occurrences.ts';
import type { DefinitionRow } from './definitions.ts';
import type { OccurrenceRow } from './store.ts';

/** What became of one occurrence. `due`: its time has come and no replica has dealt with it yet. */
type Verdict = 'on_time' | 'late' | 'caught_up' | 'skipped' | 'missing' | 'due';

export interface Accounted {
  scheduled_for: Date;
  status: Verdict;
  work_item_id: string | null;
  lateness_ms: number | null;
  reason: string | null;
}

export interface Books {
  /** When the schedule was due, oldest first. */
  definitions: readonly DefinitionRow[];
  /** What was recorded of occurrences, in any order, without manual runs. */
  recorded: readonly OccurrenceRow[];
  /** The schedule's next run as it is stored: what is due at or after it has still to be dealt with. */
  nextRunAt: Date | null;
}

/** A Work Item that was made later than this after its time is late. */
export const lateAfterMs = 5_000;

const compiled = ({ cron_expression, timezone }: DefinitionRow): Occurrences | null => {
  try {
    return compileSchedule(cron_expression, timezone);
  } catch {
    // The zone is no longer known: what was recorded is all there is to say.
    return null;
  }
};

/** The occurrences by definition in (from, to], with the definition that each is due by. */
function* nominal(
  definitions: readonly DefinitionRow[],
  from: number,
  to: number,
): Generator<{ at: number; occurrences: Occurrences }> {
  for (const [k, definition] of definitions.entries()) {
    const begin = Math.max(from, definition.from_at.getTime());
    const end = Math.min(to, definitions[k + 1]?.from_at.getTime() ?? to);
    const occurrences = definition.enabled && begin < end ? compiled(definition) : null;
    if (!occurrences) continue;
    for (let at = occurrences.next(begin); at !== null && at <= end; at = occurrences.next(at)) {
      yield { at, occurrences };
    }
  }
}

const accountOf = (row: OccurrenceRow): Accounted => {
  const lateness = row.at.getTime() - row.scheduled_for.getTime();
  const { scheduled_for, work_item_id, outcome, reason } = row;
  const status = outcome === 'fired' ? (lateness > lateAfterMs ? 'late' : 'on_time') : (outcome as Verdict);
  return { scheduled_for, status, work_item_id, lateness_ms: lateness, reason };
};

/** The `count`th occurrence by definition in (from, to]: where a page of so many ends. Null where there are fewer. */
export const nominalAt = (
  definitions: readonly DefinitionRow[],
  from: number,
  to: number,
  count: number,
): number | null =>
  nominal(definitions, from, to)
    .drop(count - 1)
    .next().value?.at ?? null;

/**
 * Compare what was recorded with the occurrences by definition in (from, to], oldest first. Each is
 * one of: recorded under its own time; among several that were skipped together, as many as their row counts; not yet
 * dealt with; or missing. `to` must not lie in the future.
 */
export const audit = (books: Books, from: number, to: number): Accounted[] => {
  const { definitions, recorded, nextRunAt } = books;
  const own = new Map<number, OccurrenceRow>();
  for (const row of recorded) {
    const at = row.scheduled_for.getTime();
    // Skipped and fired as well: the clock went back over it, and the schedule was resumed before it. The Work Item stands.
    if (row.work_item_id !== null || !own.has(at)) own.set(at, row);
  }
  const together = recorded
    .filter((row) => row.count > 1)
    .sort((a, b) => a.scheduled_for.getTime() - b.scheduled_for.getTime());
  const accounts: Accounted[] = [];
  let k = 0;
  for (const { at, occurrences } of nominal(definitions, from, to)) {
    const row = own.get(at);
    if (row) {
      accounts.push(accountOf(row));
      continue;
    }
    while (k < together.length && together[k]!.at.getTime() < at) k++;
    const group = together[k];
    const first = group?.scheduled_for.getTime() ?? Number.POSITIVE_INFINITY;
    if (group && first < at && 1 + occurrences.countBetween(first, at) <= group.count) {
      accounts.push({ ...accountOf(group), scheduled_for: new Date(at) });
      continue;
    }
    const status = nextRunAt !== null && nextRunAt.getTime() <= at ? 'due' : 'missing';
    accounts.push({
      scheduled_for: new Date(at),
      status,
      work_item_id: null,
      lateness_ms: null,
      reason: null,
    });
  }
  return accounts;
};
