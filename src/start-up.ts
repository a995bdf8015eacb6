import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Config, ConfigError } from './config.ts';
import { type Database, migrate, openEmbedded, openPostgres, sql } from './database/index.ts';
import type { Server } from './http/index.ts';
import { type SealedColumn, Vault } from './lib/crypto.ts';
import { messageOf } from './lib/errors.ts';
import type { Logger } from './lib/log.ts';
import { openSharedLog, type SharedLog, TelemetryLogRefusal } from './telemetry/index.ts';

/** How long a database, or a shared telemetry log, that does not answer at start is tried again. */
const patienceMs = 60_000;
const oldestPostgres = 150_000;

/** SQLSTATEs that say the database answers, and will not have us: no use in trying again. */
const refusals: Record<string, string> = {
  '28P01': 'the password is wrong',
  '28000': 'the user may not connect',
  '3D000': 'the database does not exist',
};

/** The configured database, open. Waits for a PostgreSQL that does not answer yet. */
export const openDatabase = async (config: Config, log: Logger): Promise<Database> => {
  if (!config.databaseUrl) return openEmbedded(config.dataDir, log);
  const until = Date.now() + patienceMs;
  for (;;) {
    let db: Database | null = null;
    try {
      db = await openPostgres(config.databaseUrl, log);
      const { rows } = await db.run((executor) =>
        sql<{ version: number }>`select current_setting('server_version_num')::int as version`.execute(
          executor,
        ),
      );
      if (rows[0]!.version >= oldestPostgres) return db;
      throw new ConfigError(['DATABASE_URL: PostgreSQL 15 or newer is needed']);
    } catch (error) {
      await db?.close();
      if (error instanceof ConfigError) throw error;
      const refusal = refusals[(error as { code?: string }).code ?? ''];
      if (refusal) throw new ConfigError([`DATABASE_URL: ${refusal}`]);
      if (Date.now() >= until) {
        throw new ConfigError([`DATABASE_URL: no answer within ${patienceMs / 1000} s: ${messageOf(error)}`]);
      }
      log.warn({ error: messageOf(error) }, 'the database does not answer yet');
      await sleep(1_000);
    }
  }
};

/** The telemetry log that replicas share, open; null where none is configured. Waits for a server that does not answer yet. */
export const openTelemetryLog = async (
  config: Config,
  db: Database,
  log: Logger,
  exists: (number: number) => Promise<boolean>,
): Promise<SharedLog | null> => {
  if (!config.telemetryLogUrl) return null;
  const until = Date.now() + patienceMs;
  for (;;) {
    try {
      return await openSharedLog({ url: config.telemetryLogUrl, db, log, exists });
    } catch (error) {
      if (error instanceof TelemetryLogRefusal) {
        throw new ConfigError([`TELEMETRY_LOG_URL: ${error.message}`]);
      }
      if (Date.now() >= until) {
        throw new ConfigError([
          `TELEMETRY_LOG_URL: no answer within ${patienceMs / 1000} s: ${messageOf(error)}`,
        ]);
      }
      log.warn({ error: messageOf(error) }, 'the telemetry log does not answer yet');
      await sleep(1_000);
    }
  }
};

/** Bring the schema up to date; on PostgreSQL over a connection of its own, on which no statement takes too long. */
export const migrateDatabase = async (config: Config, db: Database, log: Logger): Promise<void> => {
  if (!config.databaseUrl) return migrate(db, log);
  const patient = await openPostgres(config.databaseUrl, log, 1, 0);
  try {
    await migrate(patient, log);
  } finally {
    await patient.close();
  }
};

/** The vault under ENCRYPTION_KEY, or under a key generated into the data folder at the first start. */
export const openVault = (config: Config): Vault => {
  if (config.encryptionKeys) return new Vault(config.encryptionKeys);
  const path = join(config.dataDir, 'encryption.key');
  mkdirSync(config.dataDir, { recursive: true, mode: 0o700 });
  try {
    // Fails where the file is there: a key is never overwritten, since what it sealed would be lost.
    writeFileSync(path, `${randomBytes(32).toString('base64')}\n`, { mode: 0o600, flag: 'wx' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  const key = Buffer.from(readFileSync(path, 'utf8').trim(), 'base64');
  if (key.length !== 32)
    throw new ConfigError([`ENCRYPTION_KEY: the file ${path} does not hold 32 bytes in base64`]);
  return new Vault([key]);
};

/**
 * Bring what is encrypted at rest under the first key of ENCRYPTION_KEY, so that an older one can be dropped from
 * the list once every replica has started with the new one first. ConfigError where a value's key is not in the list.
 */
export const rotateCredentials = (
  db: Database,
  vault: Vault,
  columns: readonly SealedColumn[],
): Promise<void> =>
  db.tx(async (tx) => {
    for (const { table, column, boundTo } of columns) {
      const [from, what] = [sql.table(table), sql.ref(column)];
      const { rows } = await sql<{ id: string; sealed: string }>`select id, ${what} as sealed from ${from}
        where ${what} is not null and split_part(${what}, '.', 2) <> ${vault.keyId} for update`.execute(tx);
      for (const { id, sealed } of rows) {
        const keyId = sealed.split('.')[1]!;
        if (!vault.knows(keyId)) {
          throw new ConfigError([
            `ENCRYPTION_KEY: lacks the key ${keyId}, which credentials in ${table} are encrypted with; add it to the end of the list`,
          ]);
        }
        const again = vault.seal(vault.open(sealed, boundTo(id)), boundTo(id));
        await sql`update ${from} set ${what} = ${again} where id = ${id}`.execute(tx);
      }
    }
  });

const listenFaults: Record<string, string> = {
  EADDRINUSE: 'is taken',
  EACCES: 'may not be used by this user',
  EADDRNOTAVAIL: 'is not on this machine',
};

/** Listen on the configured address; resolves with the port. ConfigError where that cannot be. */
export const listen = (server: Server, { host, port }: Config): Promise<number> =>
  server.listen(port, host).catch((error: NodeJS.ErrnoException) => {
    const why = listenFaults[error.code ?? ''];
    throw why ? new ConfigError([`HOST, PORT: ${host}:${port} ${why}`]) : error;
  });
