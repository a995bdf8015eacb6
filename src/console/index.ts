import { join } from 'node:path';
import type { Feature, Services } from '../feature.ts';
import { type BuiltFiles, readBuiltFiles } from './files.ts';
import { serveConsole } from './site.ts';

/** Folder in which `tools/console.ts` builds the application. */
const dist = join(import.meta.dirname, '..', '..', 'console', 'dist');

/**
 * The application: it serves what was built into `folder`. The files are read once, at the start: there are few, so
 * that no request touches the disk, and a build that replaces them while the platform runs breaks no open page.
 */
export const createConsole = ({ log }: Pick<Services, 'log'>, { folder = dist } = {}): Feature => {
  let files: BuiltFiles | null = null;
  return {
    site: serveConsole(() => files),
    start: async () => {
      files = await readBuiltFiles(folder);
      if (!files) log.warn('the application is not built, so only the API is served: run `npm run console`');
    },
  };
};
