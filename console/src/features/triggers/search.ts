import type { QueryOf } from '../../api/operations.ts';
import { moment, oneOf, searchSchema, text } from '../../routing/search.ts';

export const triggersSearch = searchSchema({
  q: text,
  agent_id: text,
  kind: oneOf(['webhook', 'nats', 'kafka', 'work_item', 'absence']),
  state: oneOf(['enabled', 'paused', 'blocked']),
  next: text,
});

export type TriggersSearch = ReturnType<typeof triggersSearch>;

export const newTriggerSearch = searchSchema({ agent: text });

export const triggerTabs = ['events', 'connect', 'history', 'raw'] as const;

export const outcomes = [
  'fired',
  'filtered',
  'duplicate',
  'limited',
  'paused',
  'invalid',
  'manual',
  'lost',
  'pending',
] as const;

export const triggerSearch = searchSchema({
  tab: oneOf(triggerTabs),
  outcome: oneOf(outcomes),
  from: moment,
  to: moment,
  q: text,
  /** The event or the time that "Why?" explains. */
  why: text,
  next: text,
});

export type TriggerSearch = ReturnType<typeof triggerSearch>;

export const eventsQuery = ({ outcome, from, to, q, next }: TriggerSearch): QueryOf<'listTriggerEvents'> => ({
  outcome,
  from,
  to,
  q,
  next,
});
