import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '../../tests/harness/wait.ts';
import { freePort, startWatchdog } from '../../tests/harness/watchdog.ts';
import type { Module } from './peer.ts';

export interface Redis {
  url: string;
  /** Removes everything in it. */
  clear(): Promise<void>;
  /** Microseconds of CPU that the server has used so far. */
  cpuMicros(): Promise<number>;
  stop(): Promise<void>;
}

/** Starts `redis-server` from the path; undefined if there is none. It never outlives this process. */
const startServer = async (): Promise<{ url: string; stop(): Promise<void> } | undefined> => {
  const directory = mkdtempSync(join(tmpdir(), 'ap-bench-redis-'));
  const port = await freePort();
  // As BullMQ's documentation advises: an append-only file that is synced every second, not at every write.
  const settings = { bind: '127.0.0.1', port, dir: directory, appendonly: 'yes', appendfsync: 'everysec' };
  const server = spawn(
    'redis-server',
    Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)]),
    { stdio: 'ignore', detached: true },
  );
  const started = await Promise.race([
    once(server, 'spawn').then(() => true),
    once(server, 'error').then(() => false),
  ]).catch(() => false);
  if (!started) {
    rmSync(directory, { recursive: true, force: true });
    return undefined;
  }
  const watchdog = startWatchdog([directory]);
  watchdog.watch(server.pid!);
  const gone = once(server, 'exit');
  return {
    url: `redis://127.0.0.1:${port}/0`,
    stop: async () => {
      server.kill('SIGTERM');
      await gone;
      watchdog.release();
      rmSync(directory, { recursive: true, force: true });
    },
  };
};

/**
 * The Redis at `REDIS_URL`, whose database must be empty and is emptied after each herd; or a new one if `redis-server`
 * is installed; else undefined. `load` loads `ioredis` from the folder of the peers.
 */
export const openRedis = async (load: (name: string) => Module): Promise<Redis | undefined> => {
  const given = process.env.REDIS_URL;
  const server = given ? undefined : await startServer();
  const url = given ?? server?.url;
  if (!url) return undefined;
  const IORedis = load('ioredis');
  const client = new IORedis(url, { maxRetriesPerRequest: null });
  client.on('error', () => {});
  const stop = async (): Promise<void> => {
    client.disconnect();
    await server?.stop();
  };
  try {
    await until(async () => (await client.ping()) === 'PONG');
    if ((await client.dbsize()) > 0) throw new Error('REDIS_URL names a database that is not empty');
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    url,
    clear: async () => void (await client.flushdb()),
    cpuMicros: async () => {
      const info: string = await client.info('cpu');
      const seconds = [...info.matchAll(/^used_cpu_(?:sys|user):([\d.]+)/gm)].map((match) =>
        Number(match[1]),
      );
      return 1e6 * seconds.reduce((sum, s) => sum + s, 0);
    },
    stop,
  };
};
