import type { Egress } from '../lib/egress.ts';
import { BrokerFailure, BrokerSteps } from './failures.ts';
import { testNats } from './nats/try.ts';
import type { ConnectionSettings } from './settings.ts';

/** The time for all steps, in milliseconds: a person waits for the response. */
const withinMs = 9_500;

/** Tries what readings do, in steps. Never rejects because of what the broker does. */
export const tryConnection = async (settings: ConnectionSettings, egress: Pick<Egress, 'resolve'>) => {
  const begun = performance.now();
  let steps = new BrokerSteps(withinMs);
  const use = (of: BrokerSteps) => {
    steps = of;
  };
  let failure: BrokerFailure | null = null;
  try {
    if (settings.kind === 'nats') await testNats(settings, egress, withinMs, use);
    else {
      const { testKafka } = await import('./kafka/try.ts');
      await testKafka(settings, egress, withinMs, use);
    }
  } catch (error) {
    if (!(error instanceof BrokerFailure)) throw error;
    failure = error;
  }
  return {
    ok: failure === null,
    steps: failure ? steps.failed(failure) : steps.steps,
    ...(failure ? { reason: failure.reason } : {}),
    latency_ms: Math.round(performance.now() - begun),
  };
};
