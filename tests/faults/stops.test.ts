import { expect, test } from 'vitest';
import { runStops } from './scenarios/stops.ts';
import { reportTotals } from './scenarios/totals.ts';

test('replicas frozen in the middle of a firing delay its schedules by seconds; when they wake, no occurrence is lost or doubled', async () => {
  const places = ['COMMIT, its acknowledgement unread', 'the notification, all written'] as const;
  const { verification, ...numbers } = await runStops(places, 1_500, 20);
  reportTotals('stops', verification, numbers);
  expect(verification.problems.slice(0, 10)).toEqual([]);
  expect(verification.fired).toBeGreaterThan(40);
  // The server releases the rows of the frozen replica after 5 s; the rest of the time is for another to start and
  // check again.
  expect(numbers.heldMs).toBeLessThan(25_000);
}, 400_000);
