import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** What tests need from outside npm. `.ci/parts` installs it; where it is absent, tests are skipped and say why. */
const root = join(import.meta.dirname, '..', '..');
/** `.ci/parts` puts programs that are no packages of the system here. Debian keeps servers out of the PATH of users. */
const folders = [join(root, '.parts', 'bin'), ...(process.env.PATH ?? '').split(delimiter), '/usr/sbin'];

const canRun = (path: string): boolean => {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
};

/** The path of the program that the environment's `variable` names, else of the first of `names` here; null: none. */
export const findProgram = (variable: string, ...names: string[]): string | null => {
  const named = process.env[variable];
  if (named) return canRun(named) ? named : null;
  const paths = names.flatMap((name) => folders.map((folder) => join(folder, name)));
  return paths.find(canRun) ?? null;
};

/** The end of the name of tests that `reason` skips; nothing if it is null. `skipped-reporter.ts` finds it there. */
export const skipNote = (reason: string | null): string => (reason === null ? '' : ` (skipped: ${reason})`);

/** A Python with the packages of the client and of OpenTelemetry, which `.ci/parts` makes; null: none. */
export const testPython = findProgram('PYTHON', '../python/bin/python');
