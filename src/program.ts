import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * The platform's sources and packages as a few files, which start in half the time: Node then reads a few files and not
 * 3,600. `tools/program.ts` builds them into `dist`; where it cannot, Node runs the sources.
 */

/**
 * Options of Node that `npm start` and the image give the platform; the engine takes this one only before it starts.
 * New objects get 16 MB, not 128 (decisions 0105 and 0115). Code that is compiled with other options is not found in the
 * cache.
 */
export const nodeOptions = ['--max-semi-space-size=8'] as const;

/**
 * What `npm start` and the image add to the environment, because that is read before Node starts: threads share one arena of
 * memory. With one for each, what one thread has freed stays with it (decision 0115).
 */
export const startEnvironment = { MALLOC_ARENA_MAX: '1' } as const;

/** In `dist`: the hash of what it was built from. Written last. */
export const programHashFile = '.built';

/** The files below `folder` in a fixed order, without files and folders whose name is not `wanted`. */
export const filesIn = (folder: string, wanted: (name: string, isFolder: boolean) => boolean): string[] =>
  readdirSync(folder, { withFileTypes: true })
    .filter((entry) => wanted(entry.name, entry.isDirectory()))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      return entry.isDirectory() ? filesIn(path, wanted) : [path];
    });

/** A hash of names and contents. A file that is missing is unlike any other. */
export const hashOf = (root: string, files: readonly string[]): string => {
  const hash = createHash('sha256');
  for (const file of files) {
    const content = existsSync(file) ? readFileSync(file) : null;
    hash.update(`${file.slice(root.length)} ${content?.length}\n`).update(content ?? '');
  }
  return hash.digest('hex');
};

const isSource = (name: string, isFolder: boolean): boolean =>
  isFolder || (name.endsWith('.ts') && !name.endsWith('.test.ts'));

const sourceFolders = (root: string): string[] => [
  'src',
  ...readdirSync(join(root, 'packages'), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => join('packages', name, 'src'))
    .sort(),
];

/** The hash of the sources, the migrations and the lock of the packages: about 30 ms. Throws if a folder cannot be read. */
export const programHash = (root: string): string =>
  hashOf(root, [
    ...sourceFolders(root).flatMap((folder) => filesIn(join(root, folder), isSource)),
    ...filesIn(join(root, 'migrations'), (name) => name.endsWith('.sql')),
    join(root, 'package-lock.json'),
  ]);

/** Whether `dist` is the build of these sources. */
export const isProgramCurrent = (root: string): boolean => {
  try {
    return readFileSync(join(root, 'dist', programHashFile), 'utf8') === programHash(root);
  } catch {
    return false;
  }
};
