import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { openFileLog } from '@agent-platform/otlp/log';
import { spansNamed } from '../../packages/otlp/tests/encode.ts';
import { ShiftedClock } from '../../src/lib/clock.ts';
import { createEgress } from '../../src/lib/egress.ts';
import { silentLogger } from '../../src/lib/log.ts';
import { createDelivery, type DeliveryOptions } from '../../src/telemetry/delivery/delivery.ts';
import { TestDestinations } from './test-destinations.ts';

/**
 * Delivery on its own telemetry log, without the receiver. What is appended is gzip, so each record is a request of its
 * own and several can be in flight.
 */
export const startDelivery = async (options: Partial<DeliveryOptions> & { segmentBytes?: number } = {}) => {
  const directory = await mkdtemp(join(tmpdir(), 'ap-window-'));
  const clock = new ShiftedClock();
  const egress = createEgress({ deny: [] });
  const destinations = new TestDestinations();
  const { segmentBytes = 64 * 1024 * 1024, ...others } = options;
  const telemetryLog = await openFileLog({ directory, segmentBytes, now: () => clock.now() });
  const delivery = createDelivery({
    telemetryLog,
    destinations,
    egress,
    clock,
    random: () => 0,
    log: silentLogger,
    requestTimeoutMs: 2_000,
    retention: () => ({ milliseconds: 1e12, bytes: 1e12 }),
    ...others,
  });
  return {
    clock,
    destinations,
    telemetryLog,
    delivery,
    /** A record of `count` spans `PREFIX-0`, `PREFIX-1`, … for every integration there is. */
    append: async (prefix: string, count: number, padding = 0): Promise<void> => {
      const routes = destinations.all().map(({ number }) => number);
      const bytes = gzipSync(spansNamed(prefix, count, 'agent', padding), { level: 1 });
      await telemetryLog.append([{ bytes, gzip: true, spans: count, routes }]);
    },
    later: (milliseconds: number): void => {
      clock.advance(milliseconds);
      delivery.wake();
    },
    [Symbol.asyncDispose]: async (): Promise<void> => {
      await delivery.stop();
      await telemetryLog.close();
      await egress.close();
      await rm(directory, { recursive: true });
    },
  };
};
