import type { Clock } from '../../lib/clock.ts';
import { messageOf } from '../../lib/errors.ts';
import type { Logger } from '../../lib/log.ts';
import { Loop } from '../../lib/loop.ts';
import { withTimeout } from '../../lib/with-timeout.ts';
import type { DeliveryReport } from '../delivery/report.ts';
import { reportAgainMs } from './health.ts';
import type { ReportStore } from './report-store.ts';

const publishEveryMs = 1_000;
/** Time that the last reports may take when the process stops. */
const lastReportsMs = 2_000;

interface PublisherParts {
  replicaId: string;
  reports: () => Promise<DeliveryReport[]>;
  store: ReportStore;
  clock: Clock;
  log: Logger;
}

/**
 * Publishes this replica's reports to the others: at the start, about every second those that changed, and at the end.
 */
export class ReportPublisher {
  readonly #parts: PublisherParts;
  readonly #published = new Map<number, { text: string; at: number }>();
  readonly #loop: Loop;

  constructor(parts: PublisherParts) {
    this.#parts = parts;
    this.#loop = new Loop({
      name: 'telemetry reports',
      log: parts.log,
      tick: async () => {
        await this.#publish();
        return publishEveryMs;
      },
    });
  }

  start(): void {
    this.#loop.start();
  }

  wake(): void {
    this.#loop.wake();
  }

  /** Call it when nothing changes any more. What cannot be published in time is published at the next start. */
  async stop(): Promise<void> {
    await this.#loop.stop();
    await withTimeout(this.#publish(), lastReportsMs).catch((error) =>
      this.#parts.log.warn(
        { error: messageOf(error) },
        'the last telemetry reports are published at the next start',
      ),
    );
  }

  async #publish(): Promise<void> {
    const { replicaId, reports, store, clock } = this.#parts;
    const now = clock.now();
    const changed: { report: DeliveryReport; text: string }[] = [];
    for (const report of await reports()) {
      const text = JSON.stringify(report);
      const before = this.#published.get(report.number);
      if (before?.text !== text || Math.abs(now - before.at) >= reportAgainMs) changed.push({ report, text });
    }
    if (changed.length === 0) return;
    await store.publish(
      replicaId,
      changed.map(({ report }) => report),
    );
    for (const { report, text } of changed) this.#published.set(report.number, { text, at: now });
  }
}
