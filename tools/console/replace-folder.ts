import { renameSync, rmSync } from 'node:fs';

const ifCode = (error: unknown, ...codes: string[]): void => {
  if (!codes.includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
};

/**
 * Puts a complete build in the place of the present one. Two builds may end at the same time: the one that finds the
 * place taken tries again, and the last one stays.
 */
export const replaceFolder = (dist: string, build: string): void => {
  for (let attempt = 0; ; attempt++) {
    const old = `${build}-old-${attempt}`;
    try {
      renameSync(dist, old);
    } catch (error) {
      ifCode(error, 'ENOENT');
    }
    try {
      renameSync(build, dist);
      return;
    } catch (error) {
      ifCode(error, 'ENOTEMPTY', 'EEXIST');
      if (attempt === 100) throw error;
    } finally {
      rmSync(old, { recursive: true, force: true });
    }
  }
};
