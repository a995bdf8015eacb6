import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import type { Logger } from '../lib/log.ts';
import { advisoryLock } from './advisory-lock.ts';
import type { Database } from './database.ts';

/** `at` as a folder of `NNNN_name.sql`, in order. */
const migrationsFolder = join(import.meta.dirname, '..', '..', 'migrations');

/**
 * Bring the schema up to date: each file of `migrations/` that the database has not seen, in the order of its
 * name, all in one transaction under an advisory lock, so that replicas that start together apply it once and
 * a failure leaves nothing half done. Forward only; a database from a newer release is left as it is.
 */
export const migrate = async (db: Database, log: Logger): Promise<void> => {
  const files = readdirSync(migrationsFolder)
    .filter((name) => name.endsWith('.sql'))
    .sort();
  await db.tx(async (tx) => {
    await advisoryLock(tx, 'migrations');
    await sql`create table if not exists migrations (name text primary key, applied_at timestamptz(3) not null default now())`.execute(
      tx,
    );
    const { rows } = await sql<{ name: string }>`select name from migrations`.execute(tx);
    const applied = new Set(rows.map((row) => row.name));
    for (const file of files) {
      if (applied.has(file)) continue;
      await sql.raw(readFileSync(join(migrationsFolder, file), 'utf8')).execute(tx);
      await sql`insert into migrations (name) values (${file})`.execute(tx);
      log.info({ migration: file }, 'migration applied');
    }
  });
};
