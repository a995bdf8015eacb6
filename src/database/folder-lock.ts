import { closeSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** Reserves `dataDir` for this process until `release`, or until the process dies: the kernel frees the lock. */
interface FolderLock {
  release(): void;
}

/**
 * Locks `dataDir`, and creates it if it is missing. A second process on the embedded database would destroy data, and a
 * second one on the telemetry log would interleave it, so a held lock is never stolen.
 * Throws an Error whose message names the process that holds it.
 */
export const lockFolder = (dataDir: string): FolderLock => {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const holder = join(dataDir, 'holder.txt');
  const path = join(dataDir, 'lock.sqlite');
  // SQLite would say only that it is unable to open the file, or that someone else holds one that is read-only.
  closeSync(openSync(path, 'a', 0o600));
  const lock = new DatabaseSync(path);
  try {
    lock.exec('pragma busy_timeout = 0; begin exclusive');
  } catch {
    lock.close();
    let who = 'another process';
    try {
      who = readFileSync(holder, 'utf8').trim();
    } catch {
      // The holder has not written its name yet.
    }
    throw new Error(
      `DATA_DIR ${dataDir} is held by ${who}. Stop it, or start this one with another DATA_DIR.`,
    );
  }
  writeFileSync(holder, `process ${process.pid}, since ${new Date().toISOString()}\n`);
  return {
    release: () => {
      lock.exec('rollback');
      lock.close();
    },
  };
};
