import { setTimeout as sleep } from 'node:timers/promises';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { type NatsCluster, startNatsCluster } from '../../harness/nats-cluster.ts';
import { until } from '../../harness/wait.ts';
import { Senders, SharedLogFixture } from './shared-log.ts';

export interface ClusterReport {
  acknowledged: number;
  refused: number;
  unanswered: number;
  /** The longest time without an acknowledgement, over all senders. */
  longestPauseMs: number;
}

/** Resolves when the server that died is back with all it missed: only then may the next one die. */
export const caughtUp = (cluster: NatsCluster): Promise<unknown> =>
  until(
    async () => {
      const servers = cluster.servers.map(({ url }) => url);
      const connection = await connect({ servers, reconnect: false, timeout: 2_000 });
      try {
        const manager = await jetstreamManager(connection, { timeout: 2_000 });
        const { cluster: group } = await manager.streams.info('agent_platform_telemetry');
        const others = group?.replicas ?? [];
        return (
          group?.leader && others.length === 2 && others.every(({ current, offline }) => current && !offline)
        );
      } finally {
        await connection.close();
      }
    },
    60_000,
    100,
  );

/**
 * Servers of a cluster of three die by turns while spans come in; in every third round also a replica, which starts
 * while the server is away. Checks that everything that was acknowledged is
 * delivered and counted.
 */
export const runClusterKills = async (kills: number): Promise<ClusterReport> => {
  await using cluster = await startNatsCluster();
  await using one = await SharedLogFixture.open(['api,delivery', 'api,delivery', 'api'], {}, cluster);
  const all = [0, 1, 2];
  const senders = new Senders(one, 'sent', all, 4);
  let [last, at, longestPauseMs] = [0, performance.now(), 0];
  const watch = setInterval(() => {
    const now = performance.now();
    if (senders.acknowledged.size > last) [last, at] = [senders.acknowledged.size, now];
    longestPauseMs = Math.max(longestPauseMs, now - at);
  }, 20);
  try {
    for (let n = 0; n < kills; n++) {
      for (const backend of one.backends) backend.respondWith(n % 2 === 0 ? 200 : 503);
      const victim = cluster.servers[n % 3]!;
      await sleep(200);
      await victim.kill('SIGKILL');
      if (n % 3 === 1) {
        await one.kill(n % 2);
        await one.start(n % 2);
      }
      const before = senders.acknowledged.size;
      await until(() => senders.acknowledged.size > before + 20, 30_000);
      await victim.start();
      await caughtUp(cluster);
    }
    for (const backend of one.backends) backend.respondWith(200);
  } finally {
    clearInterval(watch);
    await senders.stop();
  }
  const { refused, unanswered } = senders;
  await one.check(senders.acknowledged, all);
  return {
    acknowledged: senders.acknowledged.size * 3,
    refused,
    unanswered,
    longestPauseMs: Math.round(longestPauseMs),
  };
};
