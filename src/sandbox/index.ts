import { createWriteStream } from 'node:fs';
import { constants, copyFile, type FileHandle, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Feature, Services } from '../feature.ts';
import { actingPrincipal, actingRoot } from '../lib/acting-for.ts';
import { SandboxFailure } from './failure.ts';
import { type JobName, type Jobs, type Library, libraryOf } from './jobs.ts';
import { Processes } from './processes.ts';

export type { Box, Line, Page, Word } from './jobs/documents/page.ts';
export type { DocumentType } from './jobs/documents/read.ts';
export { Reading } from './jobs/documents/read.ts';
export { type FrameDatatype, frameDatatypes } from './jobs/frames/datatypes.ts';
export { isOcrInstalled, isOcrLanguageInstalled } from './ocr-installed.ts';
export { type Jobs, SandboxFailure };

/** Time that a request waits for a free process, in milliseconds. */
const waitForPlaceMs = 30_000;

export interface RunOptions<J extends JobName = JobName> {
  /**
   * Put into the job's folder before it begins, by their names there: a file that is copied, its bytes, or a function
   * that writes it.
   */
  files?: Record<
    string,
    string | AsyncIterable<Uint8Array> | ((path: string, signal?: AbortSignal) => Promise<void>)
  >;
  limits: {
    /** Seconds from the moment the job has its files. */
    seconds: number;
    /** Waits for a free process as long as it takes, instead of 30 s: for work in the background. */
    waitForever?: boolean;
  };
  /**
   * The process is kept for a short time, and given to the next job of the same principal with the same `keepFor` and
   * the same names in `files`, which it then has already: each of these names has to stand for one content for ever.
   * Without `collect` and `begun`.
   */
  keepFor?: string;
  /** Ends the job; `run` rejects with its reason. */
  signal?: AbortSignal;
  /** Called when the job begins. `open` opens a file that it has begun to write; the caller closes it. */
  begun?: (open: (name: string) => Promise<FileHandle>) => void;
  /**
   * Called with what the job returned when its process is gone, before its folder is removed. `open` opens a file that
   * the job wrote. The caller closes it.
   */
  collect?: (open: (name: string) => Promise<FileHandle>, output: Jobs[J]['output']) => Promise<void>;
}

export interface Sandbox {
  /**
   * Runs a job in a process of its own, or in one that did a job of the same kind for the same principal (`keepFor`),
   * without network, with memory and time limits, in a folder of its own. Throws SandboxFailure if the job fails or is
   * stopped, and 503 if no process is free within 30 s: processes are divided fairly between those for whom the jobs
   * run (`actFor`). Hold no transaction while it runs. What a job returns was made from what a stranger wrote, by a
   * process that may be in their hands.
   */
  run<J extends JobName>(job: J, input: Jobs[J]['input'], options: RunOptions<J>): Promise<Jobs[J]['output']>;
  /** Ends the processes that are kept, because something that they have read is deleted. */
  endKept(): Promise<void>;
}

/**
 * What a kept process is found by. No one else's job has the same: not that of another person, of another agent, or about
 * one file more. Null: none is kept.
 */
const keyOf = async (
  root: string,
  library: Library,
  { keepFor, files = {} }: Pick<RunOptions, 'keepFor' | 'files'>,
): Promise<string | null> => {
  if (keepFor === undefined) return null;
  const { kind, id } = await actingPrincipal();
  // The platform itself acts for many.
  if (kind === 'system') return null;
  return JSON.stringify([root, kind, id, keepFor, library, ...Object.keys(files).sort()]);
};

/** Opens a regular file of the folder: a job in the hands of a stranger may have put a link in its place. */
const openOutput = async (folder: string, name: string): Promise<FileHandle> => {
  const handle = await open(join(folder, name), constants.O_RDONLY | constants.O_NOFOLLOW).catch(() => null);
  if (handle && (await handle.stat()).isFile()) return handle;
  await handle?.close();
  throw new SandboxFailure('died', `the job wrote no ${name}`);
};

/**
 * Puts the files into the folder. They are copies, which the file system may share until one is written (reflink): a
 * job may change what is in its folder.
 */
const putFiles = async (
  folder: string,
  files: NonNullable<RunOptions['files']>,
  signal?: AbortSignal,
): Promise<void> => {
  for (const [name, source] of Object.entries(files)) {
    const path = join(folder, name);
    if (typeof source === 'function') await source(path, signal);
    else if (typeof source === 'string') await copyFile(source, path, constants.COPYFILE_FICLONE);
    else {
      const file = createWriteStream(path, { mode: 0o600, flags: 'wx' });
      await pipeline(Readable.from(source, { objectMode: false }), file, { signal });
    }
  }
};

/** Runs what reads foreign files and statements in processes of their own (decision 0027). */
export const createSandbox = ({ config, settings }: Services): Feature & Sandbox => {
  const folder = join(config.dataDir, 'sandbox');
  const processes = new Processes(folder, () => settings.get().MAX_SANDBOX_PROCESSES);
  return {
    // Removes files that a killed platform left behind.
    start: () => rm(folder, { recursive: true, force: true }),
    stop: () => processes.stop(),
    endKept: () => processes.endKept(),
    run: async (job, input, options) => {
      const { files = {}, limits, signal, begun, collect } = options;
      const root = await actingRoot();
      const library = libraryOf(job);
      const keepFor = await keyOf(root, library, options);
      const waitMs = limits.waitForever ? null : waitForPlaceMs;
      let wasKept = false;
      const attempt = () =>
        processes.use(root, library, { waitMs, signal, keepFor }, async (child) => {
          wasKept = child.jobs > 0;
          if (!wasKept) await putFiles(child.folder, files, signal);
          const openFile = (name: string) => openOutput(child.folder, name);
          begun?.(openFile);
          const stays = keepFor !== null;
          const ran = await child.run(job, input, limits.seconds * 1000, signal, { stays });
          const output = ran as Jobs[typeof job]['output'];
          if (collect) {
            await child.closed;
            await collect(openFile, output);
          }
          return output;
        });
      return attempt().catch((error) => {
        // One that was kept may have ended before it was asked.
        if (wasKept && error instanceof SandboxFailure && error.reason === 'died') return attempt();
        throw error;
      });
    },
  };
};
