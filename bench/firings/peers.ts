import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { dropDatabase, type Postgres } from '../../tests/harness/postgres.ts';
import { processMicros } from '../../tests/harness/proc.ts';
import { bullmq } from './bullmq.ts';
import { graphileWorker } from './graphile-worker.ts';
import { type CpuMeter, cpuMeter, type Herd, herdOf, medianHerd } from './measure.ts';
import type { Peer, Store } from './peer.ts';
import { pgBoss } from './pg-boss.ts';
import { openRedis, type Redis } from './redis.ts';

const peers: readonly Peer[] = [...pgBoss, ...graphileWorker, ...bullmq];

/** The limit for a herd: at the next full minute the next one is due. */
const herdMs = 55_000;

/** The results of a peer's herds of one size. */
export interface PeerResult {
  peer: Peer;
  version: string;
  schedules: number;
  herds: number;
  median: Herd;
}

/**
 * Waits for the herd that is due at `due`, at most its minute. Resolves to null if its schedules were not created by
 * then.
 */
const watch = async (peer: Peer, store: Store, n: number, due: Date, cpu: CpuMeter): Promise<Herd | null> => {
  const running = await peer.start(store, n, due);
  try {
    if (Date.now() > due.getTime() - 500) return null;
    await sleep(due.getTime() - Date.now() - 200);
    await cpu.start();
    const until = due.getTime() + herdMs;
    while (Date.now() < until && (await running.count()) < n) await sleep(250);
    const used = await cpu.stop();
    const jobs = await running.jobs();
    if (jobs.length > n) throw new Error(`${jobs.length} jobs of ${n} schedules`);
    return herdOf(due.getTime(), jobs, used);
  } finally {
    await running.stop();
  }
};

interface Servers {
  server: Postgres;
  redis: Redis | undefined;
  load: Store['load'];
}

/** One herd on an unused store, due as soon as the schedules can be created by then. */
const herd = async (peer: Peer, { server, redis, load }: Servers, n: number): Promise<Herd> => {
  const onRedis = peer.store === 'redis';
  const cpu = cpuMeter(onRedis ? () => redis!.cpuMicros() : () => processMicros(server.pid!));
  for (let lead = 3_000 + n; ; lead *= 2) {
    const url = onRedis ? redis!.url : await server.createDatabase();
    const due = new Date(Math.ceil((Date.now() + lead) / peer.resolutionMs) * peer.resolutionMs);
    try {
      const one = await watch(peer, { url, load }, n, due, cpu);
      if (one) return one;
      if (lead > 100_000) throw new Error(`it took more than ${lead / 1000} s to make ${n} schedules`);
    } finally {
      await (onRedis ? redis!.clear() : dropDatabase(url));
    }
  }
};

const herds = 5;
/** No herd of a size begins after this: a peer whose crons have whole minutes needs one for each herd. */
const budgetMs = Number(process.env.FIRINGS_PEER_SECONDS ?? 75) * 1_000;

const measure = async (
  peer: Peer,
  servers: Servers,
  n: number,
): Promise<Omit<PeerResult, 'peer' | 'version'>> => {
  const all: Herd[] = [];
  const until = Date.now() + budgetMs;
  do all.push(await herd(peer, servers, n));
  while (
    // What was not created in its minute will not be in the next.
    all.length < herds &&
    all.at(-1)!.made === n &&
    Date.now() < until
  );
  return { schedules: n, herds: all.length, median: medianHerd(all) };
};

/**
 * Measures the peers that are installed in the folder `PEERS_DIR` (`npm install pg-boss graphile-worker bullmq ioredis`
 * there); they are not dependencies of the project. `FIRINGS_PEERS` chooses some by name. What is left out is printed,
 * with the reason.
 */
export const measurePeers = async (server: Postgres, sizes: readonly number[]): Promise<PeerResult[]> => {
  const folder = process.env.PEERS_DIR;
  if (!folder) {
    console.log('The peers are left out: PEERS_DIR names no folder that they are installed in.');
    return [];
  }
  const load = createRequire(join(folder, 'peers.js'));
  const versionOf = (name: string): string =>
    JSON.parse(readFileSync(join(folder, 'node_modules', name, 'package.json'), 'utf8')).version;
  const redis = await openRedis(load).catch((error: unknown) => void console.log(`No Redis: ${error}`));
  const results: PeerResult[] = [];
  const chosen = process.env.FIRINGS_PEERS?.split(',');
  for (const peer of peers.filter(({ name }) => chosen?.includes(name) ?? true)) {
    const what = `${peer.name} (${peer.settings})`;
    try {
      if (peer.store === 'redis' && !redis)
        throw new Error('no REDIS_URL, and no redis-server on this machine');
      const version = versionOf(peer.name);
      for (const n of peer.defaultsOnly ? sizes.slice(0, 1) : sizes) {
        const result = await measure(peer, { server, redis, load }, n);
        results.push({ peer, version, ...result });
        console.log(
          `${what}: ${result.median.made} of ${n}, the last after ${Math.round(result.median.last)} ms`,
        );
      }
    } catch (error) {
      console.log(`${what} is left out: ${error instanceof Error ? error.message : error}`);
    }
  }
  await redis?.stop();
  return results;
};
