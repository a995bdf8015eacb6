import { occurrences as words } from '../../../text/en/occurrences.ts';
import { Time } from '../../../time/index.ts';
import { Muted } from '../../../ui/index.ts';
import type { OccurrenceStatus } from './outcomes.ts';

export interface ToldOccurrence {
  scheduled_for: string;
  status: OccurrenceStatus;
  lateness_ms?: number | null;
  reason?: string | null;
  by?: string | null;
}

/** Describes an occurrence: the reason of the API, or the plain fact. Null if it is still due. */
const occurrenceWords = ({ status, lateness_ms, reason, by }: ToldOccurrence): string | null => {
  if (status === 'due') return null;
  if (reason) return reason;
  switch (status) {
    case 'on_time':
      return words.fired;
    case 'late':
      return words.firedLate(lateness_ms ?? 0);
    case 'caught_up':
      return words.caughtUp(lateness_ms ?? 0);
    case 'manual':
      return by ? words.runBy(by) : words.runByHand;
    default:
      return words[status];
  }
};

/** The description of an occurrence: muted if nothing is worth a look, in full ink if there is a reason. */
export const OccurrenceSentence = ({ occurrence }: { occurrence: ToldOccurrence }) => {
  const text = occurrenceWords(occurrence);
  if (text === null) {
    return (
      <Muted>
        <Time at={occurrence.scheduled_for} form="relative" />
      </Muted>
    );
  }
  return occurrence.reason || occurrence.status === 'missing' ? text : <Muted>{text}</Muted>;
};
