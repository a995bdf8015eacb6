import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import type { Logger } from '../lib/log.ts';
import { advisoryLock } from './advisory-lock.ts';
import type { Database } from './database.ts';

/** The files `NNNN_name.sql`, applied in the order of their names. */
const migrationsFolder = join(import.meta.dirname, '..', '..', 'migrations');

/**
 * Brings the schema up to date: applies each file of `migrations/` that the database does not have, in the order of the
 * names. All of them run in one transaction under an advisory lock, so that replicas that start together apply a file
 * once and a failure leaves nothing half done. Forward only; a database of a newer release is left as it is.
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
