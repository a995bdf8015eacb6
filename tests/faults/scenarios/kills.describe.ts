import { beforeAll, describe, expect, test } from 'vitest';
import { type KillsOptions, type KillsReport, runUnderKills } from './kills.ts';
import { reportTotals } from './totals.ts';

/** The guarantees that hold after `kill -9` in a loop, each a test over one run. */
export const describeKills = (options: KillsOptions, timeoutMs = 400_000): void => {
  const { database, replicas, schedules, kills } = options;
  describe(`${kills} times kill -9, ${replicas} replica(s), ${schedules} schedules, ${database}`, () => {
    let report: KillsReport;
    beforeAll(async () => {
      report = await runUnderKills(options);
      const { verification, writes, telemetry } = report;
      reportTotals(`kills, ${replicas} replica(s), ${database}`, verification, {
        ...options,
        writes: { ...writes, problems: writes.problems.slice(0, 10) },
        telemetry: { ...telemetry, problems: telemetry.problems.slice(0, 10) },
      });
    }, timeoutMs);

    test('every due occurrence is exactly one Work Item or counted as missed, and next_run_at is right', () => {
      expect(report.verification.problems.slice(0, 10)).toEqual([]);
      expect(report.verification.fired).toBeGreaterThan(schedules);
      expect(report.verification.occurrences).toBeGreaterThan(schedules * 3);
    });

    test('every acknowledged write is stored, and a repeated request was executed once', () => {
      expect(report.writes.problems.slice(0, 10)).toEqual([]);
      expect(report.writes.acknowledged).toBeGreaterThan(kills);
    });

    test('every acknowledged span arrives, only what was in flight is duplicated, and the counters are right', () => {
      expect(report.telemetry.problems.slice(0, 10)).toEqual([]);
      expect(report.telemetry.acknowledged).toBeGreaterThan(kills);
    });
  });
};
