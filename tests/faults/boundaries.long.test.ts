import { expect, test } from 'vitest';
import { runAtBoundaries } from './scenarios/boundaries.ts';
import { size } from './scenarios/fixture.ts';
import { reportTotals } from './scenarios/totals.ts';

const rounds = size('FAULT_BOUNDARY_ROUNDS', 2);

test(`${rounds} times: a process is killed before and after every statement of a firing, COMMIT too`, async () => {
  for (let round = 0; round < rounds; round++) {
    const { cuts, verification, kills } = await runAtBoundaries(100, 1);
    reportTotals('boundaries', verification, { kills, cuts: cuts.length });
    expect(kills).toBe(cuts.length);
    expect(verification.problems.slice(0, 10)).toEqual([]);
  }
});
