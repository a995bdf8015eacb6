import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { streamSlots } from './stream-slots.ts';

afterEach(() => {
  vi.useRealTimers();
});

/** A browser with a fake clock. Its tabs share one storage. */
const browser = () => {
  vi.useFakeTimers({ now: 1_000_000 });
  const stored = new Map<string, string>();
  const shared = {
    read: (name: string) => stored.get(name) ?? null,
    write: (name: string, value: string | null) =>
      void (value === null ? stored.delete(name) : stored.set(name, value)),
  };
  return {
    stored,
    tab: (name: string) => {
      const slots = streamSlots(shared, name);
      const lost = vi.fn();
      onTestFinished(slots.release);
      return { ...slots, take: () => slots.take(lost), lost };
    },
    /** Stores the slot that a tab had when it crashed. */
    crashed: (slot: number) => stored.set(`stream-${slot}`, `crashed-${slot} ${Date.now() + 15_000}`),
  };
};

test('three tabs follow a stream, and another one when one of them stops', () => {
  const { tab } = browser();
  const [one, two, three, four] = ['1', '2', '3', '4'].map(tab);
  expect([one!.take(), two!.take(), three!.take(), four!.take()]).toEqual([true, true, true, false]);
  expect(one!.take()).toBe(true);
  vi.advanceTimersByTime(60_000);
  expect(four!.take()).toBe(false);
  two!.release();
  expect(four!.take()).toBe(true);
  expect(two!.take()).toBe(false);
});

test('the slot of a tab that crashed is free after 15 s, also if the clock was set back', () => {
  const { tab, crashed } = browser();
  for (const slot of [1, 2, 3]) crashed(slot);
  vi.advanceTimersByTime(14_000);
  expect(tab('4').take()).toBe(false);
  vi.advanceTimersByTime(2_000);
  expect(tab('4').take()).toBe(true);
  for (const slot of [1, 2, 3]) crashed(slot);
  vi.setSystemTime(Date.now() - 3_600_000);
  expect(tab('5').take()).toBe(true);
});

test('a tab that stood still for so long that another has its slot gives up its stream', () => {
  const { tab, stored } = browser();
  const slow = tab('slow');
  expect(slow.take()).toBe(true);
  stored.set('stream-1', `other ${Date.now() + 15_000}`);
  vi.advanceTimersByTime(5_000);
  expect(slow.lost).toHaveBeenCalledOnce();
  slow.release();
  expect(stored.get('stream-1')).toMatch(/^other /);
  expect(slow.take()).toBe(true);
  expect(stored.get('stream-2')).toMatch(/^slow /);
});
