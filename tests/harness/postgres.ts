import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chown, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { binaries, releaseOf, unprivileged } from './postgres-binaries.ts';
import { newServer, onFreePort } from './server.ts';
import { until } from './wait.ts';

export interface PostgresOptions {
  /**
   * Keep fsync and full page writes on, for tests that measure or cut the power. Without them a killed server still
   * loses nothing.
   */
  durable?: boolean;
  /** More server settings, `{work_mem: '64MB'}`. */
  settings?: Record<string, string>;
  /** Fills the empty data folder in the place of initdb. */
  fill?: (dataDir: string) => Promise<void>;
}

export interface Postgres extends AsyncDisposable {
  /** Of the database `postgres`, as superuser, without a password. */
  readonly url: string;
  readonly port: number;
  readonly dataDir: string;
  /** The process id of the server; null while it does not run. */
  readonly pid: number | null;
  /** Creates a database and returns its url. See `createDatabase`. */
  createDatabase(name?: string, template?: string): Promise<string>;
  /**
   * Sends the server a signal and waits until it has ended. SIGTERM waits for clients, SIGINT does not, SIGKILL crashes
   * it.
   */
  kill(signal: NodeJS.Signals): Promise<void>;
  /**
   * Starts it again on the same port and data, after `kill` or (cleanly, without waiting for clients) while it runs.
   */
  restart(): Promise<void>;
  /** The server's own log. */
  log(): Promise<string>;
  /** Ends the server and removes its folders. May be called twice. */
  stop(): Promise<void>;
}

/** Runs one statement on the database at `url`, and returns its rows. */
export const query = async <T>(url: string, sql: string): Promise<T[]> => {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 10_000 });
  client.on('error', () => {});
  try {
    await client.connect();
    return (await client.query(sql)).rows;
  } finally {
    await client.end().catch(() => {});
  }
};

/** Runs one statement on the database at `url`. */
export const execute = async (url: string, sql: string): Promise<void> => {
  await query(url, sql);
};

const withDatabase = (url: string, name: string): string => {
  const changed = new URL(url);
  changed.pathname = `/${encodeURIComponent(name)}`;
  return changed.href;
};

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/**
 * Creates a database on the server at `adminUrl` and returns its url. Without a `name` it gets a unique one. With
 * `template`, the name of a database that no one is connected to, it is a copy of that (about 12 ms).
 */
export async function createDatabase(adminUrl: string, name?: string, template?: string): Promise<string> {
  const database = name ?? `test_${randomBytes(8).toString('hex')}`;
  const from = template === undefined ? '' : ` template ${quoted(template)}`;
  await execute(adminUrl, `create database ${quoted(database)}${from}`);
  return withDatabase(adminUrl, database);
}

/** Removes the database of `url` and ends all connections to it. */
export async function dropDatabase(url: string): Promise<void> {
  const name = decodeURIComponent(new URL(url).pathname.slice(1));
  await execute(withDatabase(url, 'postgres'), `drop database if exists ${quoted(name)} with (force)`);
}

/**
 * Starts a separate real PostgreSQL 18 in a temporary folder, on a free port of 127.0.0.1. It never outlives this
 * process.
 */
export async function startPostgres(options: PostgresOptions = {}): Promise<Postgres> {
  const as = unprivileged();
  const server = await newServer('PostgreSQL');
  const { base } = server;
  const dataDir = join(base, 'data');
  const environment = { ...as, cwd: base, env: { LC_ALL: 'C', TZ: 'UTC' } };
  let bin: string;
  let port = 0;
  const urlOf = () => `postgres://postgres@127.0.0.1:${port}/postgres`;
  const stop = () => server.stop('SIGQUIT');

  const start = (): Promise<void> => {
    const settings = {
      port: String(port),
      listen_addresses: '127.0.0.1',
      unix_socket_directories: base,
      max_connections: '200',
      // Helper processes for reading, of release 18 on, are of no use on such small data.
      ...(releaseOf(bin) >= 18 ? { io_method: 'sync' } : {}),
      ...(options.durable ? {} : { fsync: 'off', full_page_writes: 'off' }),
      ...options.settings,
    };
    return server.start({
      command: join(bin, 'postgres'),
      args: [
        '-D',
        dataDir,
        ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
      ],
      options: environment,
      isReady: () => execute(urlOf(), 'select 1').then(() => true),
      withinMs: 60_000,
    });
  };

  try {
    await mkdir(dataDir, { mode: 0o700 });
    if ('uid' in as) for (const folder of [base, dataDir]) await chown(folder, as.uid, as.gid);
    bin = join(await binaries(base, as), 'bin');
    if (options.fill) await options.fill(dataDir);
    else {
      await promisify(execFile)(
        join(bin, 'initdb'),
        ['-D', dataDir, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync'],
        environment,
      );
    }
    await onFreePort((free) => {
      port = free;
      return start();
    });
  } catch (error) {
    await stop();
    throw error;
  }

  return {
    url: urlOf(),
    port,
    dataDir,
    get pid() {
      return server.pid;
    },
    createDatabase: (name, template) => createDatabase(urlOf(), name, template),
    kill: server.kill,
    restart: async () => {
      await server.kill('SIGINT');
      // After a SIGKILL the last children may hold the shared memory for a moment: the server then refuses to start.
      await until(() => start().then(() => true), 60_000, 100);
    },
    log: server.log,
    stop,
    [Symbol.asyncDispose]: stop,
  };
}
