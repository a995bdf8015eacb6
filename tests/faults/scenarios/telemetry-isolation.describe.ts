import { beforeAll, describe, expect, test } from 'vitest';
import { type IsolationReport, runIsolation } from './telemetry-isolation.ts';

export const describeIsolation = (requests: number, timeoutMs = 400_000): void => {
  describe(`a backend that hangs, one that sends a byte a second, a wrong certificate, two hours of 429, a refused span: ${requests} requests`, () => {
    const all = requests * 500;
    let report: IsolationReport;
    beforeAll(async () => {
      report = await runIsolation(requests);
    }, timeoutMs);

    test('the healthy one gets every span once and shows no error', () => {
      expect(report.healthy).toMatchObject({ spans: all, unique: all });
      expect(report.counters[1]).toMatchObject({ state: 'delivering', delivered: all, last_error: null });
    });

    test('each bad one has its own state, and its backlog is complete', () => {
      const { counters } = report;
      for (const number of [2, 3]) {
        expect(counters[number]).toMatchObject({ state: 'retrying', queued: all, delivered: 0 });
        expect(counters[number]!.last_error).toBe('no response in time');
      }
      expect(counters[4]).toMatchObject({ state: 'paused', queued: all });
      expect(counters[4]!.last_error).toContain('TLS failed');
      expect(counters[6]).toMatchObject({
        delivered: all - 1,
        dead_lettered: 1,
        deadLetterFiles: 1,
        queued: 0,
      });
    });

    test('a backend with 429 gets the next request when its Retry-After says, and not before', () => {
      // Two hours, 600 s at a time; it has recovered by the end.
      expect(report.throttled).toBeGreaterThanOrEqual(10);
      expect(report.throttled).toBeLessThanOrEqual(13);
    });

    test('when they are healthy again, each gets its backlog once', () => {
      const { counters, backends } = report.healed;
      for (const number of [2, 3, 4, 5]) {
        expect(counters[number]).toMatchObject({ delivered: all, queued: 0, dead_lettered: 0 });
      }
      const [well, limiting, picky] = backends;
      expect(well).toMatchObject({ unique: all, spans: all * 3 });
      expect(limiting).toMatchObject({ unique: all, spans: all });
      expect(picky).toMatchObject({ unique: all - 1, spans: all - 1 });
    });
  });
};
