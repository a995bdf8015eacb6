import { expect, test } from 'vitest';
import { runInputKills } from './scenarios/input-kills.ts';

test('answers for tools survive kills before and after they are sent, and no call is repeated unasked', async () => {
  const code = 'answer-that-is-secret-0123456789';
  expect(await runInputKills()).toEqual({
    inClear: false,
    again: 1,
    asks: ['safe asks', 'unsafe asks'],
    others: [`safe ${code} the state`, `unsafe ${code} the state`],
    left: 0,
  });
}, 240_000);
