import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import type { Logger } from '../lib/log.ts';
import { advisoryLock } from './advisory-lock.ts';
import type { Database, Tx } from './database.ts';

/** The files `NNNN_name.sql`, applied in the order of their names. */
const migrationsFolder = join(import.meta.dirname, '..', '..', 'migrations');

/** Applies the first of `files` that the database does not have, and returns its name; null if it has all. */
const applyNext = async (tx: Tx, files: readonly string[]): Promise<string | null> => {
  // The role or the database may have a limit, as behind a pooler; an index of millions of rows takes longer.
  await sql`set local statement_timeout = 0`.execute(tx);
  await advisoryLock(tx, 'migrations');
  await sql`create table if not exists migrations (name text primary key, applied_at timestamptz(3) not null default now())`.execute(
    tx,
  );
  const { rows } = await sql<{ name: string }>`select name from migrations`.execute(tx);
  const applied = new Set(rows.map((row) => row.name));
  const file = files.find((name) => !applied.has(name));
  if (file === undefined) return null;
  await sql.raw(readFileSync(join(migrationsFolder, file), 'utf8')).execute(tx);
  await sql`insert into migrations (name) values (${file})`.execute(tx);
  return file;
};

/**
 * Brings the schema up to date: applies each file of `migrations/` that the database does not have, in the order of the
 * names. Each runs in a transaction of its own under an advisory lock, so that replicas that start together apply it
 * once. A start that fails leaves the files before as they are, and the next one continues: replicas of the release
 * before work after each of them. One transaction for all would keep their requests waiting until the last file, because
 * it holds the lock of every table that it has changed. Forward only; a database of a newer release is left as it is.
 */
export const migrate = async (db: Database, log: Logger): Promise<void> => {
  const files = readdirSync(migrationsFolder)
    .filter((name) => name.endsWith('.sql'))
    .sort();
  for (;;) {
    const migration = await db.tx((tx) => applyNext(tx, files));
    if (migration === null) return;
    log.info({ migration }, 'migration applied');
  }
};
