import { isDeepStrictEqual } from 'node:util';
import {
  AckPolicy,
  type ConsumerConfig,
  type ConsumerInfo,
  DeliverPolicy,
  JetStreamApiCodes,
  JetStreamApiError,
  type JetStreamManager,
} from '@nats-io/jetstream';
import { nanos } from '@nats-io/transport-node';
import type { NatsSource, ReadingMemory } from '../reading/reading.ts';
import { Blocked } from '../reading/supervise.ts';

/** After this time a message that was not acknowledged comes again. */
export const ackWaitMs = 30_000;
const maxAckPending = 1_000;

const wanted = {
  ack_policy: AckPolicy.Explicit,
  ack_wait: nanos(ackWaitMs),
  max_deliver: -1,
  max_ack_pending: maxAckPending,
};

const filtersOf = ({ filter_subject, filter_subjects }: Partial<ConsumerConfig>): string[] =>
  [...(filter_subjects ?? []), ...(filter_subject ? [filter_subject] : [])].sort();

/** Returns what is wrong with the configuration of a consumer that someone else made, or null. */
const faultOf = (config: ConsumerConfig, { subjects }: NatsSource): string | null => {
  if (config.deliver_subject) return 'it must be a pull consumer';
  if (config.ack_policy !== wanted.ack_policy) return 'its ack_policy must be explicit';
  if (config.ack_wait !== wanted.ack_wait) return 'its ack_wait must be 30 s';
  if (config.max_deliver !== wanted.max_deliver) return 'its max_deliver must be -1';
  if (config.max_ack_pending !== wanted.max_ack_pending) return 'its max_ack_pending must be 1,000';
  if (subjects !== null && !isDeepStrictEqual(filtersOf(config), [...subjects].sort())) {
    return 'its filter_subjects must be the subjects of the trigger';
  }
  return null;
};

/** Where a new consumer begins: where the last one was, if that one read the same stream. */
const beginningOf = (
  { start }: NatsSource,
  memory: ReadingMemory | null,
  created: string,
): Partial<ConsumerConfig> => {
  const next = memory?.sourceId === created ? memory.positions[0]?.next : undefined;
  if (next !== undefined) return { deliver_policy: DeliverPolicy.StartSequence, opt_start_seq: next };
  return { deliver_policy: start === 'all' ? DeliverPolicy.All : DeliverPolicy.New };
};

const createConsumer = async (
  manager: JetStreamManager,
  source: NatsSource,
  beginning: Partial<ConsumerConfig>,
): Promise<ConsumerInfo> => {
  try {
    return await manager.consumers.add(source.stream, {
      durable_name: source.consumer,
      ...wanted,
      ...(source.subjects === null ? {} : { filter_subjects: [...source.subjects] }),
      ...beginning,
    });
  } catch (error) {
    // Another replica has made it in the meantime; its beginning counts.
    if (!(error instanceof JetStreamApiError) || error.code !== 10148) throw error;
    return manager.consumers.info(source.stream, source.consumer);
  }
};

/** The consumer of a reading: made if there is none, and checked. Throws Blocked for one that does not fit. */
export const prepareConsumer = async (
  manager: JetStreamManager,
  source: NatsSource,
  memory: ReadingMemory | null,
  created: string,
): Promise<ConsumerInfo> => {
  const found = await manager.consumers.info(source.stream, source.consumer).catch((error: unknown) => {
    if (error instanceof JetStreamApiError && error.code === JetStreamApiCodes.ConsumerNotFound) return null;
    throw error;
  });
  if (!found) return createConsumer(manager, source, beginningOf(source, memory, created));
  const { config } = found;
  const subjects = source.subjects ?? [];
  if (source.isOwn && !isDeepStrictEqual(filtersOf(config), [...subjects].sort())) {
    return manager.consumers.update(source.stream, source.consumer, {
      ...config,
      filter_subject: undefined,
      filter_subjects: [...subjects],
    });
  }
  const fault = faultOf(config, source);
  if (fault !== null) throw new Blocked(`The consumer ${source.consumer} cannot be used: ${fault}.`);
  return found;
};
