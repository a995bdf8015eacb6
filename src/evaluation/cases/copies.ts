import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type DataFrame, insertFrame, listAllFrames } from '../../data-frames/index.ts';
import { type Database, everything, type Tx } from '../../database/index.ts';
import { type FileBytes, fileCalls, type OwnerIds, type StoredFile } from '../../files/index.ts';
import { unprocessable } from '../../lib/errors.ts';
import { newId } from '../../lib/ids.ts';

const mostMegabytes = 50;

/** Bytes that were copied under new ids, and whose rows are to be written. */
export interface Copies {
  files: StoredFile[];
  frames: DataFrame[];
}

export interface CopyParts {
  db: Database;
  bytes: FileBytes;
  /** The folder in which files wait that are not kept yet. */
  folder: string;
}

/** Copies the bytes of a file or data frame under a new id. */
export const copyBytes = async ({ bytes, folder }: CopyParts, from: string, to: string): Promise<void> => {
  const path = join(folder, to);
  try {
    await bytes.copy(from, path);
    await bytes.put(to, path);
  } finally {
    await rm(path, { force: true });
  }
};

/** Removes copies whose rows were not written because of `error`. */
export const dropCopies = async (
  { bytes }: CopyParts,
  { files, frames }: Copies,
  error: unknown,
): Promise<void> => {
  for (const { id } of [...files, ...frames]) await fileCalls.dropBytes(bytes, id, error);
};

/**
 * Copies the bytes of files and data frames that `owner` had at a time, before the transaction that writes their rows:
 * none lasts as long. Throws 422 at `path` if they are too large together.
 */
export const copyThings = async (
  parts: CopyParts,
  { owner, until, path }: { owner: OwnerIds; until: Date; path: string },
): Promise<Copies> => {
  const [files, frames] = await Promise.all([
    parts.db.run((executor) => fileCalls.list(executor, owner, everything)),
    parts.db.run((executor) => listAllFrames(executor, owner)),
  ]);
  const then = ({ created_at }: StoredFile | DataFrame) => created_at <= until;
  const had = { files: files.filter(then), frames: frames.filter(then) };
  const megabytes =
    [...had.files, ...had.frames].reduce((sum, { size_bytes }) => sum + size_bytes, 0) / 2 ** 20;
  if (megabytes > mostMegabytes) {
    const message = `has files and data frames of ${Math.ceil(megabytes)} MB; at most ${mostMegabytes} MB are copied`;
    throw unprocessable([{ path, message }]);
  }
  const copies: Copies = { files: [], frames: [] };
  const copy = async <T extends { id: string }>(thing: T, to: T[]): Promise<void> => {
    const id = newId();
    to.push({ ...thing, id });
    await copyBytes(parts, thing.id, id);
  };
  try {
    for (const file of had.files) await copy(file, copies.files);
    for (const frame of had.frames) await copy(frame, copies.frames);
    return copies;
  } catch (error) {
    await dropCopies(parts, copies, error);
    throw error;
  }
};

/** Writes the rows of copies for their new owner. */
export const insertCopies = async (tx: Tx, owner: OwnerIds, { files, frames }: Copies): Promise<void> => {
  for (const file of files) await fileCalls.insert(tx, { ...file, ...owner });
  for (const frame of frames) await insertFrame(tx, { ...frame, ...owner });
};
