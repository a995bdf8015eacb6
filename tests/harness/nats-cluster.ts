import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { type Nats, startNats } from './nats.ts';
import { until } from './wait.ts';
import { freePort } from './watchdog.ts';

export interface NatsCluster extends AsyncDisposable {
  readonly servers: Nats[];
  /** `nats://127.0.0.1:PORT,127.0.0.1:PORT,…`: the scheme is written once. */
  readonly url: string;
}

/** Resolves when the cluster has a leader that takes requests. */
export const clusterReady = async ({ url }: { url: string }): Promise<void> => {
  const servers = url.replace('nats://', '').split(',');
  await until(
    async () => {
      const connection = await connect({ servers, reconnect: false, timeout: 2_000 });
      try {
        await (await jetstreamManager(connection, { timeout: 2_000 })).getAccountInfo();
        return true;
      } finally {
        await connection.close();
      }
    },
    30_000,
    100,
  );
};

/** Real nats-servers in one cluster with JetStream, on free ports of 127.0.0.1. */
export const startNatsCluster = async (size = 3): Promise<NatsCluster> => {
  const ports = await Promise.all(Array.from({ length: size }, () => freePort()));
  const routes = ports.map((port) => `nats://127.0.0.1:${port}`).join(', ');
  const starts = await Promise.allSettled(
    ports.map((port, i) =>
      startNats({
        cluster: {
          name: `n${i + 1}`,
          lines: `name: tests, listen: "127.0.0.1:${port}", routes: [${routes}]`,
        },
      }),
    ),
  );
  const servers = starts.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  const stop = async () => void (await Promise.all(servers.map((one) => one.stop())));
  const url = `nats://${servers.map(({ port }) => `127.0.0.1:${port}`).join(',')}`;
  try {
    for (const one of starts) if (one.status === 'rejected') throw one.reason;
    await clusterReady({ url });
  } catch (error) {
    await stop();
    throw error;
  }
  return { servers, url, [Symbol.asyncDispose]: stop };
};
