import { createRequire } from 'node:module';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import pg from 'pg';
import type { Postgres } from '../tests/harness/postgres.ts';

const minute = 60_000;

/** How late the jobs of one herd became visible, in milliseconds after the minute that they were all due at. */
export interface PeerHerd {
  what: string;
  schedules: number;
  median: number;
  p99: number;
  last: number;
  cpuMicros: number;
}

// biome-ignore lint/suspicious/noExplicitAny: the peers are not dependencies, so their types are not known here
type Module = any;

interface Peer {
  name: string;
  /** Counts the jobs that there are. */
  count: string;
  /** Starts it with `n` schedules that are due every minute; answers what stops it. */
  start(module: Module, url: string, n: number): Promise<() => Promise<void>>;
}

const quiet = () => () => {};

const peers: Peer[] = [
  {
    name: 'graphile-worker',
    count: 'select count(*)::int as n from graphile_worker._private_jobs',
    start: async ({ run, parseCronItems, Logger }, url, n) => {
      const items = Array.from({ length: n }, (_, k) => ({
        task: 'fire',
        match: '* * * * *',
        identifier: `schedule ${k}`,
        payload: { shop: 7 },
      }));
      const runner = await run({
        connectionString: url,
        // A task of another name: the jobs are made and stay.
        taskList: { other: async () => {} },
        parsedCronItems: parseCronItems(items),
        concurrency: 1,
        noHandleSignals: true,
        logger: new Logger(quiet),
      });
      return () => runner.stop();
    },
  },
  {
    name: 'pg-boss',
    count: "select count(*)::int as n from pgboss.job where name = 'fire'",
    start: async (module, url, n) => {
      const PgBoss = module.PgBoss ?? module.default;
      // The shortest intervals that it documents.
      const boss = new PgBoss({
        connectionString: url,
        cronMonitorIntervalSeconds: 1,
        cronWorkerIntervalSeconds: 1,
      });
      boss.on('error', () => {});
      await boss.start();
      await boss.createQueue('fire');
      for (let k = 0; k < n; k += 100) {
        await Promise.all(
          Array.from({ length: Math.min(100, n - k) }, (_, i) =>
            boss.schedule('fire', '* * * * *', { shop: 7 }, { key: `schedule-${k + i}` }),
          ),
        );
      }
      return () => boss.stop({ graceful: false });
    },
  },
];

/** One herd: `n` schedules due at the next full minute, and when their jobs were seen, every 20 ms. */
const herd = async (peer: Peer, module: Module, server: Postgres, n: number): Promise<PeerHerd> => {
  const url = await server.createDatabase();
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const count = async (): Promise<number> => (await client.query(peer.count)).rows[0].n;
  const stop = await peer.start(module, url, n);
  try {
    // What fell due while the schedules were made is not counted; there must be time to see the minute begin.
    const due = Math.ceil((Date.now() + 3_000) / minute) * minute;
    await sleep(due - Date.now() - 500);
    const before = await count();
    const cpu = process.cpuUsage();
    const reached = { median: 0, p99: 0, last: 0 };
    while (reached.last === 0) {
      const late = Date.now() - due;
      if (late > 55_000)
        throw new Error(`${peer.name} made ${(await count()) - before} of ${n} jobs in a minute`);
      const made = (await count()) - before;
      if (made >= n / 2) reached.median ||= late;
      if (made >= n * 0.99) reached.p99 ||= late;
      if (made >= n) reached.last = late;
      else await sleep(20);
    }
    const { user, system } = process.cpuUsage(cpu);
    return { what: peer.name, schedules: n, ...reached, cpuMicros: (user + system) / n };
  } finally {
    await stop();
    await client.end();
  }
};

/**
 * The peers that are installed in the folder `PEERS_DIR` (`npm install pg-boss graphile-worker` there): they are no
 * dependencies of ours. What is not installed or does not finish is said and left out.
 */
export const peerHerds = async (server: Postgres, sizes: readonly number[]): Promise<PeerHerd[]> => {
  const folder = process.env.PEERS_DIR;
  const herds: PeerHerd[] = [];
  for (const peer of peers) {
    if (!folder) {
      console.log(`${peer.name} is left out: PEERS_DIR names no folder that it is installed in.`);
      continue;
    }
    try {
      const found = createRequire(join(folder, 'peers.js')).resolve(peer.name);
      const module = await import(pathToFileURL(found).href);
      for (const size of sizes) herds.push(await herd(peer, module, server, size));
    } catch (error) {
      console.log(`${peer.name} is left out: ${error instanceof Error ? error.message : error}`);
    }
  }
  return herds;
};
