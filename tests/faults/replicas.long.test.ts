import { expect, test } from 'vitest';
import { size } from './scenarios/fixture.ts';
import { runReplicas } from './scenarios/replicas.ts';
import { reportTotals } from './scenarios/totals.ts';

const schedules = size('FAULT_FLEET_SCHEDULES', 1_500);
const moves = size('FAULT_FLEET_MOVES', 60);
const kills = size('FAULT_FLEET_KILLS', 30);
const seed = size('FAULT_SEED', Date.now() % 1_000_000);

test.each([16, 8])(
  '%d replicas of mixed roles, killed, frozen and cut off while the clock jumps',
  async (replicas) => {
    const options = { replicas, schedules, moves, kills, seed: seed + replicas };
    const { verification, ...numbers } = await runReplicas(options);
    reportTotals(`${replicas} replicas`, verification, { ...options, ...numbers });
    expect(verification.problems.slice(0, 10)).toEqual([]);
    expect(numbers.kills).toBe(kills);
    expect(numbers.carriedOut).toBeGreaterThan(kills);
    expect(verification.fired).toBeGreaterThan((schedules * moves) / 4);
  },
);
