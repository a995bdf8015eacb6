import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, it, vi } from 'vitest';
import { until } from '../../tests/harness/wait.ts';
import { silentLogger } from './log.ts';
import { Loop } from './loop.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

/** A loop that sleeps for ten seconds after each turn; answers how many turns it has had. */
const sleeper = () => {
  let turns = 0;
  const turn = async () => {
    turns++;
    return 10_000;
  };
  const loop = new Loop({ name: 'sleeper', log: silentLogger, tick: turn }).start();
  return { loop, turns: () => turns };
};

it('a wake-up that is sooner than the next turn is heard, a later one is not', async () => {
  const { loop, turns } = sleeper();
  await until(() => turns() === 1);
  await sleep(10);
  loop.wakeWithin(60_000);
  await sleep(50);
  expect(turns()).toBe(1);
  loop.wakeWithin(5_000);
  await until(() => turns() === 2, 1_000);
  await loop.stop();
});

it('a clock that is set forward while the loop sleeps hides no wake-up', async () => {
  const { loop, turns } = sleeper();
  await until(() => turns() === 1);
  await sleep(10);
  const now = Date.now();
  vi.spyOn(Date, 'now').mockReturnValue(now + 3_600_000);
  loop.wakeWithin(5_000);
  vi.restoreAllMocks();
  await until(() => turns() === 2, 1_000);
  await loop.stop();
});
