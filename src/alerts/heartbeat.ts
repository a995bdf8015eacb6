import type { Secret } from '../lib/crypto.ts';
import { type Egress, EgressError } from '../lib/egress.ts';
import type { Logger } from '../lib/log.ts';
import { Loop, type LoopPass } from '../lib/loop.ts';
import { counter, type Metric } from '../lib/metrics.ts';

const againMs = 5_000;
/** While this replica does not fire. */
const lookAgainMs = 1_000;
const timeoutMs = 10_000;

interface Parts {
  config: { url: Secret; seconds: number };
  egress: Pick<Egress, 'request'>;
  log: Logger;
  /** Returns whether the firing loop of this replica is at work. */
  isFiring: () => boolean;
}

/**
 * Calls an address in an interval as long as the firing loop of this replica works, so that a service outside notices when
 * that of the last replica does not (a dead man's switch). The address is a secret: it is in no log and no metric.
 */
export class HeartbeatCalls {
  readonly role = 'scheduler';
  readonly metrics: readonly Metric[];
  readonly #loop: Loop;

  constructor({ config, egress, log, isFiring }: Parts) {
    const calls = counter('agent_platform_heartbeats_total', 'Calls of HEARTBEAT_URL', ['outcome']);
    for (const outcome of ['ok', 'failed']) calls.inc({ outcome }, 0);
    this.metrics = [calls];
    let failedBefore = false;
    this.#loop = new Loop({
      name: 'heartbeat calls',
      log,
      tick: async (signal) => {
        if (!isFiring()) return lookAgainMs;
        const fault = await call(egress, config.url, signal);
        if (signal.aborted) return null;
        calls.inc({ outcome: fault === null ? 'ok' : 'failed' });
        // Once, not every five seconds.
        if (fault !== null && !failedBefore)
          log.warn({ reason: fault }, 'HEARTBEAT_URL could not be called; it is tried again every 5 s');
        if (fault === null && failedBefore) log.info({}, 'HEARTBEAT_URL could be called again');
        failedBefore = fault !== null;
        return fault === null ? config.seconds * 1_000 : againMs;
      },
    });
  }

  start(): void {
    this.#loop.start();
  }

  stop(): Promise<void> {
    return this.#loop.stop();
  }

  pass(): LoopPass {
    return this.#loop.pass();
  }
}

/** Returns why a call failed; null if it did not. */
const call = async (
  egress: Pick<Egress, 'request'>,
  url: Secret,
  signal: AbortSignal,
): Promise<string | null> => {
  try {
    const { status } = await egress.request(url.reveal(), {
      method: 'GET',
      headers: { 'accept-encoding': 'identity' },
      timeoutMs,
      maxBodyBytes: 1_024,
      signal,
    });
    return status >= 200 && status < 300 ? null : `status ${status}`;
  } catch (error) {
    // Its message has no address.
    return error instanceof EgressError ? error.message : 'the request failed';
  }
};
