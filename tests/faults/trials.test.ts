import { expect, test } from 'vitest';
import { runTrials } from './scenarios/trials.ts';

test('an experiment whose replicas are killed ends with each trial once and one score a grader', async () => {
  const { problems, takenOver } = await runTrials(2);
  expect(problems).toEqual([]);
  expect(takenOver).toBeGreaterThan(0);
}, 400_000);
