import { open } from 'node:fs/promises';
import type { Database } from '../database/index.ts';
import type { FileBytes } from './bytes.ts';
import { deleteBytes, findBytes, insertBytes } from './bytes-store.ts';

/** A row holds this many bytes: few enough that a statement takes some 10 ms. */
const partBytes = 1024 * 1024;

/**
 * The bytes in rows of PostgreSQL, each written and read in a statement of its own: no transaction lasts as long as a
 * large file or a slow client takes.
 */
export const rowBytes = (db: Database): FileBytes => ({
  put: async (id, path) => {
    await using file = await open(path);
    for (let part = 0; ; part++) {
      const { buffer, bytesRead } = await file.read(
        Buffer.allocUnsafe(partBytes),
        0,
        partBytes,
        part * partBytes,
      );
      if (bytesRead === 0) return;
      await db.run((executor) => insertBytes(executor, id, part, buffer.subarray(0, bytesRead)));
    }
  },
  async *read(id) {
    for (let part = 0; ; part++) {
      const bytes = await db.run((executor) => findBytes(executor, id, part));
      if (bytes === undefined) return;
      yield bytes;
      if (bytes.length < partBytes) return;
    }
  },
  remove: (ids) => db.run((executor) => deleteBytes(executor, ids)),
});
