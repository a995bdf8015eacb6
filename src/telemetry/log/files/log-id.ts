import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isId, newId } from '../../../lib/ids.ts';

/** The id of the log in this folder: created at the first start, kept in the folder. */
export const logIdIn = async (directory: string): Promise<string> => {
  const path = join(directory, 'replica-id');
  const known = (await readFile(path, 'utf8').catch(() => '')).trim();
  if (isId(known)) return known;
  const id = newId();
  await writeFile(`${path}.new`, `${id}\n`, { flush: true });
  await rename(`${path}.new`, path);
  return id;
};
