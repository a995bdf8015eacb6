import { randomUUID } from 'node:crypto';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** The id of the log in this folder: created at the first start, kept in the folder. */
export const logIdIn = async (directory: string): Promise<string> => {
  const path = join(directory, 'replica-id');
  const known = (await readFile(path, 'utf8').catch(() => '')).trim();
  if (uuid.test(known)) return known;
  const id = randomUUID();
  await writeFile(`${path}.new`, `${id}\n`, { flush: true });
  await rename(`${path}.new`, path);
  return id;
};
