import type { AccountedOccurrence } from '../../../api/types.gen.ts';
import { type Outcome, wordOf } from '../../../ui/index.ts';

/** What the API says became of an occurrence: on time and late are both `fired` in the ledger. */
export type OccurrenceStatus = AccountedOccurrence['status'] | 'manual';

/** In the order of a legend. */
export const occurrenceStatuses = [
  'on_time',
  'late',
  'caught_up',
  'skipped',
  'missing',
  'due',
  'manual',
] as const satisfies readonly OccurrenceStatus[];

const kinds: Record<OccurrenceStatus, Outcome> = {
  on_time: 'on-time',
  late: 'late',
  caught_up: 'caught-up',
  skipped: 'skipped',
  missing: 'missing',
  due: 'due',
  manual: 'manual',
};

/** The mark of an occurrence: its color, shape and word. */
export const kindOf = (status: OccurrenceStatus): Outcome => kinds[status];

/** The outcomes that a list can be filtered by, for `FilterChoice`: those that are recorded. */
export const outcomeOptions = (['on_time', 'late', 'caught_up', 'skipped', 'manual'] as const).map(
  (value) => ({ value, label: wordOf(kindOf(value)) }),
);

/** The marks of the last occurrences, the oldest first: for `Strip`. `recent` is newest first, as in the API. */
export const stripOf = (recent: readonly { status: OccurrenceStatus }[]): Outcome[] =>
  recent.map(({ status }) => kindOf(status)).reverse();
