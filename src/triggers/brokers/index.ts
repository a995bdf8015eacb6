import { eventConnectionsChanged } from '../../event-connections/index.ts';
import type { Feature, FeatureLoop } from '../../feature.ts';
import { Loop } from '../../lib/loop.ts';
import { gauge } from '../../lib/metrics.ts';
import { triggersChannel } from '../store.ts';
import type { Readings } from '../view.ts';
import { BrokerReadings, type ReadingsParts } from './readings.ts';
import { findReadings } from './store.ts';

export { listTriggersOfConnection } from './store.ts';

/** Statuses are stored so often, and changes without a notification are seen, in milliseconds. */
const tickMs = 4_000;
/** The same while a reading begins or fails. */
const shortTickMs = 1_000;
/** The same while no trigger reads a broker: a notification says that one does. */
const idleTickMs = 30_000;

export interface Brokers {
  loop: FeatureLoop;
  metrics: NonNullable<Feature['metrics']>;
  start(): Promise<void>;
  readings: Readings;
}

/** Reads the brokers of triggers: a loop for the replicas that schedule. */
export const createBrokers = (parts: ReadingsParts): Brokers => {
  const { db, log } = parts;
  const readings = new BrokerReadings(parts);
  const loop = new Loop({
    name: 'broker readings',
    log,
    tick: async () => {
      await readings.reconcile();
      await readings.save();
      readings.sweep();
      if (readings.size === 0) return idleTickMs;
      return readings.allRead ? tickMs : shortTickMs;
    },
  });
  return {
    loop: {
      role: 'scheduler',
      start: () => {
        loop.start();
      },
      stop: async () => {
        await loop.stop();
        await readings.stop();
      },
      pass: () => loop.pass(),
    },
    metrics: [
      gauge(
        'agent_platform_trigger_lag_messages',
        'Messages at the broker that a trigger has not read',
        ['trigger_id'],
        (lags) => {
          lags.reset();
          for (const [trigger_id, lag] of readings.lags()) lags.set({ trigger_id }, lag);
        },
      ),
    ],
    start: async () => {
      db.listen(triggersChannel, () => loop.wake());
      db.listen(eventConnectionsChanged, () => loop.wake());
    },
    readings: (ids) => db.run((executor) => findReadings(executor, ids)),
  };
};
