import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chown, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Connection, type ConnectionOptions, createConnection } from 'mysql2/promise';
import { describe } from 'vitest';
import { unprivileged } from './postgres-binaries.ts';
import { findProgram, skipNote } from './programs.ts';
import { newServer, onFreePort } from './server.ts';

export interface MariaDb extends AsyncDisposable {
  readonly host: '127.0.0.1';
  readonly port: number;
  /** May do everything, without a password. */
  readonly user: 'root';
  /** The process id of the server; null while it does not run. */
  readonly pid: number | null;
  /** Creates a database of utf8mb4 and returns its name. Without a `name` it gets a unique one. */
  createDatabase(name?: string): Promise<string>;
  /** A new connection as root; the caller ends it. */
  connect(options?: ConnectionOptions): Promise<Connection>;
  /** Sends the server a signal and waits until it has ended. */
  kill(signal: NodeJS.Signals): Promise<void>;
  /** Starts it again on the same port and data. */
  start(): Promise<void>;
  /** The server's own log. */
  log(): Promise<string>;
  /** Ends the server and removes its folder. May be called twice. */
  stop(): Promise<void>;
}

export interface MariaDbOptions {
  /** More settings of the server, `{max_connections: '5'}`. */
  settings?: Record<string, string>;
}

/** The `mysqld` of Oracle's MySQL, in the place of MariaDB for every test that needs one. */
const mysqld = process.env.MYSQLD;

const mariadbd = mysqld ?? findProgram('mariadbd');

/** Whether the tests run on Oracle's MySQL. */
const isMySql = mysqld !== undefined;

/** Whether this machine has a MariaDB, or MYSQLD names a MySQL. */
export const hasMariaDb = mariadbd !== null;

/** The end of the name of tests that need it, if this machine has none. */
export const mariaDbNote = skipNote(hasMariaDb ? null : 'no MariaDB');

/** Tests that need MariaDB. If the machine has none, they are skipped, with the reason in their name. */
export const describeWithMariaDb = (name: string, tests: () => void): void => {
  describe.skipIf(!hasMariaDb)(name + mariaDbNote, tests);
};

const scripts = '/usr/share/mysql';

/** What `mariadb-install-db` would run, which the server's package alone cannot: root without a password, no test data. */
const systemTables = async (): Promise<string> => {
  const texts = await Promise.all(
    ['mysql_system_tables.sql', 'mysql_system_tables_data.sql'].map((name) =>
      readFile(join(scripts, name), 'utf8'),
    ),
  );
  return ['create database mysql;', 'use mysql;', 'set @auth_root_socket=null;', ...texts].join('\n');
};

/** MySQL makes root for `localhost` only. */
const rootFromTcp = `create user if not exists root@'127.0.0.1';
grant all on *.* to root@'127.0.0.1' with grant option;
`;

/** Small and without syncing: a killed server still loses nothing. */
const small = {
  'innodb-log-file-size': '4M',
  'innodb-data-file-path': 'ibdata1:4M:autoextend',
  'innodb-temp-data-file-path': 'ibtmp1:4M:autoextend',
  'innodb-undo-tablespaces': '0',
  'innodb-buffer-pool-size': '16M',
  'innodb-flush-method': 'nosync',
  'innodb-flush-log-at-trx-commit': '0',
  'max-allowed-packet': '16M',
};

/** The same for MySQL, which names some settings otherwise. */
const smallMySql = {
  'innodb-redo-log-capacity': '8M',
  'innodb-buffer-pool-size': '16M',
  'innodb-flush-log-at-trx-commit': '0',
  'skip-log-bin': '',
  'secure-file-priv': 'NULL',
  mysqlx: 'OFF',
  'max-allowed-packet': '16M',
};

const argumentsOf = (settings: Record<string, string>): string[] =>
  Object.entries(settings).map(([name, value]) => (value === '' ? `--${name}` : `--${name}=${value}`));

/**
 * Starts a real MariaDB in a temporary folder, on a free port of 127.0.0.1, as an unprivileged user (about 0.7 s). It
 * never outlives this process.
 */
export async function startMariaDb(options: MariaDbOptions = {}): Promise<MariaDb> {
  if (!mariadbd) throw new Error(mariaDbNote.trim());
  const as = unprivileged();
  const server = await newServer('mariadb');
  const { base } = server;
  const datadir = join(base, 'data');
  const environment = { ...as, cwd: base, env: { PATH: process.env.PATH, LC_ALL: 'C', TZ: 'UTC' } };
  let port = 0;
  const connect = (more: ConnectionOptions = {}) =>
    createConnection({ host: '127.0.0.1', port, user: 'root', ...more });
  const execute = async (sql: string): Promise<void> => {
    const connection = await connect();
    try {
      await connection.query(sql);
    } finally {
      connection.destroy();
    }
  };
  const start = (): Promise<void> =>
    server.start({
      command: mariadbd,
      args: [
        '--no-defaults',
        ...argumentsOf({
          datadir,
          tmpdir: base,
          port: String(port),
          'bind-address': '127.0.0.1',
          socket: join(base, 'socket'),
          'pid-file': join(base, 'pid'),
          ...(isMySql
            ? { 'init-file': join(base, 'init.sql'), ...smallMySql }
            : { 'lc-messages-dir': scripts, 'skip-name-resolve': '1', ...small }),
          ...options.settings,
        }),
      ],
      options: environment,
      isReady: () => execute('select 1').then(() => true),
      withinMs: 60_000,
    });
  const stop = () => server.stop('SIGKILL');

  try {
    await mkdir(datadir, { mode: 0o700 });
    if ('uid' in as) for (const folder of [base, datadir]) await chown(folder, as.uid, as.gid);
    if (isMySql) await writeFile(join(base, 'init.sql'), rootFromTcp);
    const { status, stderr, error } = spawnSync(
      mariadbd,
      [
        '--no-defaults',
        isMySql ? '--initialize-insecure' : '--bootstrap',
        // Servers that begin at once would delete each other's temporary tables in /tmp.
        ...argumentsOf({
          datadir,
          tmpdir: base,
          ...(isMySql ? smallMySql : { 'lc-messages-dir': scripts, ...small }),
        }),
      ],
      { ...environment, input: isMySql ? '' : await systemTables(), encoding: 'utf8' },
    );
    if (status !== 0) throw new Error(`the database was not made: ${error?.message ?? stderr.slice(-2_000)}`);
    await onFreePort((free) => {
      port = free;
      return start();
    });
  } catch (error) {
    await stop();
    throw error;
  }

  return {
    host: '127.0.0.1',
    port,
    user: 'root',
    get pid() {
      return server.pid;
    },
    createDatabase: async (name = `test_${randomBytes(8).toString('hex')}`) => {
      await execute(`create database \`${name.replaceAll('`', '``')}\` character set utf8mb4`);
      return name;
    },
    connect,
    kill: server.kill,
    start,
    log: server.log,
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

let shared: Promise<MariaDb> | undefined;

/** One MariaDB for all files of this process, as starting it costs more than most of them. It ends with the process. */
export const sharedMariaDb = (): Promise<MariaDb> => {
  shared ??= startMariaDb();
  return shared;
};
