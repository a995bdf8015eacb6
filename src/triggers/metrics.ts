import { counter, gauge, histogram, type Metric } from '../lib/metrics.ts';
import type { Report } from './deliveries/transaction.ts';
import { type RefusalReason, refusalReasons } from './refusals.ts';

export interface TriggerMetrics {
  list: readonly Metric[];
  /** Counts what was stored, after its commit. */
  stored(reports: readonly Report[]): void;
  refused(reason: RefusalReason): void;
  acknowledged(source: string, seconds: number): void;
}

/** `countBlocked` counts the triggers that receive nothing though they are enabled. */
export const createTriggerMetrics = (countBlocked: () => Promise<number>): TriggerMetrics => {
  const events = counter(
    'agent_platform_events_total',
    'Distinct events of triggers, by their source and outcome',
    ['source', 'outcome'],
  );
  const repeated = counter(
    'agent_platform_event_deliveries_repeated_total',
    'Further deliveries of events that were stored before',
    ['source'],
  );
  const refused = counter('agent_platform_webhooks_refused_total', 'Requests to webhooks that were refused', [
    'reason',
  ]);
  // A series that appears with the value 1 shows no increase to an alert, so those that are watched begin at 0.
  for (const reason of refusalReasons) refused.inc({ reason }, 0);
  for (const source of ['webhook', 'nats', 'kafka', 'work_item', 'absence'])
    events.inc({ source, outcome: 'invalid' }, 0);
  const acknowledgement = histogram(
    'agent_platform_event_acknowledgement_seconds',
    'Time from the arrival of an event to its acknowledgement after the commit',
    [0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 5, 15],
    ['source'],
  );
  const blocked = gauge(
    'agent_platform_triggers_blocked',
    'Triggers that are enabled and receive nothing',
    [],
    async (g) => {
      // While the database is away the number is unknown, and the other metrics are needed all the more.
      g.set(await countBlocked().catch(() => Number.NaN));
    },
  );
  return {
    list: [events, repeated, refused, acknowledgement, blocked],
    stored: (reports) => {
      for (const { kind, outcome, count } of reports) {
        if (outcome === 'repeated') repeated.inc({ source: kind }, count);
        else events.inc({ source: kind, outcome }, count);
      }
    },
    refused: (reason) => refused.inc({ reason }),
    acknowledged: (source, seconds) => acknowledgement.observe({ source }, seconds),
  };
};
