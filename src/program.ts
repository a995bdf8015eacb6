import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * The platform's sources and packages as a few files, which start in half the time: Node then reads a few files and not
 * 3,600. `tools/program.ts` builds them into `dist`; where it cannot, Node runs the sources.
 */

/** In `dist`: the hash of what it was built from. Written last. */
export const programHashFile = '.built';

const isSource = (name: string): boolean => name.endsWith('.ts') && !name.endsWith('.test.ts');

const sourcesIn = (folder: string): string[] =>
  readdirSync(folder, { withFileTypes: true })
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) return sourcesIn(path);
      return isSource(entry.name) ? [path] : [];
    });

const sourceFolders = (root: string): string[] => [
  'src',
  ...readdirSync(join(root, 'packages'), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => join('packages', name, 'src'))
    .sort(),
];

/** The hash of the sources and of the lock of the packages: about 30 ms. Throws if one of them cannot be read. */
export const programHash = (root: string): string => {
  const hash = createHash('sha256');
  const files = sourceFolders(root).flatMap((folder) => sourcesIn(join(root, folder)));
  for (const file of [...files, join(root, 'package-lock.json')]) {
    const content = readFileSync(file);
    hash.update(`${file.slice(root.length)} ${content.length}\n`).update(content);
  }
  return hash.digest('hex');
};

/** Whether `dist` is the build of these sources. */
export const isProgramCurrent = (root: string): boolean => {
  try {
    return readFileSync(join(root, 'dist', programHashFile), 'utf8') === programHash(root);
  } catch {
    return false;
  }
};
