import promises, { type FileHandle } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';

/**
 * Simulates a process that dies while it writes files, without ending it. `dieAt(n)` lets the first `n - 1` changes of
 * files succeed, writes half of the next one if it writes bytes, and fails it and all later ones, until `revive`.
 */
let left = Number.POSITIVE_INFINITY;

/** Returns whether this change succeeds. `last`: it is the change during which the process dies. */
const outcome = (): { lives: boolean; last: boolean } => {
  left--;
  return { lives: left > 0, last: left === 0 };
};

type Change = (...args: never[]) => Promise<unknown>;
const guarded = <T extends Change>(change: T, half?: (...args: Parameters<T>) => Parameters<T>): T =>
  async function (this: unknown, ...args: Parameters<T>) {
    const { lives, last } = outcome();
    if (lives) return change.apply(this, args);
    if (last && half) await change.apply(this, half(...args));
    throw new Error('the process is dead');
  } as unknown as T;

const halfOf = (bytes: Buffer): Buffer => bytes.subarray(0, bytes.length >> 1);

let patched = false;
const patch = async (): Promise<void> => {
  if (patched) return;
  patched = true;
  const handle = await promises.open(process.execPath);
  const prototype = Object.getPrototypeOf(handle) as FileHandle;
  await handle.close();
  const files = prototype as unknown as Record<string, Change>;
  files.writeFile = guarded(files.writeFile!, ((bytes: Buffer) => [halfOf(bytes)]) as never);
  files.write = guarded(files.write!, ((bytes: Buffer, from: number, length: number, at: number) => [
    bytes,
    from,
    length >> 1,
    at,
  ]) as never);
  for (const name of ['writev', 'truncate', 'sync', 'datasync']) files[name] = guarded(files[name]!);
  const folders = promises as unknown as Record<string, Change>;
  for (const name of ['mkdir', 'rename', 'rm']) folders[name] = guarded(folders[name]!);
  syncBuiltinESMExports();
};

export const dieAt = async (change: number): Promise<void> => {
  await patch();
  left = change;
};

export const revive = (): void => {
  left = Number.POSITIVE_INFINITY;
};
