import { describe, expect, test } from 'vitest';
import { runExternal, runKilledDelivery } from './scenarios/external.ts';

// Concurrent, because both mostly wait.
describe.concurrent('external workers and callbacks, when replicas are killed', () => {
  test('a callback in flight is sent again with the same id, but not before its lease ends', async () => {
    const { early, ids, attempts } = await runKilledDelivery();
    expect(early).toBe(1);
    expect(ids).toHaveLength(2);
    expect(new Set(ids).size).toBe(1);
    expect(attempts).toBe(2);
  }, 400_000);

  test('every Work Item is completed once, and its callback arrives', async () => {
    const { problems, items } = await runExternal(2, 30);
    expect(problems).toEqual([]);
    expect(items).toBe(60);
  }, 400_000);
});
