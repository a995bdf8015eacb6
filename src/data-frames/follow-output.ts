import type { FileHandle } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RunOptions } from '../sandbox/index.ts';

/** Milliseconds between looks for more output of the job. */
const lookEveryMs = 20;
const chunkBytes = 256 * 1024;

type Hooks = Required<Pick<RunOptions, 'begun' | 'collect' | 'signal'>>;

/**
 * Runs a job that writes the file `name` from its beginning to its end, and yields the bytes while it does. The job goes
 * on whatever the reader takes, so that a slow one keeps no process: what it has not read is in a file without a name.
 * Throws what the job throws; ends the job when the reader leaves.
 */
export async function* followOutput(
  name: string,
  run: (hooks: Hooks) => Promise<unknown>,
  signal: AbortSignal,
): AsyncGenerator<Buffer, void, undefined> {
  const left = new AbortController();
  let open: Parameters<Hooks['begun']>[0] | null = null;
  let file: FileHandle | null = null;
  const take = async (given: NonNullable<typeof open>): Promise<void> => {
    if (file) return;
    const opened = await given(name);
    // Both sides may open it at once, and the reader may be gone.
    if (file || left.signal.aborted) await opened.close();
    else file = opened;
  };
  let ended = false;
  const job = run({
    signal: AbortSignal.any([signal, left.signal]),
    begun: (given) => {
      open = given;
    },
    collect: take,
  }).finally(() => {
    ended = true;
  });
  const settled = job.catch(() => {});
  try {
    for (let position = 0; ; ) {
      // Output that was written before the end of the job is read after it.
      const last = ended;
      // There is none yet.
      if (open) await take(open).catch(() => {});
      while (file) {
        const { buffer, bytesRead } = await (file as FileHandle).read(
          Buffer.allocUnsafe(chunkBytes),
          0,
          chunkBytes,
          position,
        );
        if (bytesRead === 0) break;
        position += bytesRead;
        yield buffer.subarray(0, bytesRead);
      }
      if (last) break;
      await Promise.race([sleep(lookEveryMs), settled]);
    }
    await job;
  } finally {
    left.abort();
    await (file as FileHandle | null)?.close();
  }
}
