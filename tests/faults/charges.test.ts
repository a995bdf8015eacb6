import { expect, test } from 'vitest';
import { runCharges } from './scenarios/charges.ts';

test('replicas that are killed, stand still and lose COMMITs charge each reply once, and all sums agree', async () => {
  const { problems, ...report } = await runCharges(400, 3);
  expect(problems).toEqual([]);
  expect(report).toMatchObject({ kills: 2, stops: 1 });
}, 600_000);
