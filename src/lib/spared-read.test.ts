import { expect, test } from 'vitest';
import { SparedRead } from './spared-read.ts';

/** A read that takes `took.ms` of a clock that is moved by hand, and returns how often it was made. */
const started = () => {
  const took = { ms: 10, fails: false };
  let now = 1_000;
  let reads = 0;
  const spared = new SparedRead<number>(() => now);
  const read = async () => {
    reads++;
    const n = reads;
    now += took.ms;
    if (took.fails) throw new Error('away');
    return n;
  };
  return {
    took,
    value: () => spared.value(read),
    pass: (ms: number) => {
      now += ms;
    },
    reads: () => reads,
  };
};

test('what is read fast is read for each caller, and once for those of the same time', async () => {
  const { value, took } = started();
  took.ms = 250;
  expect(await Promise.all([value(), value()])).toEqual([1, 1]);
  expect(await value()).toBe(2);
});

test('what is read slowly is read again beside its callers', async () => {
  const { value, pass, took, reads } = started();
  took.ms = 1_000;
  expect(await value()).toBe(1);
  pass(48_999);
  expect([await value(), reads()]).toEqual([1, 1]);
  pass(1);
  expect([await value(), reads()]).toEqual([1, 2]);
  await Promise.resolve();
  expect([await value(), reads()]).toEqual([2, 2]);
});

test('a slow read is waited for if nobody has asked for a long time', async () => {
  const { value, pass, took } = started();
  took.ms = 1_000;
  expect(await value()).toBe(1);
  pass(100_001);
  expect(await value()).toBe(2);
});

test('a failure is not kept, and is told to the caller after the one whose read it was', async () => {
  const { value, pass, took } = started();
  took.ms = 1_000;
  await value();
  pass(50_000);
  took.fails = true;
  expect(await value()).toBe(1);
  await Promise.resolve();
  await expect(value()).rejects.toThrow('away');
  took.fails = false;
  expect(await value()).toBe(4);
});
