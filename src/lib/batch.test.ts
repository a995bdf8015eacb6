import { expect, test } from 'vitest';
import { Batch } from './batch.ts';
import { unavailable } from './errors.ts';

type Run = (inputs: readonly number[], alone: boolean) => Promise<readonly (string | undefined)[]>;

/** A batch whose calls are recorded, `alone` as a minus. */
const recorded = (run: Run, { most = 10, atOnce = 1 } = {}) => {
  const carriedOut: string[] = [];
  const batch = new Batch<number, string>({
    most,
    atOnce,
    run: (inputs, alone) => {
      carriedOut.push(`${alone ? '-' : ''}${inputs.join()}`);
      return run(inputs, alone);
    },
  });
  const all = (...inputs: number[]) => Promise.allSettled(inputs.map((input) => batch.add(input)));
  return { batch, carriedOut, all };
};

const named: Run = async (inputs) => inputs.map((input) => `n${input}`);
const values = (results: readonly PromiseSettledResult<string>[]) =>
  results.map((result) => (result.status === 'fulfilled' ? result.value : result.reason.message));

test('calls of the same moment are carried out together, and each gets its own result', async () => {
  const { carriedOut, all } = recorded(named, { most: 2 });
  expect(values(await all(1, 2, 3))).toEqual(['n1', 'n2', 'n3']);
  expect(carriedOut).toEqual(['1,2', '3']);
});

test('calls that come while others are in progress wait for each other', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const { batch, carriedOut } = recorded(async (inputs, alone) => {
    if (inputs.includes(1)) await promise;
    return named(inputs, alone);
  });
  const first = batch.add(1);
  await expect.poll(() => carriedOut).toEqual(['1']);
  const others = [batch.add(2), batch.add(3)];
  resolve();
  expect(await Promise.all([first, ...others])).toEqual(['n1', 'n2', 'n3']);
  expect(carriedOut).toEqual(['1', '2,3']);
});

test('a call that would make the others wait is carried out alone, and the next batch does not wait for it', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const { batch, carriedOut } = recorded(async (inputs, alone) => {
    if (alone) await promise;
    return inputs.map((input) => (input === 1 && !alone ? undefined : `n${input}`));
  });
  const first = batch.add(1);
  expect(await batch.add(2)).toBe('n2');
  expect(await batch.add(3)).toBe('n3');
  resolve();
  expect(await first).toBe('n1');
  expect(carriedOut).toEqual(['1,2', '-1', '3']);
});

test('the fault of one call is not the fault of the others', async () => {
  const { carriedOut, all } = recorded(async (inputs, alone) => {
    if (inputs.includes(2)) throw new Error('bad');
    return named(inputs, alone);
  });
  expect(values(await all(1, 2, 3))).toEqual(['n1', 'bad', 'n3']);
  expect(carriedOut).toEqual(['1,2,3', '-1', '-2', '-3']);
});

test('what may have been committed before the database was lost is not carried out again', async () => {
  const { carriedOut, all } = recorded(async () => {
    throw unavailable('The database does not respond.');
  });
  expect(values(await all(1, 2))).toEqual(Array(2).fill('The database does not respond.'));
  expect(carriedOut).toEqual(['1,2']);
});
