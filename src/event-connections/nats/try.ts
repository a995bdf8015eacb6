import { jetstreamManager } from '@nats-io/jetstream';
import type { Egress } from '../../lib/egress.ts';
import { BrokerFailure, BrokerSteps } from '../failures.ts';
import type { NatsSettings } from '../settings.ts';
import { connectNats } from './connect.ts';

/** Tries what a reading does, and lists streams. `passed` gets the steps. Rejects with BrokerFailure. */
export const testNats = async (
  settings: NatsSettings,
  egress: Pick<Egress, 'resolve'>,
  withinMs: number,
  passed: (steps: BrokerSteps) => void,
): Promise<void> => {
  let steps = new BrokerSteps(withinMs);
  const connection = await connectNats(settings, egress, withinMs, (of) => {
    steps = of;
    passed(of);
  });
  try {
    steps.begin('list');
    const list = async () => {
      const manager = await jetstreamManager(connection, { checkAPI: false, timeout: steps.msLeft });
      return manager.streams.names().next();
    };
    const names = await steps.within(list()).catch((error: unknown) => {
      if (error instanceof BrokerFailure) throw error;
      throw new BrokerFailure('refused', 'The user may not list streams.');
    });
    steps.passed(`The user sees ${names.length} streams.`);
  } finally {
    connection.close().catch(() => {});
  }
};
