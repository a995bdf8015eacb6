import { expect, test } from 'vitest';
import { runVersions } from './scenarios/versions.ts';

test('no Work Item of 1,000 has two versions over 20 publishes and rollbacks on 3 replicas that are killed', async () => {
  const report = await runVersions({ replicas: 3, items: 1_000, moves: 20, kills: 14 });
  expect(report.problems).toEqual([]);
  expect(report.versions).toBeGreaterThan(3);
  expect(report.claimedAgain).toBeGreaterThan(0);
});
