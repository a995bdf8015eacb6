import { describe, expect, test } from 'vitest';
import type { databases } from '../../harness/database.ts';
import { runRuntimeKills } from './runtime-kills.ts';

/** Kills a worker at each point of an attempt, on one database with so many replicas. */
export const describeRuntimeKills = (database: (typeof databases)[number], replicas: 1 | 2): void => {
  describe(`a killed worker (${database}, ${replicas} replicas)`, () => {
    test('loses no step, repeats no call that must not be repeated, and no decision', async () => {
      const { items, calls, ...others } = await runRuntimeKills(database, replicas);
      expect(items).toEqual({
        'in the first model call': 'COMPLETED Done in the first model call.',
        'between two steps': 'COMPLETED Done between two steps.',
        'in a call that may be repeated': 'COMPLETED Done in a call that may be repeated.',
        'in a call that must not be repeated': 'COMPLETED Done in a call that must not be repeated.',
        'waiting for an approval': 'COMPLETED Done waiting for an approval.',
        'waiting for another approval': 'COMPLETED Done waiting for another approval.',
        'cancelled in a model call': 'CANCELLED',
      });
      expect(calls).toEqual({
        'between two steps': 1,
        'in a call that may be repeated': 2,
        'in a call that must not be repeated': 1,
        'waiting for an approval': 1,
        'waiting for another approval': 1,
      });
      expect(others).toEqual({ approvalKept: true, denied: 200, decisions: [200, 412, 412, 412, 412] });
    }, 400_000);
  });
};
