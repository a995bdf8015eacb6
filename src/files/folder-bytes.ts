import { createReadStream } from 'node:fs';
import { constants, copyFile, mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isId } from '../lib/ids.ts';
import type { FileBytes } from './bytes.ts';

const sync = async (path: string): Promise<void> => {
  await using handle = await open(path, 'r');
  await handle.sync();
};

/**
 * The bytes in a folder of this machine, for the embedded database. Each is synced before it is renamed to its place, so
 * that a row never refers to half of it.
 */
export const folderBytes = (folder: string): FileBytes => {
  // The end of an id is random: its beginning is the time.
  const folderOf = (id: string) => join(folder, id.slice(-2));
  const pathOf = (id: string) => join(folderOf(id), id);
  return {
    put: async (id, path) => {
      await mkdir(folderOf(id), { recursive: true, mode: 0o700 });
      await sync(path);
      await rename(path, pathOf(id));
      await sync(folderOf(id));
    },
    read: (id) => createReadStream(pathOf(id)),
    copy: (id, path) => copyFile(pathOf(id), path, constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL),
    remove: async (ids) => {
      for (const id of ids) await rm(pathOf(id), { force: true });
    },
  };
};

/**
 * Removes what nothing refers to: the bytes of a process that died before it wrote their row. `referred` returns which of
 * some ids a row refers to. Called before anything is written.
 */
export const sweepFolder = async (
  folder: string,
  referred: (ids: readonly string[]) => Promise<Set<string>>,
): Promise<void> => {
  for (const name of await readdir(folder).catch(() => [])) {
    const ids = await readdir(join(folder, name));
    const kept = await referred(ids.filter(isId));
    for (const id of ids) if (!kept.has(id)) await rm(join(folder, name, id), { force: true });
  }
};
