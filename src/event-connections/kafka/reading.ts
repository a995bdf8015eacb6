import type { Admin, Consumer } from '@platformatic/kafka';
import type { Egress } from '../../lib/egress.ts';
import { withTimeout } from '../../lib/with-timeout.ts';
import { type KafkaSource, mostMessages, type Position, type ReadingCalls } from '../reading/reading.ts';
import {
  type Attempt,
  explained,
  pauseFor,
  type Report,
  SourceChanged,
  takeUntilTaken,
} from '../reading/supervise.ts';
import type { KafkaSettings } from '../settings.ts';
import { openAdmin, openConsumer } from './client.ts';
import { blockedOf } from './failures.ts';
import {
  type Beginning,
  beginningOf,
  commitBeginning,
  committedOffsets,
  findTopic,
  firstOffsets,
  isOutOfRange,
  offsetsAt,
  type Topic,
} from './positions.ts';
import { type FetchResponse, type PartitionRecord, type PartitionRecords, readPartition } from './records.ts';

const fetchForMs = 500;
/** At most so many bytes of a fetch, and of a partition in it; a larger message comes alone. */
const fetchBytes = 4 * 1024 * 1024;
const partitionBytes = 1024 * 1024;
const idleMs = 500;
const positionsEveryMs = 3_000;
const closeWithinMs = 5_000;

interface Parts {
  admin: Admin;
  consumer: Consumer<Buffer, Buffer, Buffer, Buffer>;
  source: KafkaSource;
  topic: Topic;
  beginning: Beginning;
  calls: ReadingCalls;
  signal: AbortSignal;
  report: Report;
}

/** A member of the group, which fetches the partitions that it is assigned. */
class Member {
  readonly #parts: Parts;
  /** Counts how often the group has assigned partitions. What was fetched before an assignment is dropped. */
  #assignment = 0;
  #loaded = 0;
  #partitions: number;
  #failure: unknown;
  /** By partition: the offset of the next fetch. */
  #positions = new Map<number, bigint>();
  /** One fetch at a time of each broker, by its number. */
  readonly #fetches = new Map<number, Promise<Fetched>>();

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#partitions = parts.topic.partitions;
    parts.consumer.on('consumer:group:join', () => {
      this.#assignment += 1;
    });
    parts.consumer.on('error', (error: unknown) => {
      this.#failure ??= error;
    });
  }

  /** Reads until the signal is aborted, or rejects. */
  async run(): Promise<void> {
    const { consumer, signal, report, topic } = this.#parts;
    consumer.topics.track(topic.name);
    await consumer.joinGroup({});
    report.reading(topic.id);
    while (!signal.aborted) {
      if (this.#failure !== undefined) throw this.#failure;
      await this.#checkTopic();
      if (this.#loaded !== this.#assignment) await this.#load();
      await this.#beginFetches();
      if (this.#fetches.size === 0) await pauseFor(idleMs, signal);
      else await this.#take(await Promise.race(this.#fetches.values()));
    }
  }

  get #assigned(): number[] {
    const { consumer, topic } = this.#parts;
    return consumer.assignments?.find((one) => one.topic === topic.name)?.partitions ?? [];
  }

  async #metadata() {
    const { consumer, topic } = this.#parts;
    const { topics } = await consumer.metadata({ topics: [topic.name] });
    return topics.get(topic.name);
  }

  /** A topic that was made again is another one; one with more partitions is divided again. */
  async #checkTopic(): Promise<void> {
    const found = await this.#metadata();
    if (!found || found.id !== this.#parts.topic.id) throw new SourceChanged('The topic was made again.');
    if (found.partitionsCount === this.#partitions) return;
    this.#partitions = found.partitionsCount;
    await this.#parts.consumer.joinGroup({});
  }

  /** The positions of the assigned partitions, as the group has them. */
  async #load(): Promise<void> {
    const { admin, source, beginning, calls } = this.#parts;
    const assignment = this.#assignment;
    const partitions = this.#assigned;
    const topic = { ...this.#parts.topic, partitions: this.#partitions };
    this.#positions = new Map();
    if (partitions.length > 0) {
      const [committed, earliest, latest] = await Promise.all([
        committedOffsets(admin, source.group, topic),
        offsetsAt(admin, topic, 'earliest'),
        offsetsAt(admin, topic, 'latest'),
      ]);
      const missing = partitions.filter((partition) => committed[partition] === undefined);
      const first =
        missing.length === 0
          ? new Map<number, bigint>()
          : await firstOffsets(admin, source, topic, beginning, missing);
      for (const partition of partitions) {
        const start = committed[partition] ?? first.get(partition)!;
        const from = earliest[partition] ?? 0n;
        const to = latest[partition] ?? start;
        if (start < from) {
          await calls.lost({
            sourceId: topic.id,
            partition,
            from: Number(start),
            to: Number(from - 1n),
          });
        }
        const position = start < from || start > to ? from : start;
        this.#positions.set(partition, position);
      }
      await this.#commit(
        partitions.filter((partition) => this.#positions.get(partition) !== committed[partition]),
      );
    }
    this.#loaded = assignment;
  }

  async #commit(partitions: readonly number[]): Promise<void> {
    if (partitions.length === 0) return;
    const { consumer, topic } = this.#parts;
    await consumer.commit({
      offsets: partitions.map((partition) => ({
        topic: topic.name,
        partition,
        offset: this.#positions.get(partition)!,
        leaderEpoch: -1,
      })),
    });
  }

  /** Begins a fetch of each broker that leads partitions of ours and has none in progress. */
  async #beginFetches(): Promise<void> {
    const found = await this.#metadata();
    const byLeader = Map.groupBy(
      this.#positions.keys(),
      (partition) => found?.partitions[partition]?.leader ?? -1,
    );
    for (const [node, partitions] of byLeader) {
      if (node >= 0 && !this.#fetches.has(node)) this.#fetches.set(node, this.#fetch(node, partitions));
    }
  }

  async #fetch(node: number, partitions: readonly number[]): Promise<Fetched> {
    const { consumer, topic } = this.#parts;
    const asked = new Map(partitions.map((partition) => [partition, this.#positions.get(partition)!]));
    const assignment = this.#loaded;
    try {
      const response = await consumer.fetch({
        node,
        topics: [
          {
            topicId: topic.id,
            partitions: [...asked].map(([partition, fetchOffset]) => ({
              partition,
              fetchOffset,
              currentLeaderEpoch: -1,
              lastFetchedEpoch: -1,
              partitionMaxBytes: partitionBytes,
            })),
          },
        ],
        maxWaitTime: fetchForMs,
        maxBytes: fetchBytes,
      });
      return { node, assignment, asked, response };
    } catch (error) {
      return { node, assignment, asked, error };
    }
  }

  async #take({ node, assignment, asked, response, error }: Fetched): Promise<void> {
    const { topic, signal } = this.#parts;
    this.#fetches.delete(node);
    if (assignment !== this.#assignment) return;
    if (error !== undefined) {
      if (!isOutOfRange(error)) throw error;
      // Positions are compared again with what the broker has.
      this.#loaded = -1;
      await pauseFor(idleMs, signal);
      return;
    }
    const fetched: PartitionRecords[] = [];
    for (const { partitions } of response!.responses) {
      for (const one of partitions) {
        const position = asked.get(one.partitionIndex);
        // A partition that was not asked for may linger in the session of fetches.
        if (position !== undefined) fetched.push(readPartition(topic, one, position));
      }
    }
    await this.#takeRecords(fetched, assignment);
  }

  /** Takes records in their order, and commits after each batch. */
  async #takeRecords(fetched: readonly PartitionRecords[], assignment: number): Promise<void> {
    const { calls, signal, report } = this.#parts;
    const records: PartitionRecord[] = fetched.flatMap((one) => one.records);
    for (let i = 0; i < records.length; i += mostMessages) {
      const batch = records.slice(i, i + mostMessages);
      const messages = batch.map(({ message }) => message);
      if (!(await takeUntilTaken(messages, calls, signal, report))) return;
      for (const { partition, next } of batch) this.#positions.set(partition, next);
      const isLast = i + mostMessages >= records.length;
      if (isLast) for (const { partition, next } of fetched) this.#positions.set(partition, next);
      // After another assignment only those that are still ours: others may have read further.
      const ours = new Set(this.#assigned);
      const moved = new Set([
        ...batch.map(({ partition }) => partition),
        ...(isLast ? fetched.map(({ partition }) => partition) : []),
      ]);
      await this.#commit([...moved].filter((partition) => ours.has(partition)));
      if (assignment !== this.#assignment) return;
    }
    if (records.length > 0) return;
    // Nothing but ends of transactions and the like: the next fetch begins behind them.
    for (const { partition, next } of fetched) this.#positions.set(partition, next);
  }
}

interface Fetched {
  node: number;
  assignment: number;
  asked: ReadonlyMap<number, bigint>;
  response?: FetchResponse;
  error?: unknown;
}

/** A partition without a commit begins at its earliest: kept positions must never skip what was not read. */
const positionsOf = async (admin: Admin, group: string, topic: Topic): Promise<Position[]> => {
  const [committed, ends] = await Promise.all([
    committedOffsets(admin, group, topic),
    offsetsAt(admin, topic, 'latest'),
  ]);
  const isComplete = ends.every((_, partition) => committed[partition] !== undefined);
  const earliest = isComplete ? [] : await offsetsAt(admin, topic, 'earliest');
  return ends.map((end, partition) => ({
    partition,
    next: Number(committed[partition] ?? earliest[partition] ?? 0n),
    end: Number(end ?? 0n),
  }));
};

const lagOf = (positions: readonly Position[]): number =>
  positions.reduce((sum, { next, end }) => sum + Math.max(0, end - next), 0);

/** Reports the positions of all partitions until `signal` is aborted. Failures are left to the member to find. */
const watchPositions = async (
  { admin, source, topic, report }: Omit<Parts, 'signal'>,
  signal: AbortSignal,
) => {
  while (!signal.aborted) {
    try {
      const { partitions } = await findTopic(admin, topic.name);
      const positions = await positionsOf(admin, source.group, { ...topic, partitions });
      report.positions(lagOf(positions), positions);
    } catch {}
    await pauseFor(positionsEveryMs, signal);
  }
};

/** Reads a topic as a member of a group, for as long as it goes. */
export const readKafkaOnce = (
  settings: KafkaSettings,
  source: KafkaSource,
  given: ReadingCalls,
  egress: Pick<Egress, 'resolve'>,
): Attempt => {
  const calls = explained(given);
  return async (outer, report) => {
    const admin = openAdmin(settings, egress);
    const consumer = openConsumer(settings, egress, source.group);
    const end = new AbortController();
    const signal = AbortSignal.any([outer, end.signal]);
    let watching: Promise<void> | undefined;
    try {
      const topic = await findTopic(admin.client, source.topic);
      const memory = await calls.recall();
      const beginning = beginningOf(topic, memory);
      await commitBeginning(admin.client, source, topic, memory);
      if (beginning.isFirst) {
        const positions = await positionsOf(admin.client, source.group, topic);
        await calls.remember({ sourceId: topic.id, positions });
      }
      if (signal.aborted) return;
      const parts = {
        admin: admin.client,
        consumer: consumer.client,
        source,
        topic,
        beginning,
        calls,
        report,
      };
      const member = new Member({ ...parts, signal });
      watching = watchPositions(parts, signal);
      await member.run();
    } catch (error) {
      throw error instanceof SourceChanged ? error : blockedOf(error, source.topic, source.group);
    } finally {
      end.abort();
      await watching;
      await withTimeout(Promise.all([consumer.close(), admin.close()]), closeWithinMs).catch(() => {});
    }
  };
};
