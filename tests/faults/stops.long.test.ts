import { expect, test } from 'vitest';
import { size } from './scenarios/fixture.ts';
import { type Place, places, runStops } from './scenarios/stops.ts';
import { tell } from './scenarios/totals.ts';

const seconds = size('FAULT_STOP_SECONDS', 60);
const schedules = size('FAULT_SCHEDULES', 80);

test(`replicas stopped at each statement of a firing and woken after ${seconds} s`, async () => {
  const at = Object.keys(places) as Place[];
  const { account, ...numbers } = await runStops(at, seconds * 1_000, schedules);
  tell('stops', account, numbers);
  expect(account.problems.slice(0, 10)).toEqual([]);
  expect(account.fired).toBeGreaterThan(schedules);
});
