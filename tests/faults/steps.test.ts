import { expect, test } from 'vitest';
import { runOutage, runSteps } from './scenarios/steps.ts';

test('each step of an open review is sent once, and it expires once, over kills and a clock that jumps', async () => {
  expect(await runSteps({ items: 60, decided: 20 })).toEqual({
    opened: [60, 40, 40],
    ids: [60, 40, 40],
    tooLate: false,
    messages: 140,
    left: 0,
    continued: 60,
    expiries: 40,
  });
}, 400_000);

test('what a channel did not take for an hour comes within six minutes, and decides nothing', async () => {
  expect(await runOutage({ items: 40, decided: 15 })).toEqual({
    delivered: 25,
    types: ['review.opened'],
    closedBefore: 15,
    stillOpen: 25,
    continued: 15,
  });
}, 400_000);
