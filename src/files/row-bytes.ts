import { createWriteStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Database } from '../database/index.ts';
import type { FileBytes } from './bytes.ts';
import { deleteBytes, findBytes, insertBytes } from './bytes-store.ts';
import type { RecentBytes } from './recent-bytes.ts';

/** A row holds this many bytes: few enough that a statement takes some 10 ms. */
const partBytes = 1024 * 1024;

/**
 * The bytes in rows of PostgreSQL, each written and read in a statement of its own: no transaction lasts as long as a
 * large file or a slow client takes.
 */
export const rowBytes = (db: Database, recent: RecentBytes): FileBytes => {
  const insert = async (id: string, path: string): Promise<number> => {
    await using file = await open(path);
    for (let part = 0; ; part++) {
      const { buffer, bytesRead } = await file.read(
        Buffer.allocUnsafe(partBytes),
        0,
        partBytes,
        part * partBytes,
      );
      if (bytesRead > 0) {
        await db.run((executor) => insertBytes(executor, id, part, buffer.subarray(0, bytesRead)));
      }
      if (bytesRead < partBytes) return part * partBytes + bytesRead;
    }
  };
  const read = async function* (id: string): AsyncGenerator<Buffer> {
    for (let part = 0; ; part++) {
      const bytes = await db.run((executor) => findBytes(executor, id, part));
      if (bytes === undefined) return;
      yield bytes;
      if (bytes.length < partBytes) return;
    }
  };
  return {
    put: async (id, path) => recent.take(id, path, await insert(id, path)),
    read,
    copy: async (id, path, signal) => {
      if (await recent.copy(id, path)) return;
      const file = createWriteStream(path, { mode: 0o600, flags: 'wx' });
      await pipeline(Readable.from(read(id), { objectMode: false }), file, { signal });
      await recent.keep(id, path, file.bytesWritten);
    },
    remove: async (ids) => {
      recent.remove(ids);
      await db.run((executor) => deleteBytes(executor, ids));
    },
  };
};
