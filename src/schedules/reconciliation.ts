import type { Occurrences } from '@agent-platform/cron';
import type { DefinitionVersion } from './definition-store.ts';
import { isLate } from './lateness.ts';
import type { OccurrenceRow } from './occurrence-store.ts';
import { occurrencesOfStored } from './occurrences.ts';

/** Outcome of one occurrence. `due`: its time has come and no replica has handled it yet. */
type ReconciliationStatus = 'on_time' | 'late' | 'caught_up' | 'skipped' | 'missing' | 'due';

export interface ReconciledOccurrence {
  scheduled_for: Date;
  status: ReconciliationStatus;
  work_item_id: string | null;
  lateness_ms: number | null;
  /** The row that records it. */
  recorded: OccurrenceRow | null;
}

export interface ReconciliationInput {
  /** Versions of the definition, oldest first. */
  definitions: readonly DefinitionVersion[];
  /** Records of occurrences, in any order, without manual runs. */
  recorded: readonly OccurrenceRow[];
  /** The stored next run of the schedule: what is due at or after it is still to be handled. */
  nextRunAt: Date | null;
}

/** The nominal occurrences in (from, to], each with the definition that it comes from. */
function* nominal(
  definitions: readonly DefinitionVersion[],
  from: number,
  to: number,
): Generator<{ at: number; occurrences: Occurrences }> {
  for (const [k, definition] of definitions.entries()) {
    const begin = Math.max(from, definition.from_at.getTime());
    const end = Math.min(to, definitions[k + 1]?.from_at.getTime() ?? to);
    const occurrences = definition.enabled && begin < end ? occurrencesOfStored(definition) : null;
    if (!occurrences) continue;
    for (let at = occurrences.next(begin); at !== null && at <= end; at = occurrences.next(at)) {
      yield { at, occurrences };
    }
  }
}

const reconciled = (row: OccurrenceRow): ReconciledOccurrence => {
  const lateness = row.at.getTime() - row.scheduled_for.getTime();
  const { scheduled_for, work_item_id, outcome } = row;
  const status = outcome === 'fired' ? (isLate(row) ? 'late' : 'on_time') : (outcome as ReconciliationStatus);
  return { scheduled_for, status, work_item_id, lateness_ms: lateness, recorded: row };
};

/** The `count`th nominal occurrence in (from, to], at which a page of that size ends; null if there are fewer. */
export const nominalAt = (
  definitions: readonly DefinitionVersion[],
  from: number,
  to: number,
  count: number,
): number | null =>
  nominal(definitions, from, to)
    .drop(count - 1)
    .next().value?.at ?? null;

/**
 * Compares the nominal occurrences in (from, to] with what was recorded, oldest first. Each is one of: recorded under
 * its own time; one of several that were skipped together, as many as their row counts; not yet handled; or
 * missing. `to` must not lie in the future.
 */
export const reconcile = (input: ReconciliationInput, from: number, to: number): ReconciledOccurrence[] => {
  const { definitions, recorded, nextRunAt } = input;
  const own = new Map<number, OccurrenceRow>();
  for (const row of recorded) {
    const at = row.scheduled_for.getTime();
    // An occurrence may be both skipped and fired, if the clock went back over it and the schedule was resumed before
    // it. The Work Item counts.
    if (row.work_item_id !== null || !own.has(at)) own.set(at, row);
  }
  const together = recorded
    .filter((row) => row.count > 1)
    .sort((a, b) => a.scheduled_for.getTime() - b.scheduled_for.getTime());
  const result: ReconciledOccurrence[] = [];
  let k = 0;
  for (const { at, occurrences } of nominal(definitions, from, to)) {
    const row = own.get(at);
    if (row) {
      result.push(reconciled(row));
      continue;
    }
    while (k < together.length && together[k]!.at.getTime() < at) k++;
    const group = together[k];
    const first = group?.scheduled_for.getTime() ?? Number.POSITIVE_INFINITY;
    if (group && first < at && 1 + occurrences.countBetween(first, at) <= group.count) {
      result.push({ ...reconciled(group), scheduled_for: new Date(at) });
      continue;
    }
    const status = nextRunAt !== null && nextRunAt.getTime() <= at ? 'due' : 'missing';
    result.push({
      scheduled_for: new Date(at),
      status,
      work_item_id: null,
      lateness_ms: null,
      recorded: null,
    });
  }
  return result;
};
