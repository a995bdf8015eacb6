import { expect, test } from 'vitest';
import { runVersions } from './scenarios/versions.ts';

test('no Work Item has two versions while versions are published, rolled back and replicas are killed', async () => {
  const report = await runVersions({ replicas: 2, items: 24, moves: 4, kills: 2 });
  expect(report.problems).toEqual([]);
  expect(report.versions).toBeGreaterThan(1);
}, 400_000);
