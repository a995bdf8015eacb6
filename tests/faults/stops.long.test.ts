import { expect, test } from 'vitest';
import { size } from './scenarios/fixture.ts';
import { type Place, places, runStops } from './scenarios/stops.ts';
import { reportTotals } from './scenarios/totals.ts';

const seconds = size('FAULT_STOP_SECONDS', 60);
const schedules = size('FAULT_SCHEDULES', 80);

test(`replicas stopped at each statement of a firing and woken after ${seconds} s`, async () => {
  const at = Object.keys(places) as Place[];
  const { verification, ...numbers } = await runStops(at, seconds * 1_000, schedules);
  reportTotals('stops', verification, numbers);
  expect(verification.problems.slice(0, 10)).toEqual([]);
  expect(verification.fired).toBeGreaterThan(schedules);
});
