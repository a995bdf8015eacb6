import { beforeAll, describe, expect, test } from 'vitest';
import { type KillsOptions, type KillsReport, runUnderKills } from './kills.ts';
import { tell } from './totals.ts';

/** The guarantees that hold after `kill -9` in a loop, each a test over one run. */
export const describeKills = (options: KillsOptions, timeoutMs = 120_000): void => {
  const { database, replicas, schedules, kills } = options;
  describe(`${kills} times kill -9, ${replicas} replica(s), ${schedules} schedules, ${database}`, () => {
    let report: KillsReport;
    beforeAll(async () => {
      report = await runUnderKills(options);
      const { account, writes, telemetry } = report;
      tell(`kills, ${replicas} replica(s), ${database}`, account, {
        ...options,
        writes: { ...writes, problems: writes.problems.slice(0, 10) },
        telemetry: { ...telemetry, problems: telemetry.problems.slice(0, 10) },
      });
    }, timeoutMs);

    test('every due occurrence is exactly one Work Item or counted as missed, and the next one is planned', () => {
      expect(report.account.problems.slice(0, 10)).toEqual([]);
      expect(report.account.fired).toBeGreaterThan(schedules);
      expect(report.account.occurrences).toBeGreaterThan(schedules * 3);
    });

    test('every acknowledged write is there, and a repeated request was carried out once', () => {
      expect(report.writes.problems.slice(0, 10)).toEqual([]);
      expect(report.writes.acknowledged).toBeGreaterThan(kills);
    });

    test('every acknowledged span arrives, duplicates are what was in flight, and the account adds up', () => {
      expect(report.telemetry.problems.slice(0, 10)).toEqual([]);
      expect(report.telemetry.acknowledged).toBeGreaterThan(kills);
    });
  });
};
