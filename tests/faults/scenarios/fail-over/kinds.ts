import { kafkaNote } from '../../../harness/kafka.ts';
import { natsNote } from '../../../harness/nats.ts';
import { openKafka, openNats } from '../triggers-brokers.ts';
import { startBroker } from './brokers.ts';
import { startBudgets } from './budgets.ts';
import { startEvents } from './events.ts';
import type { StartLoad } from './load.ts';
import { startPublishes } from './publishes.ts';
import { startRuns } from './runs.ts';
import { startTools } from './tools.ts';

/** The loads that need nothing but the platform. */
export const work: readonly StartLoad[] = [startRuns, startEvents, startPublishes];
/** Money, calls of a tool server that a person approves, and the brokers that this machine has. */
export const effects: readonly StartLoad[] = [
  startBudgets,
  startTools,
  ...(natsNote === null ? [startBroker('nats', openNats)] : []),
  ...(kafkaNote === null ? [startBroker('kafka', openKafka)] : []),
];
