import { randomUUID } from 'node:crypto';
import { bytesBehind } from '../backlog.ts';
import { type Counts, countersOf, type DeliveryCounters, passed } from '../counts.ts';
import type { DeadLetter, DeadLetterEnd, NewDeadLetter } from '../dead-letter.ts';
import { type Batch, type Slice, type TelemetryLog, TelemetryLogError } from '../log.ts';
import { messageOf } from '../message-of.ts';
import type { NatsAddress } from './address.ts';
import { type AggregateOptions, StreamAggregate } from './aggregate.ts';
import { Background } from './background.ts';
import type { Copies } from './create.ts';
import { Cursors } from './cursors.ts';
import { Follower } from './follower.ts';
import { Housekeeping } from './housekeeping.ts';
import type { Logger } from './logger.ts';
import { positionIn, positionOf, type StreamPosition, StreamReader } from './reader.ts';
import type { Cursor, StreamStore } from './store.ts';
import { LogStream } from './stream.ts';
import { StreamWriter } from './writer.ts';

export interface SharedLogOptions extends AggregateOptions {
  address: NatsAddress;
  /** Called once, with the stream and an id of this replica. */
  openStore: (stream: { name: string; created: string }, replica: string) => Promise<StreamStore>;
  log: Logger;
  /**
   * True if there is an integration with this number in the database: another replica may route to one that this one
   * does not know yet, and must not take for deleted.
   */
  exists: (number: number) => Promise<boolean>;
}

/** The telemetry log that all replicas share. */
export interface SharedLog extends TelemetryLog {
  /** Waits until everything that was stored before this call is in the counters. */
  caughtUp(): Promise<void>;
}

/** The telemetry log on NATS JetStream: docs/decisions/0014-telemetry-on-jetstream.md. */
class JetStreamLog implements SharedLog {
  readonly #store: StreamStore;
  readonly #stream: LogStream;
  readonly #log: Logger;
  readonly #exists: (number: number) => Promise<boolean>;
  readonly #aggregate: StreamAggregate;
  readonly #cursors: Cursors;
  readonly #follower: Follower;
  readonly #reader: StreamReader;
  readonly #writer: StreamWriter;
  readonly #housekeeping: Housekeeping;
  readonly #listeners = new Set<(routes: ReadonlySet<number>) => void>();
  readonly #closing = new AbortController();
  readonly #heartbeat: Background;

  private constructor(
    { log, exists, ...options }: SharedLogOptions,
    stream: LogStream,
    store: StreamStore,
    replica: string,
  ) {
    const aggregate = new StreamAggregate(options);
    const notify = (numbers: Iterable<number>) => this.#notify(numbers);
    const cursors = new Cursors(store, replica, notify);
    this.#exists = exists;
    this.#stream = stream;
    this.#store = store;
    this.#aggregate = aggregate;
    this.#log = log;
    this.#cursors = cursors;
    const lastPassed = () => Math.max(0, ...cursors.all().map(({ seq }) => seq));
    this.#follower = new Follower({ stream, store, aggregate, log, notify, passed: lastPassed });
    this.#reader = new StreamReader(stream, aggregate);
    this.#writer = new StreamWriter(
      stream,
      () => aggregate.seq,
      (routes) => this.#registerAll(routes),
    );
    const housekeeping = new Housekeeping({ stream, store, aggregate, cursors });
    this.#housekeeping = housekeeping;
    this.#heartbeat = new Background('telemetry cursors', log, async () => {
      const { sleepMs, renewed } = await cursors.heartbeat();
      if (!cursors.isLeader) housekeeping.trim();
      else if (renewed) await housekeeping.purge();
      return sleepMs;
    });
  }

  static async open(options: SharedLogOptions): Promise<JetStreamLog> {
    const stream = await LogStream.open(options.address, options.log);
    let shared: JetStreamLog | undefined;
    try {
      const replica = randomUUID();
      const store = await options.openStore(stream, replica);
      shared = new JetStreamLog(options, stream, store, replica);
      await shared.refresh();
      await shared.#follower.start();
      shared.#heartbeat.start();
      return shared;
    } catch (error) {
      if (shared) await shared.#follower.stop();
      await stream.close();
      throw error;
    }
  }

  get id(): string {
    return this.#store.id;
  }

  get bytes(): number {
    return this.#aggregate.size;
  }

  copies(): Promise<Copies> {
    return this.#stream.copies();
  }

  append(slices: readonly Slice[]): Promise<void> {
    return this.#writer.append(slices);
  }

  async register(number: number): Promise<void> {
    await this.#cursors.register(number, this.#aggregate.seq);
  }

  integrations(): { number: number; removed: boolean }[] {
    const known = this.#cursors.all().map(({ number }) => number);
    const numbers = new Set([...known, ...this.#aggregate.totals.keys()]);
    return [...numbers].map((number) => ({ number, removed: this.#cursors.get(number)?.removed === true }));
  }

  async remove(number: number): Promise<void> {
    if (this.#cursors.get(number)?.removed || (await this.#exists(number))) return;
    this.#cursors.update(await this.#store.remove(number));
  }

  restore(number: number): Promise<void> {
    return this.#cursors.restore(number);
  }

  owns(number: number): boolean {
    return this.#cursors.owns(number);
  }

  async read(number: number, maxBytes: number, after?: Batch): Promise<Batch | null> {
    for (;;) {
      const cursor = this.#cursors.get(number);
      if (cursor === undefined || cursor.removed || !this.owns(number)) return null;
      const own = positionOf(cursor, this.#aggregate);
      const behind = after && positionIn(after, after.spans);
      const ahead = behind !== undefined && behind.ordinal > own.ordinal;
      const position = ahead ? behind : own;
      // Less is passed than had been accepted before the cursor: what lies between is gone from the stream.
      const lost = ahead
        ? 0
        : this.#aggregate.acceptedBy(number, position.seq) - (position.ordinal - position.recordOffset);
      if (lost > 0) {
        await this.#discard(cursor, { ...position, ordinal: position.ordinal + lost });
        continue;
      }
      if (this.#aggregate.accepted(number).spans <= position.ordinal) return null;
      const found = await this.#reader.readBatch(number, position, maxBytes, this.#closing.signal);
      if ('batch' in found) return found.batch;
      if (ahead) return null;
      await this.#discard(cursor, found.position);
    }
  }

  async commit(
    batch: Batch,
    through: number,
    counts: Partial<Counts>,
    deadLetters: readonly NewDeadLetter[] = [],
  ): Promise<boolean> {
    const { number } = batch;
    const cursor = this.#cursors.get(number);
    if (cursor === undefined || !this.owns(number)) return false;
    const position = positionIn(batch, through);
    const deltas = { ...counts, dead_lettered: deadLetters.length };
    const { fence } = cursor;
    const moved = await this.#store.commit(number, fence, position.ordinal, position, deltas, deadLetters);
    if (moved) this.#cursors.update(moved);
    // Another replica has changed the row: what is known of it is old.
    else await this.refresh();
    return moved !== null;
  }

  async jump(number: number, countsOf: (through: number) => Promise<Partial<Counts>>): Promise<boolean> {
    const cursor = this.#cursors.get(number);
    if (cursor === undefined || cursor.removed || !this.owns(number)) return false;
    const { seq } = this.#aggregate;
    const through = this.#aggregate.accepted(number).spans;
    if (through <= passed(cursor)) return false;
    const counts = await countsOf(through);
    const position = { seq, recordOffset: 0 };
    const moved = await this.#store.commit(number, cursor.fence, through, position, counts);
    if (moved) this.#cursors.update(moved);
    else await this.refresh();
    return moved !== null;
  }

  deadLetterIds(number: number): Promise<string[]> {
    return this.#store.deadLetters.ids(number);
  }

  listDeadLetters(number: number, limit: number, after?: string): Promise<DeadLetter[]> {
    return this.#store.deadLetters.list(number, limit, after);
  }

  getDeadLetter(number: number, id: string): Promise<{ deadLetter: DeadLetter; span: Buffer } | null> {
    return this.#store.deadLetters.get(number, id);
  }

  async endDeadLetters(
    number: number,
    ids: readonly string[] | undefined,
    as: DeadLetterEnd,
  ): Promise<number> {
    const { ended, cursor } = await this.#store.deadLetters.end(number, ids, as);
    if (cursor) this.#cursors.update(cursor);
    return ended;
  }

  counters(number: number): DeliveryCounters {
    const cursor = this.#cursors.get(number);
    const accepted = this.#aggregate.accepted(number);
    const done = cursor === undefined ? 0 : passed(cursor);
    // The owner's row may be ahead of what this replica has counted.
    const queued = Math.max(0, accepted.spans - done);
    return countersOf(cursor, queued, () => {
      const steps = this.#aggregate.checkpoints.map(({ totals }) => totals);
      return bytesBehind(number, done, accepted, steps);
    });
  }

  async oldest(number: number): Promise<number | null> {
    const cursor = this.#cursors.get(number);
    if (cursor === undefined || cursor.removed) return null;
    if (this.#aggregate.accepted(number).spans <= passed(cursor)) return null;
    const { seq } = positionOf(cursor, this.#aggregate);
    const head =
      seq < this.#aggregate.headsFrom
        ? undefined
        : this.#aggregate.heads.find((one) => one.seq > seq && one.accepted.has(number));
    // For an integration that is further behind it is known to a checkpoint: at most 5 minutes too early.
    return (
      head?.time ?? this.#aggregate.checkpointBefore(number, passed(cursor))?.time ?? this.#aggregate.lastTime
    );
  }

  async expire(before: number, maxBytes: number): Promise<void> {
    if (!this.#cursors.isLeader) return;
    await this.#housekeeping.expire(before, maxBytes);
    for (const cursor of await this.#store.deadLetters.expire(before)) this.#cursors.update(cursor);
  }

  onAppend(appended: (routes: ReadonlySet<number>) => void): () => void {
    this.#listeners.add(appended);
    return () => this.#listeners.delete(appended);
  }

  async deliver(): Promise<void> {
    await this.#cursors.deliver();
  }

  async refresh(): Promise<void> {
    await this.#cursors.refresh();
  }

  async caughtUp(): Promise<void> {
    await this.#follower.caughtUp();
  }

  async close(): Promise<void> {
    await this.#writer.close();
    this.#cursors.delivers = false;
    this.#closing.abort(new Error('the telemetry log is closed'));
    await Promise.all([this.#follower.stop(), this.#heartbeat.stop()]);
    // If this fails, the leases run out by themselves.
    await this.#cursors.release().catch((error) => {
      this.#log.warn(
        { error: messageOf(error) },
        'integrations are delivered by others when their leases run out',
      );
    });
    await this.#stream.close();
  }

  async #registerAll(routes: Iterable<number>): Promise<void> {
    try {
      for (const number of routes) await this.register(number);
    } catch (error) {
      this.#log.warn({ error: messageOf(error) }, 'a cursor cannot be created: its spans are refused');
      // Senders read this message, and a database error is not for them.
      throw new TelemetryLogError('failed', 'the telemetry log cannot take spans for a new integration now');
    }
  }

  async #discard(cursor: Cursor, position: StreamPosition): Promise<void> {
    const discarded = position.ordinal - passed(cursor);
    this.#log.error(
      { integration: cursor.number, spans: discarded },
      'spans are lost from the telemetry log',
    );
    const { number, fence } = cursor;
    const moved = await this.#store.commit(number, fence, position.ordinal, position, { discarded });
    if (moved) this.#cursors.update(moved);
    else await this.refresh();
  }

  #notify(numbers: Iterable<number>): void {
    const routes = new Set(numbers);
    if (routes.size === 0) return;
    for (const listener of this.#listeners) listener(routes);
  }
}

/**
 * Connects to the log. Rejects with TelemetryLogRefusal if it can never be used, else with the reason why it is away.
 */
export const openSharedLog = (options: SharedLogOptions): Promise<SharedLog> => JetStreamLog.open(options);
