import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, it, vi } from 'vitest';
import { until } from '../../tests/harness/wait.ts';
import { silentLogger } from './log.ts';
import { Loop } from './loop.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

/** A loop that sleeps for ten seconds after each tick, and the number of its ticks. */
const sleeper = () => {
  let ticks = 0;
  const tick = async () => {
    ticks++;
    return 10_000;
  };
  const loop = new Loop({ name: 'sleeper', log: silentLogger, tick }).start();
  return { loop, ticks: () => ticks };
};

it('wakeWithin wakes a loop whose next tick is later, and no other', async () => {
  const { loop, ticks } = sleeper();
  await until(() => ticks() === 1);
  await sleep(10);
  loop.wakeWithin(60_000);
  await sleep(50);
  expect(ticks()).toBe(1);
  loop.wakeWithin(5_000);
  await until(() => ticks() === 2, 1_000);
  await loop.stop();
});

it('no wake-up is lost if the clock is set forward while the loop sleeps', async () => {
  const { loop, ticks } = sleeper();
  await until(() => ticks() === 1);
  await sleep(10);
  const now = Date.now();
  vi.spyOn(Date, 'now').mockReturnValue(now + 3_600_000);
  loop.wakeWithin(5_000);
  vi.restoreAllMocks();
  await until(() => ticks() === 2, 1_000);
  await loop.stop();
});
