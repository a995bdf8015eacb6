import { setTimeout as sleep } from 'node:timers/promises';
import { JetStreamApiError, type JetStreamManager, type StreamInfo } from '@nats-io/jetstream';
import { type NatsConnection, nanos } from '@nats-io/transport-node';

/** A cluster of three goes on without any one of its servers, and has everything that it acknowledged. */
export const wantedCopies = 3;
/** A publish under the same id within this time is stored once. */
const duplicateWindowMs = 120_000;
/** How long a server of the cluster that is missing when the stream is created may take to come. */
const missingServerMs = 15_000;
const lookEveryMs = 500;

/** Codes of errors of JetStream: https://github.com/nats-io/nats-server/blob/main/server/errors.json */
const codes = {
  streamNotFound: 10059,
  otherConfiguration: 10058,
  notClustered: 10074,
  noPeers: 10005,
};
const hasCode = (error: unknown, ...wanted: number[]): boolean =>
  error instanceof JetStreamApiError && wanted.includes(error.code);

/** How many servers the cluster has, by what it tells its clients, which may be nothing, and by the list of addresses. */
export const serversOf = ({ info }: NatsConnection, listed: readonly string[]): number =>
  Math.max(new Set(listed).size, info?.connect_urls?.length ?? 0);

const create = (manager: JetStreamManager, name: string, copies: number): Promise<StreamInfo> =>
  manager.streams.add({
    name,
    subjects: [`${name}.head`, `${name}.chunk`],
    storage: 'file',
    retention: 'limits',
    discard: 'new',
    allow_direct: true,
    duplicate_window: nanos(duplicateWindowMs),
    num_replicas: copies,
  });

/** With three copies where there are so many servers, which a cluster of three that is just starting will have. */
const createWithCopies = async (
  manager: JetStreamManager,
  name: string,
  servers: number,
): Promise<StreamInfo> => {
  const until = performance.now() + (servers >= wantedCopies ? missingServerMs : 0);
  for (;;) {
    try {
      return await create(manager, name, wantedCopies);
    } catch (error) {
      if (!hasCode(error, codes.notClustered, codes.noPeers)) throw error;
      if (hasCode(error, codes.notClustered) || performance.now() >= until) break;
      await sleep(lookEveryMs);
    }
  }
  return create(manager, name, 1);
};

/** The stream as it is: an operator's own limits and copies are welcome. If there is none, creates it. */
export const findOrCreate = async (
  manager: JetStreamManager,
  name: string,
  servers: number,
): Promise<StreamInfo> => {
  const found = await manager.streams.info(name).catch((error) => {
    if (hasCode(error, codes.streamNotFound)) return null;
    throw error;
  });
  if (found !== null) return found;
  return createWithCopies(manager, name, servers).catch((error) => {
    // Another replica was faster, and found fewer servers or more.
    if (hasCode(error, codes.otherConfiguration)) return manager.streams.info(name);
    throw error;
  });
};

/** Of the stream: how many servers should have it, and how many have all of it now. */
export interface Copies {
  configured: number;
  current: number;
}

/** A server that has been silent for longer is away, though it had everything when it was last heard. */
const silentMs = 5_000;

export const copiesOf = ({ config, cluster }: StreamInfo): Copies => {
  // The leader is not among the others. A server without a cluster names none.
  const leader = cluster === undefined || cluster.leader ? 1 : 0;
  const followers = (cluster?.replicas ?? []).filter(
    ({ current, offline, active }) => current && !offline && active < silentMs * 1e6,
  );
  return { configured: config.num_replicas, current: leader + followers.length };
};
