import { beforeAll, describe, expect, test } from 'vitest';
import { type IsolationReport, runIsolation } from './telemetry-isolation.ts';

export const describeIsolation = (requests: number, timeoutMs = 60_000): void => {
  describe(`a backend that hangs, one of a byte a second, a wrong certificate, two hours of 429, a span refused: ${requests} requests`, () => {
    const all = requests * 500;
    let report: IsolationReport;
    beforeAll(async () => {
      report = await runIsolation(requests);
    }, timeoutMs);

    test('the healthy one gets every span once and shows no error', () => {
      expect(report.healthy).toMatchObject({ spans: all, unique: all });
      expect(report.accounts[1]).toMatchObject({ state: 'delivering', delivered: all, last_error: null });
    });

    test('each bad one has its own state, and its backlog is complete', () => {
      const { accounts } = report;
      for (const number of [2, 3]) {
        expect(accounts[number]).toMatchObject({ state: 'retrying', queued: all, delivered: 0 });
        expect(accounts[number]!.last_error).toBe('no answer in time');
      }
      expect(accounts[4]).toMatchObject({ state: 'paused', queued: all });
      expect(accounts[4]!.last_error).toContain('TLS failed');
      expect(accounts[6]).toMatchObject({ delivered: all - 1, dead_lettered: 1, letters: 1, queued: 0 });
    });

    test('429 is asked again when its Retry-After says, and not before', () => {
      // Two hours, 600 s at a time; it has recovered by the end.
      expect(report.throttled).toBeGreaterThanOrEqual(10);
      expect(report.throttled).toBeLessThanOrEqual(13);
    });

    test('when they are well again, each gets its backlog once', () => {
      const { accounts, backends } = report.healed;
      for (const number of [2, 3, 4, 5]) {
        expect(accounts[number]).toMatchObject({ delivered: all, queued: 0, dead_lettered: 0 });
      }
      const [well, limiting, picky] = backends;
      expect(well).toMatchObject({ unique: all, spans: all * 3 });
      expect(limiting).toMatchObject({ unique: all, spans: all });
      expect(picky).toMatchObject({ unique: all - 1, spans: all - 1 });
    });
  });
};
