import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { migrate, openEmbedded, openPostgres } from '../../src/database/index.ts';
import { silentLogger } from '../../src/lib/log.ts';
import { type Postgres, startPostgres } from './postgres.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** The one PostgreSQL of the test run, as superuser: `createDatabase(inject('postgresUrl'))`. */
    postgresUrl: string;
    /** The name of a database in it that is migrated and empty, to copy. */
    migratedTemplate: string;
    /** The folder of an embedded database that is migrated and empty, to copy. */
    embeddedTemplate: string;
  }
}

const migratedTemplate = 'migrated';

const migratePostgres = async (postgres: Postgres): Promise<void> => {
  const db = await openPostgres(await postgres.createDatabase(migratedTemplate), silentLogger);
  await migrate(db, silentLogger);
  // A database that is still connected to cannot be copied.
  await db.close();
};

const root = join(import.meta.dirname, '..', '..');
const cache = join(root, 'node_modules', '.cache', 'embedded-database');

/** The folder of the embedded template. It is kept from run to run, until a migration or PGlite changes. */
const embeddedTemplate = async (): Promise<string> => {
  const hash = createHash('sha256');
  const migrations = join(root, 'migrations');
  for (const name of (await readdir(migrations)).sort()) {
    hash.update(name).update(await readFile(join(migrations, name)));
  }
  hash.update(await readFile(join(root, 'node_modules', '@electric-sql', 'pglite', 'package.json')));
  const folder = join(cache, hash.digest('hex').slice(0, 16));
  if (existsSync(folder)) return join(folder, 'database');

  await rm(cache, { recursive: true, force: true });
  await mkdir(cache, { recursive: true });
  const unfinished = await mkdtemp(join(cache, 'unfinished-'));
  const db = await openEmbedded(unfinished, silentLogger);
  await migrate(db, silentLogger);
  await db.close();
  await rename(unfinished, folder);
  return join(folder, 'database');
};

/**
 * One real PostgreSQL for the whole run, and a template of each kind of database: a copy takes a tenth of the time of a
 * new one.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const [postgres, embedded] = await Promise.all([startPostgres(), embeddedTemplate()]);
  await migratePostgres(postgres);
  project.provide('postgresUrl', postgres.url);
  project.provide('migratedTemplate', migratedTemplate);
  project.provide('embeddedTemplate', embedded);
  return () => postgres.stop();
}
