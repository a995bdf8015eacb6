import { open, realpath } from 'node:fs/promises';
import { isAbsolute, join, sep } from 'node:path';
import { ConnectionFailure } from './failures.ts';

/** The first 16 bytes of a database (sqlite.org/fileformat2.html). */
const header = Buffer.from('SQLite format 3\0');

const missing = () => new ConnectionFailure('unreachable', 'There is no such file in SQLITE_DIR.', 'resolve');

/**
 * Returns the real path of a SQLite database in `folder`. Links are followed, but not out of the folder. Throws
 * ConnectionFailure: `denied` for a path that leads out of it, else `unreachable`. The messages do not say what else
 * there is on this machine.
 */
export const findSqliteFile = async (folder: string, path: string): Promise<string> => {
  if (isAbsolute(path) || path.split(/[\\/]/).includes('..') || path.includes('\0')) {
    throw new ConnectionFailure(
      'denied',
      'The path must be relative to SQLITE_DIR and without "..".',
      'resolve',
    );
  }
  const root = await realpath(folder).catch(() => {
    throw missing();
  });
  const real = await realpath(join(root, path)).catch(() => {
    throw missing();
  });
  if (!real.startsWith(root + sep)) {
    throw new ConnectionFailure('denied', 'The path leads out of SQLITE_DIR.', 'resolve');
  }
  return real;
};

/** Throws unless the file is a regular one that begins as a SQLite database does. */
export const checkSqliteHeader = async (path: string): Promise<void> => {
  const notOne = new ConnectionFailure('unreachable', 'The file is not a SQLite database.', 'connect');
  // Not blocking: a named pipe would wait for someone who writes to it.
  const file = await open(path, 'r').catch(() => {
    throw new ConnectionFailure('unreachable', 'The file cannot be read.', 'connect');
  });
  try {
    if (!(await file.stat()).isFile()) throw notOne;
    const { buffer, bytesRead } = await file.read(Buffer.alloc(header.length), 0, header.length, 0);
    if (bytesRead < header.length || !buffer.equals(header)) throw notOne;
  } finally {
    await file.close();
  }
};
