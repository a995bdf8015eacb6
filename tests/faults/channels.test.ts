import { expect, test } from 'vitest';
import { runChannelKills } from './scenarios/channels.ts';

test('each review is decided once, by a known person, over kills and channels that lose, double and delay', async () => {
  const { problems, ...report } = await runChannelKills({ reviews: 60, kills: 2, delayMs: 1_000, seed: 7 });
  expect(problems.slice(0, 10)).toEqual([]);
  expect(report).toMatchObject({ decided: 60, kills: 2 });
  expect(report.looks).toBeGreaterThan(60);
}, 400_000);
