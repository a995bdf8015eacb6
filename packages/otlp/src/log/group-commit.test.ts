import { setImmediate as tick } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { slice } from '../../tests/log.ts';
import { type Append, GroupCommit } from './group-commit.ts';
import { TelemetryLogError } from './log.ts';

/** Groups that the test ends by hand. */
const collect = (concurrency: number, maxBytes = 1_000) => {
  const groups: { spans: number[]; end: (error?: Error) => void }[] = [];
  let refusal: TelemetryLogError | null = null;
  const commit = new GroupCommit({
    concurrency,
    maxBytes: () => maxBytes,
    refusal: () => refusal,
    write: (group: readonly Append[]) =>
      new Promise((resolve, reject) => {
        const spans = group.flatMap(({ slices }) => slices.map((one) => one.spans));
        groups.push({ spans, end: (error) => (error ? reject(error) : resolve()) });
      }),
  });
  return {
    groups,
    commit,
    append: (spans: number, bytes = 10, routes = [1]) =>
      commit.append([{ ...slice('s', spans, routes), bytes: Buffer.alloc(bytes) }]),
    refuse: (error: TelemetryLogError | null) => {
      refusal = error;
    },
  };
};

test('appends of one tick share a group, and those that come while it is written share the next one', async () => {
  const { groups, append } = collect(1);
  const first = [append(1), append(2)];
  await tick();
  const second = [append(3), append(4)];
  await tick();
  expect(groups.map(({ spans }) => spans)).toEqual([[1, 2]]);
  groups[0]!.end();
  await Promise.all(first);
  await tick();
  expect(groups.map(({ spans }) => spans)).toEqual([
    [1, 2],
    [3, 4],
  ]);
  groups[1]!.end();
  await Promise.all(second);
});

test('a group is no larger than allowed, unless it is a single append', async () => {
  const { groups, append } = collect(9, 25);
  const all = [append(1), append(2), append(3), append(4, 100), append(5)];
  await tick();
  expect(groups.map(({ spans }) => spans)).toEqual([[1, 2], [3], [4], [5]]);
  for (const { end } of groups) end();
  await Promise.all(all);
});

test('as many groups as allowed are in flight at once, and one that fails fails its own appends only', async () => {
  const { groups, append } = collect(2, 10);
  const all = [append(1), append(2), append(3)].map((one) => one.catch((error: Error) => error.message));
  await tick();
  expect(groups).toHaveLength(2);
  groups[1]!.end(new Error('the disk is full'));
  await tick();
  expect(groups).toHaveLength(3);
  groups[0]!.end();
  groups[2]!.end();
  expect(await Promise.all(all)).toEqual([undefined, 'the disk is full', undefined]);
});

test('close waits for what was appended and refuses the rest; what goes nowhere is never refused', async () => {
  const { groups, append, commit } = collect(1, 10);
  const all = [append(1), append(2)];
  const closed = commit.close();
  await expect(append(3)).rejects.toMatchObject({ name: 'TelemetryLogError', kind: 'closed' });
  await append(4, 10, []);
  groups[0]!.end();
  await tick();
  groups[1]!.end();
  await Promise.all([...all, closed]);
  const other = collect(1);
  other.refuse(new TelemetryLogError('failed', 'away'));
  await expect(other.append(1)).rejects.toMatchObject({ kind: 'failed' });
  await other.append(1, 10, []);
});
