import { mkdirSync, mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { unfinishedPrefix } from './state.ts';

/** The application cannot be built here. The message is a sentence that says why. */
export class CannotBuild extends Error {}

/** Imports a build tool. They are development dependencies, some with a binary for each kind of machine. */
export const importTool = async <T>(name: string, tool: Promise<T>): Promise<T> => {
  try {
    return await tool;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const why = code === 'ERR_MODULE_NOT_FOUND' ? 'is not installed' : `cannot be loaded (${message})`;
    throw new CannotBuild(`${name} ${why}. \`npm ci\` without --omit=dev installs it.`);
  }
};

const notWritable = new Set(['EROFS', 'EACCES', 'EPERM']);

/** Makes a folder for what is not finished, in `parent`. Throws CannotBuild if nothing can be written there. */
export const makeFolder = (parent: string): string => {
  try {
    mkdirSync(parent, { recursive: true });
    return mkdtempSync(join(parent, unfinishedPrefix));
  } catch (error) {
    if (!notWritable.has((error as NodeJS.ErrnoException).code ?? '')) throw error;
    throw new CannotBuild(`Nothing can be written to ${parent}.`);
  }
};
