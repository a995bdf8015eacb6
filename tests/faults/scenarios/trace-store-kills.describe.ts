import { beforeAll, describe, expect, test } from 'vitest';
import { runStoreUnderKills, type StoreKillsOptions, type StoreKillsReport } from './trace-store-kills.ts';

/** The guarantees of the store of traces under `kill -9` in a loop. */
export const describeStoreKills = (options: StoreKillsOptions, timeoutMs = 400_000): void => {
  describe(`${options.kills} times SIGKILL on the ${options.database} database`, () => {
    let report: StoreKillsReport;
    beforeAll(async () => {
      report = await runStoreUnderKills(options);
      const { problems, ...figures } = report;
      console.log(JSON.stringify({ ...options, ...figures, problems: problems.length }));
    }, timeoutMs);

    test('every acknowledged span is stored exactly once, and every count is right to the span', () => {
      expect(report.problems.slice(0, 10)).toEqual([]);
      expect(report.kills).toBe(options.kills);
      expect(report.stored).toBeGreaterThanOrEqual(report.acknowledged);
    });
  });
};
