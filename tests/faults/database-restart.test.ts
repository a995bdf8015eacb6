import { expect, test } from 'vitest';
import { runDatabaseRestarts } from './scenarios/database-restart.ts';

test('PostgreSQL stops and crashes under load: 503 in the meantime, no 500, no hang, and everything resumes by itself', async () => {
  const report = await runDatabaseRestarts(['SIGINT', 'SIGKILL']);
  expect(report.problems.slice(0, 10)).toEqual([]);
  expect(report.statuses[503]).toBeGreaterThan(0);
  expect(report.slowestMs).toBeLessThan(30_000);
  expect(report.verification.problems).toEqual([]);
  expect(report.verification.fired).toBeGreaterThan(0);
  // The listening connection is back: without it the loop would look after 15 s.
  expect(Math.max(...report.heardMs)).toBeLessThan(12_000);
}, 400_000);
