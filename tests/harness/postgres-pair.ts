import { execFile } from 'node:child_process';
import { appendFile, chown, copyFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import pg from 'pg';
import { createDatabase, execute, type Postgres, query, startPostgres } from './postgres.ts';
import { unprivileged } from './postgres-binaries.ts';
import { startTcpProxy } from './tcp-proxy.ts';
import { until } from './wait.ts';

/** How the primary ends: at once, or it lives on for so long, with its connections, behind the promoted standby. */
export interface FailOver {
  aliveForMs: number;
}

/** PostgreSQL with a standby that confirms each commit, behind one address. What it is as a server, its primary is. */
export interface PostgresPair extends Postgres {
  /** Of the primary itself, without the one address. */
  readonly directUrl: string;
  /** The ports of the primary, and of the standby if there is one. */
  readonly ports: number[];
  /** Whether each commit waits for the standby, and the standby has everything. */
  inSync(): Promise<boolean>;
  /**
   * Promotes the standby and ends the primary by SIGKILL. The new primary is alone until `rebuild`. Resolves to the time
   * for which the address led to no primary that takes commits, in milliseconds.
   */
  failOver(how: FailOver): Promise<number>;
  /**
   * Stops the standby where it is, and lets commits wait for no one, as with an asynchronous standby whose lag is all that
   * is committed from now on. `failOver` starts it again once the primary is dead.
   */
  fallBehind(): Promise<void>;
  /** Starts the old primary again, as a machine does that comes back, and resolves to its port. `rebuild` ends it. */
  oldStarts(): Promise<number>;
  /** Makes a new standby of a copy of the primary, and waits until each commit waits for it. */
  rebuild(): Promise<void>;
}

const standby = 'standby';
/** The file of the settings that change; the command line would hide changes, and the file of ALTER SYSTEM is the clock's. */
const pairSettings = 'pair.conf';
const clockSettings = 'postgresql.auto.conf';

const configure = async (
  { dataDir, pid }: { dataDir: string; pid: number | null },
  settings: Record<string, string>,
): Promise<void> => {
  const lines = Object.entries(settings).map(([name, value]) => `${name} = '${value}'\n`);
  await writeFile(join(dataDir, pairSettings), lines.join(''));
  if (pid !== null) process.kill(pid, 'SIGHUP');
};

/** Copies the files of the running primary, as pg_basebackup does, which the PostgreSQL of the tests does not have. */
const copyOf =
  (primary: Postgres) =>
  async (dataDir: string): Promise<void> => {
    const client = new pg.Client({ connectionString: primary.url });
    await client.connect();
    try {
      await client.query(`select pg_backup_start('pair', true)`);
      // Files may go while they are copied: the log of the primary says so to the standby.
      await promisify(execFile)('cp', ['-a', `${primary.dataDir}/.`, dataDir]).catch(() => {});
      const { rows } = await client.query('select labelfile from pg_backup_stop(false)');
      await promisify(execFile)('sh', ['-c', 'rm -rf "$0"/pg_wal/* "$0"/postmaster.*', dataDir]);
      await writeFile(join(dataDir, 'backup_label'), rows[0].labelfile);
    } finally {
      await client.end();
    }
    await writeFile(join(dataDir, 'standby.signal'), '');
    const as = unprivileged();
    // The standby renames and removes them.
    if ('uid' in as)
      for (const name of ['backup_label', 'standby.signal']) await chown(join(dataDir, name), as.uid, as.gid);
    const conninfo = `host=127.0.0.1 port=${primary.port} user=postgres application_name=${standby}`;
    await configure({ dataDir, pid: null }, { primary_conninfo: conninfo });
  };

/** Starts the pair behind a proxy that leads to the primary. Neither outlives this process. */
export const startPostgresPair = async (settings: Record<string, string> = {}): Promise<PostgresPair> => {
  const shared = { durable: true, settings: { ...settings, wal_keep_size: '512MB' } };
  let primary = await startPostgres(shared);
  let other: Postgres | null = null;
  const old: Postgres[] = [];
  const proxy = await startTcpProxy(primary.port);
  const url = `postgres://postgres@127.0.0.1:${proxy.port}/postgres`;
  const replication = async () => {
    const [row] = await query<{ sync_state: string; behind: number }>(
      primary.url,
      `select sync_state, (pg_current_wal_lsn() - flush_lsn)::int as behind from pg_stat_replication
         where application_name = '${standby}' and state = 'streaming'`,
    );
    return row;
  };
  const rebuild = async (): Promise<void> => {
    for (const server of old.splice(0)) await server.stop();
    other = await startPostgres({ ...shared, fill: copyOf(primary) });
    await until(async () => (await replication()) !== undefined, 60_000, 50);
    await configure(primary, { synchronous_standby_names: standby });
    await until(async () => (await replication())?.sync_state === 'sync', 60_000, 50);
  };
  const promote = async (): Promise<void> => {
    const [next, before] = [other!, primary];
    await copyFile(join(before.dataDir, clockSettings), join(next.dataDir, clockSettings)).catch(() => {});
    await configure(next, {});
    await execute(next.url, 'select pg_promote(true, 60)');
    proxy.target = next.port;
    [primary, other] = [next, null];
    old.push(before);
  };
  const stop = async () => {
    await Promise.all([primary, other, ...old].map((server) => server?.stop()));
    await proxy[Symbol.asyncDispose]();
  };
  try {
    await appendFile(join(primary.dataDir, 'postgresql.conf'), `include_if_exists '${pairSettings}'\n`);
    await rebuild();
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    url,
    get directUrl() {
      return primary.url;
    },
    get ports() {
      return [primary, other].flatMap((server) => (server ? [server.port] : []));
    },
    get port() {
      return primary.port;
    },
    get dataDir() {
      return primary.dataDir;
    },
    get pid() {
      return primary.pid;
    },
    createDatabase: (name, template) => createDatabase(url, name, template),
    kill: (signal) => primary.kill(signal),
    restart: () => primary.restart(),
    log: () => primary.log(),
    inSync: async () => {
      const row = await replication();
      return row?.sync_state === 'sync' && row.behind <= 0;
    },
    failOver: async ({ aliveForMs }) => {
      const before = primary;
      const begun = performance.now();
      if (aliveForMs === 0) {
        await before.kill('SIGKILL');
        proxy.cut();
      }
      if (other!.pid === null) await other!.restart();
      await promote();
      const away = performance.now() - begun;
      if (aliveForMs > 0) {
        await sleep(aliveForMs);
        await before.kill('SIGKILL');
      }
      return away;
    },
    fallBehind: async () => {
      await configure(primary, {});
      await until(async () => (await replication())?.sync_state === 'async', 20_000, 50);
      // What it has not written to disk yet would come on top.
      await until(async () => ((await replication())?.behind ?? 0) <= 0, 20_000, 20);
      await other!.kill('SIGKILL');
    },
    oldStarts: async () => {
      const before = old.at(-1)!;
      await before.restart();
      return before.port;
    },
    rebuild,
    stop,
    [Symbol.asyncDispose]: stop,
  };
};
