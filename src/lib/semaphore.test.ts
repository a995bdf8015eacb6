import { expect, test } from 'vitest';
import { Semaphore } from './semaphore.ts';

test('at most N run at once, the others in the order of the calls, also if one fails', async () => {
  const semaphore = new Semaphore(2);
  const begun: number[] = [];
  const ends: (() => void)[] = [];
  const run = (n: number) =>
    semaphore.run(async () => {
      begun.push(n);
      await new Promise<void>((end) => ends.push(end));
      if (n === 0) throw new Error('failed');
      return n;
    });
  const results = Promise.allSettled([0, 1, 2, 3].map(run));
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  await settle();
  expect(begun).toEqual([0, 1]);
  ends[0]!();
  await settle();
  expect(begun).toEqual([0, 1, 2]);
  ends[2]!();
  await settle();
  expect(begun).toEqual([0, 1, 2, 3]);
  for (const end of ends) end();
  expect((await results).map(({ status }) => status)).toEqual([
    'rejected',
    'fulfilled',
    'fulfilled',
    'fulfilled',
  ]);
  await expect(semaphore.run(async () => 'free again')).resolves.toBe('free again');
});
