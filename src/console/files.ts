import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { type Asked, type PageFiles, pageTags } from './page-files.ts';

/** A file in the encodings that it was built with. */
export interface BuiltFile {
  type: string;
  /** Differs for every content. */
  hash: string;
  identity: Buffer;
  br?: Buffer;
  gzip?: Buffer;
}

export interface BuiltFiles {
  /** index.html, with the two placeholders. */
  index: string;
  /** approve.html, which is a page of its own, with the placeholder for who is signed in; null if the build has none. */
  approve: string | null;
  /** The tags that load the files of the page at a path, and what it reads first. */
  tagsOf: (asked: Asked) => string;
  /** Files by path, `/assets/app.js`. */
  byPath: ReadonlyMap<string, BuiltFile>;
}

/** The hash of what the build was made from. The build writes it last. */
const builtFile = '.built';

/** List of what each page loads. It is not served. */
const pagesFile = '.vite/pages.json';

const pageNames = ['/index.html', '/approve.html'];

const types: Record<string, string> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.ico': 'image/x-icon',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
  '.webmanifest': 'application/manifest+json; charset=utf-8',
  '.webp': 'image/webp',
  '.woff2': 'font/woff2',
};

/** Resolves to the content of a file, or to null if there is none. */
const readIfThere = (path: string): Promise<Buffer | null> =>
  readFile(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return null;
    throw error;
  });

const readAll = async (folder: string): Promise<BuiltFiles | null> => {
  const index = await readIfThere(join(folder, 'index.html'));
  if (!index) return null;
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const names = entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length).replaceAll('\\', '/'))
    // Hidden files are about the build: its hash, and Vite's manifest.
    .filter((name) => !name.includes('/.') && !pageNames.includes(name) && !/\.(br|gz)$/.test(name));
  const read = async (name: string): Promise<[string, BuiltFile]> => {
    const path = join(folder, name);
    const [identity, br, gzip] = await Promise.all([
      readFile(path),
      readIfThere(`${path}.br`),
      readIfThere(`${path}.gz`),
    ]);
    return [
      name,
      {
        type: types[extname(name)] ?? 'application/octet-stream',
        hash: createHash('sha256').update(identity).digest('base64url').slice(0, 22),
        identity,
        ...(br ? { br } : {}),
        ...(gzip ? { gzip } : {}),
      },
    ];
  };
  const approve = await readIfThere(join(folder, 'approve.html'));
  const pages = await readIfThere(join(folder, pagesFile));
  return {
    index: index.toString('utf8'),
    approve: approve?.toString('utf8') ?? null,
    tagsOf: pageTags(pages ? (JSON.parse(pages.toString('utf8')) as PageFiles[]) : []),
    byPath: new Map(await Promise.all(names.map(read))),
  };
};

/**
 * Reads what was built into `folder`. Resolves to null if nothing is there. A build may replace the folder in the meantime:
 * then it is read again, because files of two builds do not fit together.
 */
export const readBuiltFiles = async (folder: string): Promise<BuiltFiles | null> => {
  for (let attempt = 1; ; attempt++) {
    const before = await readIfThere(join(folder, builtFile));
    const files = await readAll(folder).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT' || attempt === 5) throw error;
      return undefined;
    });
    const after = await readIfThere(join(folder, builtFile));
    if (files !== undefined && String(before) === String(after)) return files;
  }
};
