import { setTimeout as sleep } from 'node:timers/promises';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import type { Nats } from '../../harness/nats.ts';
import { type NatsCluster, startNatsCluster } from '../../harness/nats-cluster.ts';
import { until } from '../../harness/wait.ts';
import { caughtUp } from './cluster-kills.ts';
import { must } from './fixture.ts';
import { SharedLogFixture } from './shared-log.ts';

/** The server that leads the stream of the log. */
const leaderOf = async (cluster: NatsCluster): Promise<Nats> => {
  const name = await until(async () => {
    const servers = cluster.servers.map(({ port }) => `127.0.0.1:${port}`);
    const connection = await connect({ servers, reconnect: false, timeout: 2_000 });
    try {
      const manager = await jetstreamManager(connection, { timeout: 2_000 });
      return (await manager.streams.info('agent_platform_telemetry')).cluster?.leader;
    } finally {
      await connection.close();
    }
  }, 30_000);
  return cluster.servers[Number(name.slice(1)) - 1]!;
};

export interface ExpiryReport {
  rounds: number;
  sent: number;
  delivered: number;
  expired: number;
  problems: string[];
}

/**
 * The server that leads the stream dies at the moment of a retention that expires spans by size. Afterwards each span was
 * delivered or is counted as expired, and the replicas agree.
 */
export const runExpiryKills = async (rounds: number): Promise<ExpiryReport> => {
  await using cluster = await startNatsCluster();
  await using one = await SharedLogFixture.open(['api,delivery', 'api,delivery'], {}, cluster);
  await must(one.fixture.api().patch('/advanced-settings', { TELEMETRY_RETENTION_MB: 16 }));
  const problems: string[] = [];
  /** Names of acknowledged spans; and requests, of which some may be stored without a response. */
  const sent = new Set<string>();
  let requests = 0;
  const send = (i: number, name: string, padding?: number) =>
    until(
      async () => {
        requests++;
        return (await one.send(i, name, 1, padding)).status === 200 && sent.add(`${name}-0`);
      },
      60_000,
      100,
    );
  for (let n = 0; n < rounds; n++) {
    for (const backend of one.backends) backend.respondWith(503);
    const before = await one.health(0);
    // 16 MB are kept, and the rest expires.
    for (let k = 0; k < 60; k++) await send(k % 2, `old.${n}.${k}`, 700_000);
    const leader = await leaderOf(cluster);
    // Retention runs every minute of each replica; the first sign of it is a count.
    await until(async () => (await one.health(0)).expired > before.expired, 150_000, 10);
    await leader.kill('SIGKILL');
    for (const backend of one.backends) backend.respondWith(200);
    await send(0, `after.${n}`);
    await leader.start();
    await caughtUp(cluster);
  }
  for (const [k, backend] of one.backends.entries()) {
    await until(async () => (await one.health(0, k)).queued === 0, 60_000, 100).catch(() => {});
    const names = new Set(backend.spans().map(({ name }) => name));
    const missing = [...sent].filter((name) => !names.has(name));
    for (const i of [0, 1]) {
      const health = await one.health(i, k);
      if (health.queued !== 0) problems.push(`replica ${i}: ${health.queued} are queued`);
      if (health.delivered !== names.size)
        problems.push(`replica ${i}: ${health.delivered} delivered, ${names.size} arrived`);
      if (health.expired < missing.length || health.delivered + health.expired > requests)
        problems.push(
          `replica ${i}: ${health.expired} expired, ${missing.length} of ${requests} are missing`,
        );
      if (health.rejected + health.dead_lettered + health.discarded !== 0)
        problems.push(JSON.stringify(health));
    }
  }
  const { delivered, expired } = await one.health(0);
  return { rounds, sent: sent.size, delivered, expired, problems };
};

export interface StartsReport {
  /** From the start of the process until it is ready and has acknowledged traces, in ms. */
  oneAwayMs: number;
  leaderDiesMs: number[];
  problems: string[];
}

/** A replica starts with one server of three away, and while the server that leads the stream dies. */
export const runClusterStarts = async (kills: number): Promise<StartsReport> => {
  await using cluster = await startNatsCluster();
  const third = cluster.servers[2]!;
  const problems: string[] = [];
  const acknowledged = new Set<string>();
  await using one = await SharedLogFixture.open(['api,delivery', 'api,delivery'], {}, cluster);
  const startsWithin = async (name: string): Promise<number> => {
    const begun = performance.now();
    await one.start(0);
    await until(
      async () => (await one.send(0, name)).status === 200 && acknowledged.add(name),
      60_000,
      50,
    ).catch(() => problems.push(`${name}: no traces`));
    return Math.round(performance.now() - begun);
  };
  await one.kill(0);
  await third.kill('SIGKILL');
  const oneAwayMs = await startsWithin('one-away');
  await third.start();
  await caughtUp(cluster);
  const leaderDiesMs: number[] = [];
  for (let n = 0; n < kills; n++) {
    await one.kill(0);
    const leader = await leaderOf(cluster);
    const starting = startsWithin(`leader-dies.${n}`);
    // The process connects after about a second.
    await sleep(200 + n * 400);
    await leader.kill('SIGKILL');
    leaderDiesMs.push(await starting.catch((error: Error) => problems.push(error.message) && 0));
    await leader.start();
    await caughtUp(cluster);
  }
  await one.check(acknowledged, [1]);
  return { oneAwayMs, leaderDiesMs, problems };
};
