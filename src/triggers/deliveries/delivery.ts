import type { TriggerEvent } from '../event.ts';
import type { ExpressionFields } from '../expressions/index.ts';

export const outcomes = [
  'invalid',
  'paused',
  'filtered',
  'duplicate',
  'limited',
  'fired',
  'manual',
  'lost',
  'pending',
] as const;
export type Outcome = (typeof outcomes)[number];

/** A trigger as judging needs it. */
export interface JudgingTrigger extends ExpressionFields {
  id: string;
  revision: number;
}

/** One arrival of an event at a trigger. */
export interface Delivery {
  triggerId: string;
  /** The expressions of the trigger, if they were just read. If they have changed by the time it is stored, they are read again. */
  definition?: JudgingTrigger;
  /** The id of the entry in the ledger, if the event is new. */
  occurrenceId: string;
  /** What makes two deliveries the same event; null: each delivery is an event. */
  identity: string | null;
  event: TriggerEvent;
  /** The place in the stream or partition of a broker; null for others. */
  position: string | null;
  /** What is known before the expressions: the body cannot be read, the sender only tests, or a broker lost messages. */
  known: { outcome: 'invalid' | 'filtered' | 'lost'; reason: string } | null;
  /**
   * The body as it arrived: kept, sealed, with the headers and the attributes of the event, for EVENT_BODY_RETENTION_HOURS.
   * Null keeps nothing.
   */
  raw: Buffer | null;
  /** How many agents and triggers come before the Work Item. */
  depth: number;
  /** The platform found it itself, perhaps on several replicas: finding it again is no further delivery. */
  isInternal?: true;
}

/**
 * What became of a delivery, after its commit. `held`: the trigger is paused and its broker keeps the message, so it must
 * not be acknowledged. `gone`: the trigger was deleted.
 */
export type Delivered =
  | {
      occurrenceId: string;
      outcome: Outcome;
      workItemId: string | null;
      /** The same event was stored before. */
      repeated: boolean;
    }
  | 'held'
  | 'gone';

/** The deepest Work Item that an event may make: the sixth of a chain is not made. */
export const deepest = 5;
