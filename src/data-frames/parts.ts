import { createWriteStream } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Database } from '../database/index.ts';
import type { FileBytes } from '../files/index.ts';
import { newId } from '../lib/ids.ts';
import type { RunOptions, Sandbox } from '../sandbox/index.ts';
import type { CurrentSettings } from '../settings/index.ts';
import type { DataFrame } from './store.ts';

export interface FrameParts {
  db: Database;
  bytes: FileBytes;
  sandbox: Sandbox;
  settings: CurrentSettings;
  /** The folder in which output of jobs waits until it is kept or sent. */
  folder: string;
}

/**
 * The file of a frame in the folder of a job. Its content never changes under its name, so that a process can be kept for
 * the next question about it.
 */
export const fileOf = ({ id }: Pick<DataFrame, 'id'>): string => `${id}.parquet`;

/** The files of some frames for a job, by their names. */
export const filesOf = (
  { bytes }: FrameParts,
  frames: readonly Pick<DataFrame, 'id'>[],
): NonNullable<RunOptions['files']> =>
  Object.fromEntries(
    frames.map((frame) => [fileOf(frame), (path, signal) => bytes.copy(frame.id, path, signal)]),
  );

/**
 * Takes the file `name` that a job wrote out of its folder: give `collect` to the job. `path` is where it waits then; the
 * caller removes it. `drop` removes it if the job failed.
 */
export const takeOut = async (
  { folder }: FrameParts,
  name: string,
): Promise<{ path: string; collect: NonNullable<RunOptions['collect']>; drop: () => Promise<void> }> => {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, `frame-${newId()}`);
  return {
    path,
    collect: async (open) => {
      await using file = await open(name);
      await pipeline(
        file.createReadStream({ autoClose: false }),
        createWriteStream(path, { mode: 0o600, flags: 'wx' }),
      );
    },
    drop: () => rm(path, { force: true }),
  };
};
