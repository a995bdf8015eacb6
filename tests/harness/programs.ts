import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

const isProgram = (path: string): boolean => {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
};

/** Finds a program of this machine: what the variable (`HELM`) names, else the first on the path; null if there is none. */
export const findProgram = (name: string): string | null => {
  const named = process.env[name.toUpperCase()];
  if (named) return named;
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/usr/local/bin'];
  return folders.map((folder) => join(folder, name)).find(isProgram) ?? null;
};

/** For the name of tests that need these programs: nothing if all are there, else why the tests are skipped. */
export const whySkipped = (programs: Record<string, string | null>): string => {
  const missing = Object.keys(programs).filter((name) => programs[name] === null);
  return missing.length === 0 ? '' : ` (skipped: no ${missing.join(', no ')} on this machine)`;
};
