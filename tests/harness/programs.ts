import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** What tests need from outside npm. `.ci/parts` installs it; where it is absent, tests are skipped and say why. */

/** `.ci/parts` puts here what is no package of the system. */
const own = join(import.meta.dirname, '..', '..', '.parts');
/** Debian keeps servers out of the PATH of users. */
const folders = [
  join(own, 'bin'),
  ...(process.env.PATH ?? '').split(delimiter),
  '/usr/sbin',
  '/usr/local/bin',
];

const isProgram = (path: string): boolean => {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
};

/**
 * Finds a program of this machine: what the variable of its name says (`HELM`, `NATS_SERVER`), else the first of its
 * names on the path; null if there is none.
 */
export const findProgram = (...names: [string, ...string[]]): string | null => {
  const named = process.env[names[0].toUpperCase().replaceAll('-', '_')];
  if (named) return named;
  return names.flatMap((name) => folders.map((folder) => join(folder, name))).find(isProgram) ?? null;
};

const ownPython = join(own, 'python', 'bin', 'python');

/** A Python with the packages of the client and of OpenTelemetry, which `.ci/parts` makes; null: none. */
export const testPython: string | null = process.env.PYTHON ?? (isProgram(ownPython) ? ownPython : null);

/** The end of the name of tests that `reason` skips; nothing if it is null. `skipped-reporter.ts` finds it there. */
export const skipNote = (reason: string | null): string => (reason === null ? '' : ` (skipped: ${reason})`);

/** The same for tests that need these programs. */
export const whySkipped = (programs: Record<string, string | null>): string => {
  const missing = Object.keys(programs).filter((name) => programs[name] === null);
  return skipNote(missing.length === 0 ? null : `no ${missing.join(', no ')}`);
};
