import { beforeAll, describe, expect, test } from 'vitest';
import {
  runTelemetryUnderKills,
  type TelemetryKillsOptions,
  type TelemetryKillsReport,
} from './telemetry-kills.ts';

/** The most requests that an exporter has in flight. A kill makes it send so many again. */
const requestsUnderWay = 16;

/** The guarantees of the telemetry path under `kill -9` in a loop, each a test over one run. */
export const describeTelemetryKills = (options: TelemetryKillsOptions, timeoutMs = 400_000): void => {
  describe(`${options.kills} times SIGKILL, ${options.spans} spans`, () => {
    let report: TelemetryKillsReport;
    beforeAll(async () => {
      report = await runTelemetryUnderKills(options);
      const { problems, ...figures } = report;
      console.log(JSON.stringify({ ...options, ...figures, problems: problems.length }));
    }, timeoutMs);

    test('no acknowledged span is lost, and every count is right to the span after every start', () => {
      expect(report.problems.slice(0, 10)).toEqual([]);
      expect(report.kills).toBeGreaterThanOrEqual(options.kills);
      expect(report.acknowledged).toBeGreaterThanOrEqual(options.spans);
    });

    test('what is sent again after a kill is at most what was in flight', () => {
      expect(report.inFlight).toBeLessThanOrEqual(requestsUnderWay);
    });
  });
};
