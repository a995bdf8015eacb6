import { expect, test } from 'vitest';
import type { ToolServerRow } from '../store.ts';
import { ServerMemory } from './memory.ts';

test('one call at a time is made for an hour, after those in progress, and then as many as before', async () => {
  let now = 0;
  const memory = new ServerMemory({ now: () => now } as never);
  const server = { id: 'a', max_concurrency: 3 } as ToolServerRow;
  const open: (() => void)[] = [];
  const call = () =>
    memory.limit(server, () => {
      const { promise, resolve } = Promise.withResolvers<void>();
      open.push(resolve);
      return promise;
    });
  /** Ends the calls in progress, and returns how many there were. */
  const end = async (): Promise<number> => {
    const ended = open.splice(0);
    for (const one of ended) one();
    // The next ones begin a few turns later.
    await new Promise((resolve) => setImmediate(resolve));
    return ended.length;
  };

  const before = [call(), call()];
  memory.callOneAtATime(server);
  const alone = [call(), call()];
  await Promise.resolve();
  expect(open).toHaveLength(2);
  expect([await end(), await end(), await end(), await end()]).toEqual([2, 1, 1, 0]);
  await Promise.all([...before, ...alone]);

  now = 3_599_999;
  const last = [call(), call()];
  expect([await end(), await end()]).toEqual([1, 1]);
  now = 3_600_000;
  const again = [call(), call(), call()];
  await Promise.resolve();
  expect(await end()).toBe(3);
  await Promise.all([...last, ...again]);
});
