import { existsSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { until } from '../../tests/harness/wait.ts';
import type { JobName, Library } from './jobs.ts';
import type { KeepLimits } from './kept.ts';
import { Processes } from './processes.ts';

const program = join(import.meta.dirname, '../../tests/harness/hostile-job.ts');
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ap-kept-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const isThere = (pid: number): boolean => existsSync(`/proc/${pid}`);

interface Asked {
  library?: Library;
  timeLimitMs?: number;
}

const fixture = async ({ max = 2, ...limits }: Partial<KeepLimits> & { max?: number } = {}) => {
  const parent = await mkdtemp(join(folder, 'processes-'));
  const processes = new Processes(parent, () => max, program, limits);
  onTestFinished(() => processes.stop());
  /** Does a deed; the process is kept for `key`. Returns what it found, and its id. */
  const ask = async (
    key: string | null,
    deed: string,
    input: unknown = null,
    { library = 'sqlite', timeLimitMs = 20_000 }: Asked = {},
  ) => {
    let pid = 0;
    const options = { waitMs: null, keepFor: key };
    const output = await processes.use('root', library, options, (child) => {
      pid = child.pid!;
      return child.run(deed as JobName, input, timeLimitMs, undefined, { stays: key !== null });
    });
    return { ...(output as { found?: unknown } | null), pid };
  };
  const folders = () => readdir(parent);
  return { processes, ask, folders, parent };
};

describe.skipIf(process.platform !== 'linux')('a process that is kept', () => {
  test('is given to its key alone: no other meets what a job left in it', async () => {
    const { ask } = await fixture({ max: 4 });
    const one = await ask('one', 'leave', 'a secret');
    const other = await ask('other', 'leave', 'another');
    const third = await ask(null, 'leave');
    expect([one.found, other.found, third.found]).toEqual([null, null, null]);
    expect(new Set([one.pid, other.pid, third.pid]).size).toBe(3);
    expect(await ask('one', 'leave')).toEqual({ found: 'a secret', pid: one.pid });
    expect(await ask('other', 'leave')).toEqual({ found: 'another', pid: other.pid });
    await until(() => !isThere(third.pid));
  });

  test('does one job at a time', async () => {
    const { ask } = await fixture({ max: 4 });
    const one = await ask('one', 'leave');
    const pids = (await Promise.all([ask('one', 'leave'), ask('one', 'leave')])).map(({ pid }) => pid);
    expect(new Set(pids).size).toBe(2);
    expect(pids).toContain(one.pid);
  });

  test.each([
    ['of another library', 1, { library: 'ocr' } as const],
    ['of its own library', 1, { library: 'duckdb' } as const],
    ['of another library, and what waits in advance remains', 2, { library: 'ocr' } as const],
  ])('gives way to a job %s', async (_what, max, asked) => {
    const { ask, folders, parent } = await fixture({ max });
    const { pid } = await ask('one', 'leave', 'a', { library: 'duckdb' });
    // A place is left for one that waits in advance, if there are two.
    await until(async () => (await folders()).length === max);
    const before = await folders();
    let most = 0;
    const watch = setInterval(async () => {
      most = Math.max(most, (await folders()).length);
    }, 1);
    const other = await ask('other', 'leave', null, asked);
    clearInterval(watch);
    expect(other.found).toBe(null);
    expect(isThere(pid)).toBe(false);
    expect(most).toBeLessThanOrEqual(max);
    expect(before.filter((name) => existsSync(join(parent, name)))).toHaveLength(max - 1);
  });

  test('leaves a place to others: who asked longest ago loses it', async () => {
    const { ask } = await fixture({ max: 3 });
    const pids: number[] = [];
    for (const key of ['a', 'b', 'c']) pids.push((await ask(key, 'leave', key)).pid);
    await until(() => !isThere(pids[0]!));
    expect([await ask('c', 'leave', 'c'), await ask('b', 'leave', 'b')]).toEqual([
      { found: 'c', pid: pids[2] },
      { found: 'b', pid: pids[1] },
    ]);
    expect((await ask('a', 'leave')).found).toBe(null);
  });

  test.each([
    ['time', 'loop', 'time_limit', 300],
    ['memory', 'buffers', 'memory', 30_000],
    ['output', 'shout', 'too_large', 30_000],
  ])('has the limit of %s for each job, and is gone then', async (_what, deed, reason, timeLimitMs) => {
    const { ask, folders } = await fixture();
    const { pid } = await ask('one', 'leave');
    await expect(ask('one', deed, null, { timeLimitMs })).rejects.toMatchObject({ reason });
    expect([isThere(pid), await folders()]).toEqual([false, []]);
  });

  test.each(['buffers later', 'shout later', 'exit later'])(
    'is ended if it does something that no one asked for (%s)',
    async (deed) => {
      const { ask, folders } = await fixture();
      const { pid } = await ask('one', deed);
      await until(async () => !isThere(pid) && (await folders()).length === 0);
      const next = await ask('one', 'leave');
      expect([next.found, next.pid === pid]).toEqual([null, false]);
    },
  );

  test.each<[string, Partial<KeepLimits>]>([
    ['after its time', { idleMs: 30 }],
    ['at its age', { ageMs: 0 }],
    ['after its jobs', { jobs: 1 }],
    ['with much memory', { memoryKib: 1_000 }],
  ])('ends %s', async (_what, limits) => {
    const { ask, folders } = await fixture(limits);
    const { pid } = await ask('one', 'leave', 'a');
    await until(async () => !isThere(pid) && (await folders()).length === 0);
  });

  test('ends when something was deleted, also if it works meanwhile, and with the platform', async () => {
    const { processes, ask, folders } = await fixture();
    await ask('one', 'leave', 'a');
    await processes.endKept();
    expect(await folders()).toEqual([]);
    const busy = ask('one', 'leave', 'a');
    await processes.endKept();
    const { pid } = await busy;
    await until(async () => !isThere(pid) && (await folders()).length === 0);
    await ask('one', 'leave', 'a');
    expect((await folders()).length).toBe(1);
    // One that is about to end is waited for too.
    void processes.endKept();
    await processes.stop();
    expect(await folders()).toEqual([]);
  });
});
