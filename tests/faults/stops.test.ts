import { expect, test } from 'vitest';
import { runStops } from './scenarios/stops.ts';
import { tell } from './scenarios/totals.ts';

test('replicas frozen in the middle of a firing delay its schedules by seconds, and woken again lose and double no occurrence', async () => {
  const places = ['COMMIT, its acknowledgement unread', 'the notification, all written'] as const;
  const { account, ...numbers } = await runStops(places, 1_500, 20);
  tell('stops', account, numbers);
  expect(account.problems.slice(0, 10)).toEqual([]);
  expect(account.fired).toBeGreaterThan(40);
  // The server takes the rows from the frozen one after 5 s; the rest is for another to start and to look again.
  expect(numbers.heldMs).toBeLessThan(12_000);
}, 120_000);
