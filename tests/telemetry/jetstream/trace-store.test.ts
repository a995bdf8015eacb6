import type { SharedLog } from '@agent-platform/otlp/jetstream';
import { expect, test } from 'vitest';
import { slice, sum } from '../../../packages/otlp/tests/log.ts';
import { sql } from '../../../src/database/index.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { silentLogger } from '../../../src/lib/log.ts';
import { SinkExporter } from '../../../src/telemetry/delivery/sink-exporter.ts';
import { type SpanSink, sinkNumber } from '../../../src/telemetry/routing.ts';
import { TraceWriter } from '../../../src/traces/writer.ts';
import { describeWithNats } from '../../harness/nats.ts';
import { useStream } from '../../harness/stream-fixture.ts';
import { until } from '../../harness/wait.ts';

describeWithNats('the store of traces with two replicas', () => {
  const fixture = useStream();
  const { replica, takeOver } = fixture;

  /** The delivery of a replica to the store, of which the last answer can be held back. */
  const deliverTo = (telemetryLog: SharedLog) => {
    const writer = new TraceWriter(fixture.db, () => {});
    const held = { next: false, is: false, release: () => {} };
    const sink: SpanSink = {
      mostBehind: 1e9,
      routes: () => 'agents',
      spansPerSecond: () => 1e6,
      skip: (...given) => writer.skip(...given),
      store: async (...given) => {
        const stored = await writer.store(...given);
        if (held.next) {
          held.next = false;
          held.is = true;
          await new Promise<void>((resolve) => {
            held.release = resolve;
          });
        }
        return stored;
      },
    };
    const parts = { telemetryLog, clock: systemClock, random: () => 0, log: silentLogger };
    return { held, exporter: new SinkExporter(sink, parts).start() };
  };

  test('spans of both are stored once and counted once, also by a replica that loses its lease between the two', async () => {
    const logs = [await replica(), await replica()] as const;
    const append = (i: 0 | 1, name: string) => logs[i].append([slice(name, 3, [sinkNumber])]);
    await append(0, 'a');
    await until(() => logs[0].owns(sinkNumber));
    const [first, second] = [deliverTo(logs[0]), deliverTo(logs[1])];
    try {
      first.held.next = true;
      // Its first look may come before its log has heard of the record.
      await until(() => {
        first.exporter.wake();
        return first.held.is;
      });
      await append(1, 'b');
      await takeOver(logs[1], sinkNumber);
      await until(async () => {
        second.exporter.wake();
        await logs[1].caughtUp();
        return logs[1].counters(sinkNumber).delivered === 6;
      });
      first.held.release();
      await Promise.all([append(0, 'c'), append(1, 'd')]);
      await until(async () => {
        for (const { exporter } of [first, second]) exporter.wake();
        await Promise.all(logs.map((log) => log.refresh()));
        return logs.some((log) => log.owns(sinkNumber) && log.counters(sinkNumber).delivered === 12);
      });
      for (const log of logs) {
        await log.caughtUp();
        await log.refresh();
        expect(log.counters(sinkNumber)).toMatchObject({
          delivered: 12,
          rejected: 0,
          discarded: 0,
          queued: 0,
        });
        expect(sum(log.counters(sinkNumber))).toBe(12);
      }
      const { rows } = await fixture.db.run((executor) =>
        sql<{ spans: number }>`select sum(spans)::bigint as spans from trace_blocks`.execute(executor),
      );
      expect(rows).toEqual([{ spans: 12 }]);
    } finally {
      first.held.release();
      await Promise.all([first.exporter.stop(), second.exporter.stop()]);
    }
  });
});
