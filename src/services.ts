import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Config, ConfigError } from './config.ts';
import {
  type Database,
  ListenFailure,
  lockFolder,
  migrate,
  offlineDatabase,
  openEmbedded,
  openPostgres,
  sql,
} from './database/index.ts';
import type { Services } from './feature.ts';
import { type Clock, systemClock } from './lib/clock.ts';
import { type SealedColumn, Vault } from './lib/crypto.ts';
import { createEgress } from './lib/egress.ts';
import { isTlsCode } from './lib/egress-exchange.ts';
import { ApiError, messageOf } from './lib/errors.ts';
import { type Logger, silentLogger } from './lib/log.ts';
import { retryForMs, retryUntilReady } from './lib/retry-until-ready.ts';
import { createSettings, type SettingsFeature } from './settings/index.ts';

const oldestPostgres = 150_000;

/** SQLSTATEs of a database that responds and refuses the connection: another attempt would not help. */
const refusals: Record<string, string> = {
  '28P01': 'the password is wrong',
  '28000': 'the user may not connect',
  '3D000': 'the database does not exist',
};

/** Files that an address names, such as `sslrootcert`. */
const fileCodes = ['ENOENT', 'EACCES', 'EISDIR'];

/** Returns a fault that no later attempt changes: a certificate that is not trusted, or a file that cannot be read. */
const faultOf = (error: unknown): string | undefined => {
  const { code = '', path } = error as { code?: string; path?: string };
  if (fileCodes.includes(code) && path) return `the file ${path} cannot be read (${code})`;
  if (isTlsCode(code))
    return `the certificate of the server is not trusted (${code}); see sslmode and sslrootcert`;
  return undefined;
};

const refusalOf = (error: unknown): string | undefined => {
  const cause = error instanceof ListenFailure ? error.cause : error;
  return refusals[(cause as { code?: string }).code ?? ''] ?? faultOf(cause);
};

/** PostgreSQL at `url`, 15 or newer. Waits for one that does not respond yet. */
const openServer = async (
  url: string,
  log: Logger,
  ...more: [maxConnections?: number, queryTimeoutMs?: number, listenUrl?: string]
): Promise<Database> => {
  const attempt = async (): Promise<Database> => {
    const db = await openPostgres(url, log, ...more);
    try {
      const { rows } = await db.run((executor) =>
        sql<{ version: number }>`select current_setting('server_version_num')::int as version`.execute(
          executor,
        ),
      );
      if (rows[0]!.version >= oldestPostgres) return db;
      throw new ConfigError(['DATABASE_URL: PostgreSQL 15 or newer is needed']);
    } catch (error) {
      await db.close();
      throw error;
    }
  };
  const isPermanent = (error: unknown) => error instanceof ConfigError || refusalOf(error) !== undefined;
  return retryUntilReady(attempt, { log, waitsFor: 'the database', isPermanent }).catch((error) => {
    if (error instanceof ConfigError) throw error;
    const why = refusalOf(error) ?? `no response within ${retryForMs / 1000} s: ${messageOf(error)}`;
    const variable = error instanceof ListenFailure ? 'DATABASE_LISTEN_URL' : 'DATABASE_URL';
    throw new ConfigError([`${variable}: ${why}`]);
  });
};

/** Runs a step of the start, again for 60 s while the database, open before, does not respond. */
export const startStep = <T>(log: Logger, step: () => Promise<T>): Promise<T> =>
  retryUntilReady(step, {
    log,
    waitsFor: 'the database',
    isPermanent: (error) => !(error instanceof ApiError && error.code === 'service_unavailable'),
  });

/** Applies the migrations; on PostgreSQL over a connection of its own, on which a statement may take long. */
const migrateDatabase = async ({ databaseUrl }: Config, db: Database, log: Logger): Promise<void> => {
  const patient = databaseUrl ? await openServer(databaseUrl, log, 1, 0) : db;
  try {
    await startStep(log, () => migrate(patient, log));
  } finally {
    if (patient !== db) await patient.close();
  }
};

/** The vault under ENCRYPTION_KEY, or under a key that the first start generates into the data folder. */
const openVault = (config: Config): Vault => {
  if (config.encryptionKeys) return new Vault(config.encryptionKeys);
  const path = join(config.dataDir, 'encryption.key');
  try {
    // Fails if the file exists: a key is never overwritten, because what it sealed would be lost.
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
 * Brings what is encrypted at rest under the first key of ENCRYPTION_KEY, so that an older key can be dropped from the
 * list once every replica has started with the new one first. ConfigError if the key of a value is not in the list.
 */
export const rotateCredentials = (
  { db, vault }: Pick<Services, 'db' | 'vault'>,
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

type OpenServices = Omit<Services, 'publicUrl'> & { settings: SettingsFeature };

/** The time limit of a notification, in milliseconds. */
const notificationMs = 5_000;

/**
 * Warns if notifications do not arrive: behind a pooler that gives each transaction another connection, or if
 * DATABASE_LISTEN_URL is another database. Everything works without them, up to a minute later.
 */
const checkNotifications = async (db: Database, log: Logger): Promise<void> => {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  // The first call says that the channel is listened to.
  db.listen('notification_check', (payload) => {
    if (payload !== null) return resolve(true);
    setTimeout(resolve, notificationMs, false).unref();
    db.run((executor) => sql`select pg_notify('notification_check', '')`.execute(executor)).catch(() =>
      resolve(true),
    );
  });
  if (await promise) return;
  log.warn(
    'notifications of the database do not arrive, so other replicas and workers notice changes up to a minute later: behind a pooler, set DATABASE_LISTEN_URL to PostgreSQL itself',
  );
};

/**
 * Opens what every feature needs, in this order: lock of the data folder, vault, database with its migrations, outgoing
 * connections. `opened` is called with each part's `close`; they are closed in the opposite order.
 */
export const openServices = async (
  config: Config,
  { log, clock }: { log: Logger; clock: Clock },
  opened: (name: string, close: () => unknown) => void,
): Promise<OpenServices> => {
  const lock = lockFolder(config.dataDir);
  opened('folder lock', () => lock.release());
  const vault = openVault(config);
  const { databaseUrl, databaseListenUrl } = config;
  const db = await (databaseUrl
    ? openServer(databaseUrl, log, undefined, undefined, databaseListenUrl ?? databaseUrl)
    : openEmbedded(config.dataDir, log));
  opened('database', () => db.close());
  await migrateDatabase(config, db, log);
  if (databaseUrl) checkNotifications(db, log).catch(() => {});
  const egress = createEgress({
    deny: config.egress.deny ?? undefined,
    allow: config.egress.allow,
    proxies: config.proxies,
  });
  opened('outgoing connections', () => egress.close());
  return { config, db, vault, settings: createSettings(db, log), egress, log, clock };
};

/** Services that open nothing: enough to make the features and to print what they declare. */
export const offlineServices = (config: Config): OpenServices & Services => {
  const log = silentLogger;
  const settings = createSettings(offlineDatabase, log);
  const vault = new Vault([Buffer.alloc(32)]);
  return {
    config,
    db: offlineDatabase,
    vault,
    settings,
    egress: createEgress({}),
    log,
    clock: systemClock,
    publicUrl: () => '',
  };
};
