import { expect, onTestFinished, test } from 'vitest';
import { streamSlots } from './stream-slots.ts';

/** What the tabs of one browser share, and its time. */
const browser = () => {
  const stored = new Map<string, string>();
  const shared = {
    read: (name: string) => stored.get(name) ?? null,
    write: (name: string, value: string | null) =>
      void (value === null ? stored.delete(name) : stored.set(name, value)),
  };
  let time = 1_000;
  return {
    tab: (name: string) => {
      const slots = streamSlots(shared, name, () => time);
      onTestFinished(slots.release);
      return slots;
    },
    pass: (milliseconds: number) => {
      time += milliseconds;
    },
  };
};

test('three tabs follow a stream, and another one when one of them stops', () => {
  const { tab } = browser();
  const [one, two, three, four] = ['1', '2', '3', '4'].map(tab);
  expect([one!.take(), two!.take(), three!.take(), four!.take()]).toEqual([true, true, true, false]);
  expect(one!.take()).toBe(true);
  two!.release();
  expect(four!.take()).toBe(true);
  expect(two!.take()).toBe(false);
});

test('the slot of a tab that crashed is free after 15 s', () => {
  const { tab, pass } = browser();
  for (const name of ['1', '2', '3']) tab(name).take();
  pass(14_000);
  expect(tab('4').take()).toBe(false);
  pass(2_000);
  expect(tab('4').take()).toBe(true);
});
