import { beforeAll, describe, expect, test } from 'vitest';
import { type OutageReport, runOutage } from './telemetry-outage.ts';

/** The most that resident memory of the whole process may grow, in MB, however large the backlog is. */
const mostGrowth = 200;

export const describeOutage = (megabytes: number, timeoutMs = 400_000): void => {
  describe(`an outage of 80 hours of the clock with ${megabytes} MB coming in`, () => {
    let report: OutageReport;
    beforeAll(async () => {
      report = await runOutage(megabytes);
      const { memory, seconds, backlogBytes, spansAStep } = report;
      console.log(JSON.stringify({ megabytes, spansAStep, backlogBytes, memory, seconds }));
    }, timeoutMs);

    test('exactly what is older than the retention of 72 hours expires, and every span is counted', () => {
      expect(report.counters[1]).toMatchObject({
        state: 'retrying',
        expired: report.spansAStep * 8,
        queued: report.spansAStep * 72,
        delivered: 0,
      });
      expect(Math.round(report.counters[1]!.backlog_age_seconds / 3_590)).toBe(72);
    });

    test('the rest is delivered once, oldest first', () => {
      const all = report.spansAStep * 72;
      expect(report.delivered).toMatchObject({ spans: all, unique: all });
      expect(report.outOfOrder).toBe(0);
      expect(report.after[1]).toMatchObject({ delivered: all, expired: report.spansAStep * 8, queued: 0 });
    });

    test.runIf(process.platform === 'linux')('memory does not grow with the backlog', () => {
      expect(report.memory.peak - report.memory.first).toBeLessThan(mostGrowth);
    });
  });
};
