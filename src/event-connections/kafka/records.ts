import { isUtf8 } from 'node:buffer';
import type { Consumer, RecordsBatch } from '@platformatic/kafka';
import type { BrokerMessage } from '../reading/reading.ts';

export type FetchResponse = Awaited<ReturnType<Consumer['fetch']>>;
type FetchResponsePartition = FetchResponse['responses'][number]['partitions'][number];

/** A record of a partition, and the offset to commit once it was taken. */
export interface PartitionRecord {
  partition: number;
  next: bigint;
  message: BrokerMessage;
}

/** What a fetch brought of a partition. */
export interface PartitionRecords {
  partition: number;
  /** Where the next fetch begins: behind what is no message too, such as the end of a transaction. */
  next: bigint;
  records: PartitionRecord[];
}

/** Attributes of a batch (Kafka protocol, record batch). */
const logAppendTime = 1 << 3;
const transactional = 1 << 4;
const control = 1 << 5;
/** The type in the key of a control record that ends an aborted transaction. */
const abortMarker = 0;

const textOf = (bytes: Buffer): string => bytes.toString(isUtf8(bytes) ? 'utf8' : 'base64');

const isAbort = (batch: RecordsBatch): boolean => batch.records[0]?.key?.readInt16BE(2) === abortMarker;

/**
 * The batches whose records count: no control batches, and none of aborted transactions. The library leaves some of those
 * in: a second one of the same producer, and one whose end is not in the response.
 */
const committedBatches = ({ records, abortedTransactions }: FetchResponsePartition): RecordsBatch[] => {
  const aborted = [...(abortedTransactions ?? [])].sort((a, b) => (a.firstOffset < b.firstOffset ? -1 : 1));
  const abortedProducers = new Set<bigint>();
  return (records ?? []).filter((batch) => {
    const last = batch.firstOffset + BigInt(batch.lastOffsetDelta);
    while (aborted[0] && aborted[0].firstOffset <= last) abortedProducers.add(aborted.shift()!.producerId);
    if (batch.attributes & control) {
      if (isAbort(batch)) abortedProducers.delete(batch.producerId);
      return false;
    }
    return !(batch.attributes & transactional && abortedProducers.has(batch.producerId));
  });
};

const headersOf = (entries: readonly (readonly [Buffer | null, Buffer | null])[]): Record<string, string> =>
  Object.fromEntries(
    entries.map(([name, value]) => [
      textOf(name ?? Buffer.alloc(0)).toLowerCase(),
      textOf(value ?? Buffer.alloc(0)),
    ]),
  );

/** The messages of a partition from `position` on. `topicId` distinguishes topics that had the same name. */
export const readPartition = (
  topic: { id: string; name: string },
  fetched: FetchResponsePartition,
  position: bigint,
): PartitionRecords => {
  const partition = fetched.partitionIndex;
  const records = committedBatches(fetched).flatMap((batch) =>
    batch.records.flatMap((record): PartitionRecord[] => {
      const offset = batch.firstOffset + BigInt(record.offsetDelta);
      // A batch is delivered whole, also if the position is inside it.
      if (offset < position) return [];
      const time =
        batch.attributes & logAppendTime ? batch.maxTimestamp : batch.firstTimestamp + record.timestampDelta;
      const message: BrokerMessage = {
        identity: `${topic.id} ${partition} ${offset}`,
        eventId: `${partition}/${offset}`,
        type: null,
        source: topic.name,
        subject: record.key ? textOf(record.key) : null,
        time: time < 0n ? null : new Date(Number(time)).toISOString(),
        headers: headersOf(record.headers),
        // What the socket received is larger than the record, and would be held by it.
        body: Buffer.from(record.value ?? []),
      };
      return [{ partition, next: offset + 1n, message }];
    }),
  );
  const last = fetched.records?.at(-1);
  const end = last ? last.firstOffset + BigInt(last.lastOffsetDelta) + 1n : position;
  return { partition, next: end > position ? end : position, records };
};
