import { loadavg } from 'node:os';
import pg from 'pg';
import type { Postgres } from '../../tests/harness/postgres.ts';
import { processMicros } from '../../tests/harness/proc.ts';
import { type PlatformProcess, spawnPlatform } from '../../tests/harness/process.ts';

/** A database, and the replicas that run on it at the moment. */
export interface Rig {
  postgres: Postgres;
  databaseUrl: string;
  client: pg.Client;
  replicas: PlatformProcess[];
}

/** A line of a table. CPU is microseconds for one operation: what carries over to another machine. */
export interface Line {
  what: string;
  'a second': number;
  'CPU platform µs': number;
  'CPU database µs': number;
  load: string;
}

export const openRig = async (postgres: Postgres, databaseUrl: string): Promise<Rig> => {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  return { postgres, databaseUrl, client, replicas: [] };
};

export const closeRig = async (rig: Rig): Promise<void> => {
  await stopReplicas(rig);
  await rig.client.end();
};

/** Starts `count` replicas with these roles, in place of those that run. */
export const startReplicas = async (rig: Rig, count: number, roles: string): Promise<void> => {
  await stopReplicas(rig);
  const { databaseUrl } = rig;
  const start = () => spawnPlatform({ databaseUrl, env: { ROLES: roles, LOG_LEVEL: 'warn' } });
  rig.replicas = await Promise.all(Array.from({ length: count }, start));
  const [first] = rig.replicas;
  const response = await fetch(`${first!.url}/api/v2/advanced-settings`, {
    method: 'PATCH',
    headers: { authorization: `Bearer ${first!.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ RATE_LIMIT_REQUESTS_PER_SECOND: 0, MAX_CONCURRENT_WORK_ITEMS: 32 }),
  });
  if (!response.ok) throw new Error(await response.text());
};

const stopReplicas = async (rig: Rig): Promise<void> => {
  await Promise.all(rig.replicas.map((replica) => replica.stop()));
  rig.replicas = [];
};

/** CPU of the replicas and of PostgreSQL so far, in microseconds. */
const cpu = ({ replicas, postgres }: Rig) => ({
  platform: replicas.reduce((sum, { pid }) => sum + (processMicros(pid) ?? Number.NaN), 0),
  database: processMicros(postgres.pid!) ?? Number.NaN,
});

/** Runs `fn`, which resolves to how many operations it did and how many seconds they took. */
export const measure = async (
  rig: Rig,
  what: string,
  fn: () => Promise<{ count: number; seconds: number }>,
): Promise<Line> => {
  console.error(`${what}, ${rig.replicas.length} replicas …`);
  const before = cpu(rig);
  const { count, seconds } = await fn();
  const after = cpu(rig);
  const round = (value: number): number => Math.round(value * 10) / 10;
  return {
    what,
    'a second': Math.round(count / seconds),
    'CPU platform µs': round((after.platform - before.platform) / count),
    'CPU database µs': round((after.database - before.database) / count),
    load: loadavg()[0]!.toFixed(1),
  };
};
