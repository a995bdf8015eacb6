import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { FileBytes } from '../../files/index.ts';
import { newId } from '../../lib/ids.ts';

/** A path at which a document can wait until it is read. Who puts it there removes it. */
export const waitingPath = async (folder: string): Promise<string> => {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  return join(folder, `extraction-${newId()}`);
};

/** Copies a stored file to such a path. */
export const copyOut = async (bytes: FileBytes, fileId: string, folder: string): Promise<string> => {
  const path = await waitingPath(folder);
  await bytes.copy(fileId, path);
  return path;
};
