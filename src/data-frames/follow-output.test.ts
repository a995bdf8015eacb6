import { appendFile, mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { followOutput } from './follow-output.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ap-follow-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** A job that writes `texts` to a file, each when it is told to, and then ends or fails. */
const jobOf = (texts: readonly string[], failure?: Error) => {
  const gates = texts.map(() => Promise.withResolvers<void>());
  const seen: { signal?: AbortSignal } = {};
  const openFile = () => open(join(folder, 'content'), 'r');
  const bytes = followOutput(
    'content',
    async ({ begun, collect, signal }) => {
      seen.signal = signal;
      begun(openFile);
      for (const [i, text] of texts.entries()) {
        await Promise.race([
          gates[i]!.promise,
          new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
        ]);
        await appendFile(join(folder, 'content'), text);
      }
      if (failure) throw failure;
      await collect(openFile, null as never);
      // The folder of a job is removed when it has ended.
      await rm(folder, { recursive: true });
    },
    new AbortController().signal,
  );
  return { bytes, gates, seen };
};

test('what a job writes is read while it writes, and to its end when its folder is gone', async () => {
  const { bytes, gates } = jobOf(['first ', 'second ', 'third']);
  gates[0]!.resolve();
  expect(String((await bytes.next()).value)).toBe('first ');
  gates[1]!.resolve();
  expect(String((await bytes.next()).value)).toBe('second ');
  gates[2]!.resolve();
  const rest = await Array.fromAsync(bytes);
  expect(Buffer.concat(rest).toString()).toBe('third');
});

test('a job that is quick is read to its end', async () => {
  const { bytes, gates } = jobOf(['a', 'b']);
  for (const gate of gates) gate.resolve();
  expect(Buffer.concat(await Array.fromAsync(bytes)).toString()).toBe('ab');
});

test('a failure comes after what was written before it', async () => {
  await expect(jobOf([], new Error('at once')).bytes.next()).rejects.toThrow('at once');
  const { bytes, gates } = jobOf(['half'], new Error('the disk is full'));
  gates[0]!.resolve();
  expect(String((await bytes.next()).value)).toBe('half');
  await expect(bytes.next()).rejects.toThrow('the disk is full');
});

test('a reader who leaves ends the job', async () => {
  const { bytes, gates, seen } = jobOf(['first', 'never']);
  gates[0]!.resolve();
  await bytes.next();
  expect(seen.signal!.aborted).toBe(false);
  await bytes.return();
  expect(seen.signal!.aborted).toBe(true);
});
