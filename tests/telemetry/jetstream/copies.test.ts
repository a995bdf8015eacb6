import { LogStream, parseNatsAddress } from '@agent-platform/otlp/jetstream';
import { type JetStreamManager, jetstreamManager } from '@nats-io/jetstream';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { Logger } from '../../../src/lib/log.ts';
import { describeWithNats, startNats } from '../../harness/nats.ts';
import { type NatsCluster, startNatsCluster } from '../../harness/nats-cluster.ts';
import { until } from '../../harness/wait.ts';

/**
 * Opens the stream, as a start of the platform does: again while the cluster does not respond, as it does not while it
 * elects. Resolves to the warnings of its log.
 */
const open = async (url: string): Promise<string[]> => {
  const warn = vi.fn();
  const log = { warn, info: () => {}, debug: () => {}, error: () => {} } as unknown as Logger;
  await until(async () => {
    const stream = await LogStream.open(parseNatsAddress(url)!, log);
    await stream.close();
    return true;
  }, 60_000);
  return warn.mock.calls.map((line) => JSON.stringify(line));
};

describeWithNats('the copies of the telemetry log', () => {
  let cluster: NatsCluster;
  let connection: NatsConnection;
  let manager: JetStreamManager;
  beforeAll(async () => {
    cluster = await startNatsCluster();
    connection = await connect({
      servers: cluster.servers.map(({ url }) => url),
      maxReconnectAttempts: -1,
    });
    manager = await until(() => jetstreamManager(connection), 60_000);
  }, 60_000);
  afterAll(async () => {
    await connection?.close();
    await cluster?.[Symbol.asyncDispose]();
  });
  const infoOf = (stream: string) => until(() => manager.streams.info(stream), 60_000);
  const copies = async (stream: string) => (await infoOf(stream)).config.num_replicas;

  test('are three on a cluster of three, also when three replicas start at once', async () => {
    const warnings = await Promise.all(Array.from({ length: 3 }, () => open(`${cluster.url}/fresh`)));
    expect(await copies('fresh')).toBe(3);
    expect(warnings.flat()).toEqual([]);
  });

  test('are three if the address names one server of the three', async () => {
    expect(await open(`${cluster.servers[0]!.url}/one`)).toEqual([]);
    expect(await copies('one')).toBe(3);
  });

  test('stay as they are on a stream that exists, and fewer are reported with the command that helps', async () => {
    await manager.streams.add({
      name: 'old',
      subjects: ['old.head', 'old.chunk'],
      discard: 'new',
      num_replicas: 1,
    });
    const [warning] = await open(`${cluster.url}/old`);
    expect(warning).toContain('"copies":1,"servers":3');
    expect(warning).toContain('nats stream edit old --replicas 3');
    expect(await copies('old')).toBe(1);
    await manager.streams.update('old', { num_replicas: 3 });
    expect(await open(`${cluster.url}/old`)).toEqual([]);
  });

  test('are three when a server of the cluster comes a moment later', async () => {
    const [, , third] = cluster.servers;
    await third!.kill('SIGKILL');
    const opened = open(`${cluster.url}/late`);
    await third!.start();
    expect(await opened).toEqual([]);
    expect(await copies('late')).toBe(3);
  });

  test('are counted: how many should have all of it, and how many have while one is away', async () => {
    const log = { warn() {}, info() {} } as unknown as Logger;
    const stream = await until(
      () => LogStream.open(parseNatsAddress(`${cluster.url}/counted`)!, log),
      60_000,
    );
    try {
      await until(async () => (await stream.copies()).current === 3, 30_000);
      const { cluster: group } = await infoOf('counted');
      const leader = cluster.servers[Number(group!.leader!.slice(1)) - 1]!;
      await leader.kill('SIGKILL');
      await until(async () => (await stream.copies()).current === 2, 30_000);
      expect(await stream.copies()).toEqual({ configured: 3, current: 2 });
      await leader.start();
      await until(async () => (await stream.copies()).current === 3, 30_000);
    } finally {
      await stream.close();
    }
  });

  test('are one on a server that is alone, and nothing is reported', async () => {
    await using alone = await startNats();
    expect(await open(alone.url)).toEqual([]);
  });
});
