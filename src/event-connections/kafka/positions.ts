import { type Admin, ListOffsetTimestamps } from '@platformatic/kafka';
import type { KafkaSource, ReadingMemory } from '../reading/reading.ts';
import { SourceChanged } from '../reading/supervise.ts';
import { errorsIn, hasApiError } from './failures.ts';

export interface Topic {
  name: string;
  /** Another one if the topic is made again. */
  id: string;
  partitions: number;
}

/** Offsets by partition; undefined: none. */
export type Offsets = (bigint | undefined)[];

const isUnknownGroup = (error: unknown): boolean => hasApiError(error, 'GROUP_ID_NOT_FOUND');

/** What the group has committed, from outside it. */
export const committedOffsets = async (admin: Admin, group: string, topic: Topic): Promise<Offsets> => {
  const partitionIndexes = Array.from({ length: topic.partitions }, (_, i) => i);
  const groups = await admin
    .listConsumerGroupOffsets({
      groups: [{ groupId: group, topics: [{ name: topic.name, partitionIndexes }] }],
    })
    .catch((error: unknown) => {
      if (isUnknownGroup(error)) return [];
      throw error;
    });
  const offsets: Offsets = [];
  for (const { topics } of groups) {
    for (const { name, partitions } of topics) {
      if (name !== topic.name) continue;
      for (const { partitionIndex, committedOffset } of partitions) {
        if (committedOffset >= 0n) offsets[partitionIndex] = committedOffset;
      }
    }
  }
  return offsets;
};

/** The first offsets of all partitions, or those that the next messages will get. */
export const offsetsAt = async (admin: Admin, topic: Topic, at: 'earliest' | 'latest'): Promise<Offsets> => {
  const timestamp = at === 'earliest' ? ListOffsetTimestamps.EARLIEST : ListOffsetTimestamps.LATEST;
  const partitions = Array.from({ length: topic.partitions }, (_, partitionIndex) => ({
    partitionIndex,
    timestamp,
  }));
  const listed = await admin.listOffsets({ topics: [{ name: topic.name, partitions }] });
  const offsets: Offsets = [];
  for (const { partitions: found } of listed) {
    for (const { partitionIndex, offset } of found) offsets[partitionIndex] = offset;
  }
  return offsets;
};

/** Where partitions begin for which the group has committed nothing. */
export interface Beginning {
  /** By `start` of the source, which is for the first reading; a partition that came later begins at its earliest. */
  isFirst: boolean;
  /** Positions that are kept in case the group loses them. */
  kept: ReadonlyMap<number, bigint>;
}

export const beginningOf = (topic: Topic, memory: ReadingMemory | null): Beginning => {
  const isFirst = memory === null || memory.sourceId !== topic.id;
  const positions = isFirst ? [] : memory.positions;
  return {
    isFirst,
    kept: new Map(positions.map(({ partition, next }) => [partition ?? 0, BigInt(next)])),
  };
};

/** Whether someone is in the group: then only its members commit. */
const isInUse = (error: unknown): boolean =>
  hasApiError(error, 'UNKNOWN_MEMBER_ID', 'NON_EMPTY_GROUP', 'ILLEGAL_GENERATION', 'REBALANCE_IN_PROGRESS');

/** The offset at which partitions begin that have no commit. */
export const firstOffsets = async (
  admin: Admin,
  { start }: KafkaSource,
  topic: Topic,
  { isFirst, kept }: Beginning,
  partitions: readonly number[],
): Promise<Map<number, bigint>> => {
  const found = await offsetsAt(admin, topic, isFirst && start === 'latest' ? 'latest' : 'earliest');
  return new Map(partitions.map((partition) => [partition, kept.get(partition) ?? found[partition] ?? 0n]));
};

/**
 * Commits where each partition begins, before anything is read: otherwise what arrives between the first look and the first
 * commit would be skipped after a crash. If members are in the group already, they do it for their partitions.
 */
export const commitBeginning = async (
  admin: Admin,
  source: KafkaSource,
  topic: Topic,
  memory: ReadingMemory | null,
): Promise<void> => {
  const beginning = beginningOf(topic, memory);
  const isMadeAgain = memory !== null && beginning.isFirst;
  const committed = isMadeAgain ? [] : await committedOffsets(admin, source.group, topic);
  const missing = Array.from({ length: topic.partitions }, (_, i) => i).filter(
    (partition) => committed[partition] === undefined,
  );
  if (missing.length === 0) return;
  const offsets = await firstOffsets(admin, source, topic, beginning, missing);
  const partitionOffsets = [...offsets].map(([partition, offset]) => ({ partition, offset }));
  try {
    await admin.alterConsumerGroupOffsets({
      groupId: source.group,
      topics: [{ name: topic.name, partitionOffsets }],
    });
  } catch (error) {
    if (!isInUse(error)) throw error;
    // Other replicas still have the positions of the topic that is gone, and find out within seconds.
    if (isMadeAgain) throw new SourceChanged('The topic was made again.');
  }
};

/** Finds a topic. Rejects with the library's error if there is none. */
export const findTopic = async (admin: Admin, name: string): Promise<Topic> => {
  const { topics } = await admin.metadata({ topics: [name], forceUpdate: true });
  const found = topics.get(name);
  if (!found) throw Object.assign(new Error('no topic'), { apiId: 'UNKNOWN_TOPIC_OR_PARTITION' });
  return { name, id: found.id, partitions: found.partitionsCount };
};

/** Whether a fetch asked for an offset that the broker does not have. */
export const isOutOfRange = (error: unknown): boolean =>
  [...errorsIn(error)].some(({ apiId }) => apiId === 'OFFSET_OUT_OF_RANGE');
