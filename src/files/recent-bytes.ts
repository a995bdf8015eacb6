import { constants, copyFile, mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { LRUCache } from 'lru-cache';
import { newId } from '../lib/ids.ts';

/** Bytes on disk, all together; a larger file is not kept. */
const mostBytes = 256 * 1024 * 1024;
/** Since they were last used. */
const keptMs = 60_000;

/**
 * Copies on this machine's disk of what was just written to the database or read from it: people ask one question after
 * another about one file, and to read 60 MB from the database takes 0.7 s. Bytes never change under their id. A copy ends
 * a minute after it was last used, so no deleted file stays longer. None survives a stop, or the start after a crash.
 */
export class RecentBytes {
  readonly folder: string;
  readonly #kept: LRUCache<string, number>;

  constructor(folder: string, limits: { bytes?: number; ms?: number } = {}) {
    this.folder = folder;
    this.#kept = new LRUCache({
      maxSize: limits.bytes ?? mostBytes,
      sizeCalculation: (size) => Math.max(1, size),
      ttl: limits.ms ?? keptMs,
      ttlAutopurge: true,
      updateAgeOnGet: true,
      // One that cannot be removed goes with the folder at the next start.
      dispose: (_size, id, reason) =>
        reason === 'set' ? undefined : void rm(this.#pathOf(id), { force: true }).catch(() => {}),
    });
  }

  /** Takes the file at `path`, of `size` bytes. Where it cannot be kept, it stays where it is. */
  async take(id: string, path: string, size: number): Promise<void> {
    if (size > this.#kept.maxSize) return;
    try {
      await mkdir(this.folder, { recursive: true, mode: 0o700 });
      await rename(path, this.#pathOf(id));
    } catch {
      return;
    }
    this.#kept.set(id, size);
  }

  /** Keeps a copy of the file at `path`, of `size` bytes, if it can. */
  async keep(id: string, path: string, size: number): Promise<void> {
    if (size > this.#kept.maxSize) return;
    const own = `${this.#pathOf(id)}-${newId()}`;
    try {
      await mkdir(this.folder, { recursive: true, mode: 0o700 });
      await copyFile(path, own, constants.COPYFILE_FICLONE);
      await this.take(id, own, size);
    } catch {
      // A disk that is full: the next one reads from the database again.
      await rm(own, { force: true }).catch(() => {});
    }
  }

  /** Writes the bytes to a new file at `path`. Returns false if they are not kept. */
  async copy(id: string, path: string): Promise<boolean> {
    if (this.#kept.get(id) === undefined) return false;
    try {
      // The file system may share them until one is written (reflink).
      await copyFile(this.#pathOf(id), path, constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL);
      return true;
    } catch (error) {
      if ((error as { code?: string }).code !== 'ENOENT') throw error;
      // Its time ended just now.
      return false;
    }
  }

  remove(ids: readonly string[]): void {
    for (const id of ids) this.#kept.delete(id);
  }

  /** Removes all of them, also those of a process that died. */
  async clear(): Promise<void> {
    this.#kept.clear();
    await rm(this.folder, { recursive: true, force: true });
  }

  #pathOf(id: string): string {
    return join(this.folder, id);
  }
}
