import type { ReactNode } from 'react';
import type { TriggerEvent } from '../api/types.gen.ts';
import { triggers as words } from '../text/en/triggers.ts';
import { type Outcome, OutcomeTag } from '../ui/index.ts';

type EventOutcome = TriggerEvent['outcome'];

/** The marks of what came of an event. */
const kinds: Record<EventOutcome, Outcome> = {
  fired: 'on-time',
  filtered: 'skipped',
  duplicate: 'skipped',
  paused: 'skipped',
  limited: 'late',
  invalid: 'missing',
  lost: 'missing',
  manual: 'manual',
  pending: 'due',
};

/** What came of an event of a trigger. `children` replaces the word. */
export const EventTag = ({ outcome, children }: { outcome: EventOutcome; children?: ReactNode }) => (
  <OutcomeTag kind={kinds[outcome]}>{children ?? words.outcomes[outcome]}</OutcomeTag>
);
