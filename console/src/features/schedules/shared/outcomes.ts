import type { AccountedOccurrence, Occurrence } from '../../../api/types.gen.ts';
import { occurrences as words } from '../../../text/en/occurrences.ts';
import { type Outcome, wordOf } from '../../../ui/index.ts';

/** The outcome of an occurrence in the API: on time and late are both `fired` in the ledger. */
export type OccurrenceStatus = AccountedOccurrence['status'] | 'manual';

const kinds: Record<OccurrenceStatus, Outcome> = {
  on_time: 'on-time',
  late: 'late',
  caught_up: 'caught-up',
  skipped: 'skipped',
  missing: 'missing',
  due: 'due',
  manual: 'manual',
};

/** The marks in the order of a legend. */
export const legendKinds = Object.values(kinds);

export interface Marked {
  status: OccurrenceStatus;
  cause?: Occurrence['cause'];
}

/**
 * The mark of an occurrence: its color, shape and word. What should have fired and did not is missing, whether or not
 * that was recorded. What was paused, edited or blocked is skipped. The buckets of the API count in the same way.
 */
export const kindOf = ({ status, cause }: Marked): Outcome =>
  status === 'skipped' && cause === 'missed' ? 'missing' : kinds[status];

/** The outcomes that a list can be filtered by, for `FilterChoice`: those that are recorded. */
export const outcomeOptions = (['on_time', 'late', 'caught_up', 'skipped', 'manual'] as const).map(
  // The API keeps both under the outcome `skipped`.
  (value) => ({ value, label: value === 'skipped' ? words.skippedOrMissing : wordOf(kinds[value]) }),
);

/** The marks of the last occurrences, the oldest first: for `Strip`. `recent` is newest first, as in the API. */
export const stripOf = (recent: readonly Marked[]): Outcome[] => recent.map(kindOf).reverse();
