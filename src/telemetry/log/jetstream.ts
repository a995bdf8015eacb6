import type { Database, Tx } from '../../database/index.ts';
import { messageOf } from '../../lib/errors.ts';
import { newId } from '../../lib/ids.ts';
import type { Logger } from '../../lib/log.ts';
import { Loop } from '../../lib/loop.ts';
import { bytesBehind } from './backlog.ts';
import { Fold, type FoldOptions, type Mark } from './jetstream-fold.ts';
import { type Place, placeIn, StreamReader } from './jetstream-reader.ts';
import { type Cursor, StreamStore } from './jetstream-store.ts';
import { LogStream } from './jetstream-stream.ts';
import { StreamWriter } from './jetstream-writer.ts';
import {
  type Batch,
  type Counts,
  countNames,
  passed,
  type Slice,
  type TelemetryLog,
  TelemetryLogError,
  type Totals,
} from './log.ts';

export interface SharedLogOptions extends FoldOptions {
  /** `nats://HOST:PORT/STREAM`. */
  url: string;
  db: Database;
  log: Logger;
  /**
   * Whether there is an integration with this number, asked of the database: another replica may route to one that
   * this one has not heard of yet, and must not take for deleted.
   */
  exists: (number: number) => Promise<boolean>;
}

type CommitWrite = (number: number, through: number) => (tx: Tx) => Promise<void>;

/** The telemetry log that all replicas share, and what comes with sharing it. */
export interface SharedLog extends TelemetryLog {
  /** Of the stream: the same on every replica that uses it. */
  readonly id: string;
  /** Takes part in delivery from now on: this replica becomes the owner of integrations that nobody delivers. */
  deliver(): Promise<void>;
  /** Reads from the database how far the owners have come; else that is known to about a second. */
  refresh(): Promise<void>;
  /** Waits until everything that was stored before this call is in the totals. */
  caughtUp(): Promise<void>;
  /** Asked before each commit up to span `through` of an integration: what is to be written in its transaction. */
  onCommit(write: CommitWrite): void;
  /** `move` by what `change` answers, in one transaction with what it writes. */
  moveIn(number: number, change: (tx: Tx) => Promise<Partial<Counts>>): Promise<void>;
}

/** An integration whose owner has not renewed for so long is taken over. */
const leaseSeconds = 12;
const renewEveryMs = 4_000;
const tendEveryMs = 1_000;
const takeMoreMs = 100;
/** Until a connection that is away is looked at again. */
const awayMs = 200;
/** How long a start waits for messages that the server counts and does not send; and before a failing reader is reported. */
const silentMs = 3_000;
/** How long before the end of its lease an owner stops to deliver, by its own clock. */
const leaseMarginMs = 1_000;

/** The telemetry log on NATS JetStream: docs/decisions/0014-telemetry-on-jetstream.md. */
class JetStreamLog implements SharedLog {
  readonly #store: StreamStore;
  readonly #stream: LogStream;
  readonly #log: Logger;
  readonly #replica: string;
  readonly #exists: (number: number) => Promise<boolean>;
  readonly #fold: Fold;
  readonly #reader: StreamReader;
  readonly #writer: StreamWriter;
  readonly #cursors = new Map<number, Cursor>();
  readonly #listeners = new Set<(routes: ReadonlySet<number>) => void>();
  readonly #closing = new AbortController();
  readonly #following: Loop;
  readonly #tending: Loop;
  #commitWrite: CommitWrite | null = null;
  #delivers = false;
  /** Since when the stream cannot be read, by performance.now(); 0 where it can. */
  #failingSince = 0;
  /** By performance.now(): until then what this replica owns is its own. */
  #leasedUntil = 0;
  #renewedAt = 0;
  #keeps = false;
  #purgedBefore = 0;
  /** Up to this mark all are in the database. */
  #savedMark = 0;

  private constructor(
    { log, exists, ...options }: SharedLogOptions,
    stream: LogStream,
    store: StreamStore,
    replica: string,
  ) {
    const fold = new Fold(options);
    this.#exists = exists;
    this.#stream = stream;
    this.#store = store;
    this.#fold = fold;
    this.#replica = replica;
    this.#log = log;
    this.#reader = new StreamReader(stream, fold);
    this.#writer = new StreamWriter(
      stream,
      () => fold.seq,
      async (routes) => {
        for (const number of routes) {
          await this.register(number).catch((error) => {
            throw new TelemetryLogError('failed', messageOf(error));
          });
        }
      },
    );
    this.#following = new Loop({
      name: 'telemetry log',
      log,
      maxRetryMs: 2_000,
      turn: () => (this.#stream.connected ? this.#follow() : Promise.resolve(awayMs)),
    });
    this.#tending = new Loop({
      name: 'telemetry cursors',
      log,
      maxRetryMs: 2_000,
      turn: () => this.#tend(),
    });
  }

  static async open(options: SharedLogOptions): Promise<JetStreamLog> {
    const stream = await LogStream.open(options.url, options.log);
    try {
      const replica = newId();
      const store = await StreamStore.open(options.db, stream, replica);
      const shared = new JetStreamLog(options, stream, store, replica);
      await shared.#restore();
      await shared.refresh();
      shared.#following.start();
      await shared.caughtUp();
      shared.#tending.start();
      return shared;
    } catch (error) {
      await stream.close();
      throw error;
    }
  }

  get id(): string {
    return this.#store.id;
  }

  append(slices: readonly Slice[]): Promise<void> {
    return this.#writer.append(slices);
  }

  async register(number: number): Promise<void> {
    if (this.#cursors.has(number)) return;
    this.#keep(await this.#store.register(number, this.#fold.seq, this.#delivers ? leaseSeconds : null));
  }

  integrations(): { number: number; removed: boolean }[] {
    const numbers = new Set([...this.#cursors.keys(), ...this.#fold.totals.keys()]);
    return [...numbers].map((number) => ({ number, removed: this.#cursors.get(number)?.removed === true }));
  }

  async remove(number: number): Promise<void> {
    if (this.#cursors.get(number)?.removed || (await this.#exists(number))) return;
    this.#keep(await this.#store.remove(number));
  }

  owns(number: number): boolean {
    const cursor = this.#cursors.get(number);
    if (cursor === undefined) return false;
    if (cursor.removed) return this.#keeps;
    return cursor.owner === this.#replica && performance.now() < this.#leasedUntil;
  }

  async read(number: number, maxBytes: number, after?: Batch): Promise<Batch | null> {
    for (;;) {
      const cursor = this.#cursors.get(number);
      if (cursor === undefined || cursor.removed || !this.owns(number)) return null;
      const own = this.#placeOf(cursor);
      const behind = after && placeIn(after, after.spans);
      const ahead = behind !== undefined && behind.ordinal > own.ordinal;
      const place = ahead ? behind : own;
      // Less is passed than had been accepted before the cursor: what is between is gone from the stream.
      const lost = ahead ? 0 : this.#fold.acceptedBy(number, place.seq) - (place.ordinal - place.inside);
      if (lost > 0) {
        await this.#discard(cursor, { ...place, ordinal: place.ordinal + lost });
        continue;
      }
      if (this.#fold.accepted(number).spans <= place.ordinal) return null;
      const found = await this.#reader.gather(number, place, maxBytes, this.#closing.signal);
      if ('batch' in found) return found.batch;
      if (ahead) return null;
      await this.#discard(cursor, found.place);
    }
  }

  async commit(batch: Batch, through: number, counts: Partial<Counts>): Promise<boolean> {
    const { number } = batch;
    const cursor = this.#cursors.get(number);
    if (cursor === undefined || !this.owns(number)) return false;
    const place = placeIn(batch, through);
    const write = this.#commitWrite?.(number, place.ordinal);
    const moved = await this.#store.tx(async (tx) => {
      const after = await this.#store.commit(tx, number, cursor.fence, place.ordinal, place, counts);
      if (after) await write?.(tx);
      return after;
    });
    if (moved) this.#keep(moved);
    // Someone else has changed the row: what is known of it is old.
    else await this.refresh();
    return moved !== null;
  }

  async move(number: number, deltas: Partial<Counts>): Promise<void> {
    await this.moveIn(number, async () => deltas);
  }

  async moveIn(number: number, change: (tx: Tx) => Promise<Partial<Counts>>): Promise<void> {
    const moved = await this.#store.tx(async (tx) => this.#store.move(tx, number, await change(tx)));
    if (moved) this.#keep(moved);
  }

  totals(number: number): Totals {
    const cursor = this.#cursors.get(number);
    const counts = Object.fromEntries(
      countNames.map((name) => [name, cursor?.[name] ?? 0]),
    ) as unknown as Counts;
    // The owner's row may be ahead of what this replica has counted.
    const queued = Math.max(0, this.#fold.accepted(number).spans - passed(counts));
    if (cursor?.removed)
      return { ...counts, discarded: counts.discarded + queued, queued: 0, backlog_bytes: 0 };
    const bytes =
      queued === 0
        ? 0
        : bytesBehind(
            number,
            passed(counts),
            this.#fold.accepted(number),
            this.#fold.marks.map(({ totals }) => totals),
          );
    return { ...counts, queued, backlog_bytes: bytes };
  }

  async oldest(number: number): Promise<number | null> {
    const cursor = this.#cursors.get(number);
    if (cursor === undefined || cursor.removed) return null;
    if (this.#fold.accepted(number).spans <= passed(cursor)) return null;
    const { seq } = this.#placeOf(cursor);
    const head =
      seq < this.#fold.headsFrom
        ? undefined
        : this.#fold.heads.find((one) => one.seq > seq && one.account.has(number));
    // Of one that is further behind it is known to a mark: at most 5 minutes too early.
    return head?.time ?? this.#fold.markBefore(number, passed(cursor))?.time ?? this.#fold.lastTime;
  }

  async expire(before: number, maxBytes: number): Promise<void> {
    if (!this.#keeps) return;
    const fold = this.#fold;
    if (fold.lastTime <= before) fold.mark();
    const old = fold.marks.findLast(({ time }) => time <= before);
    for (const mark of [old, this.#markWithin(maxBytes)]) {
      if (mark === undefined) continue;
      for (const cursor of await this.#store.expire(mark)) this.#keep(cursor);
    }
    await this.#purge();
  }

  /** The mark behind which are no more than `maxBytes`; undefined where there are no more in all. */
  #markWithin(maxBytes: number): Mark | undefined {
    const fold = this.#fold;
    if (fold.size <= maxBytes) return undefined;
    const found = fold.marks.find((mark) => fold.bytesBehind(mark) <= maxBytes);
    if (found) return found;
    fold.mark();
    return fold.marks.at(-1);
  }

  onAppend(appended: (routes: ReadonlySet<number>) => void): () => void {
    this.#listeners.add(appended);
    return () => this.#listeners.delete(appended);
  }

  onCommit(write: CommitWrite): void {
    this.#commitWrite = write;
  }

  async deliver(): Promise<void> {
    this.#delivers = true;
    await this.#lease();
    while (await this.#takeOver()) {}
  }

  async refresh(): Promise<void> {
    for (const cursor of await this.#store.cursors()) this.#keep(cursor);
  }

  async caughtUp(): Promise<void> {
    const last = await this.#stream.last();
    let seq = -1;
    let since = 0;
    while (this.#fold.seq < last && !this.#closing.signal.aborted) {
      if (this.#fold.seq !== seq) {
        seq = this.#fold.seq;
        since = performance.now();
      } else if (performance.now() - since > silentMs) return;
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
  }

  async close(): Promise<void> {
    await this.#writer.close();
    this.#delivers = false;
    this.#closing.abort(new Error('the telemetry log is closed'));
    await Promise.all([this.#following.stop(), this.#tending.stop()]);
    // Else they run out by themselves.
    await this.#store.release().catch((error) => {
      this.#log.warn(
        { error: messageOf(error) },
        'integrations are delivered by others when their leases run out',
      );
    });
    await this.#stream.close();
  }

  /** Where to read on: at the cursor, or at a mark behind it since when nothing came for the integration. */
  #placeOf(cursor: Cursor): Place {
    const ordinal = passed(cursor);
    const mark = this.#fold.markBefore(cursor.number, ordinal - cursor.inside);
    return { seq: Math.max(cursor.seq, mark?.seq ?? 0), inside: cursor.inside, ordinal };
  }

  async #discard(cursor: Cursor, place: Place): Promise<void> {
    const discarded = place.ordinal - passed(cursor);
    this.#log.error(
      { integration: cursor.number, spans: discarded },
      'spans are lost from the telemetry log',
    );
    const moved = await this.#store.tx((tx) =>
      this.#store.commit(tx, cursor.number, cursor.fence, place.ordinal, place, { discarded }),
    );
    if (moved) this.#keep(moved);
    else await this.refresh();
  }

  /** Keeps a row unless a newer one is known. */
  #keep(cursor: Cursor): void {
    const before = this.#cursors.get(cursor.number);
    if (before !== undefined && before.version > cursor.version) return;
    this.#cursors.set(cursor.number, cursor);
  }

  /** Reads the stream's headers on and on, and counts them. */
  async #follow(): Promise<number> {
    await this.#mend();
    const { signal } = this.#closing;
    const begun = performance.now();
    try {
      for await (const message of this.#stream.headers(this.#fold.seq + 1, signal, true)) {
        if (message.seq !== this.#fold.seq + 1 && (await this.#skip(message.seq))) return 0;
        const head = this.#fold.take(message);
        if (head !== null) this.#tell(head.account.keys());
      }
    } catch (error) {
      // A server that went away has forgotten this reader; who comes back begins a new one.
      const now = performance.now();
      if (now - begun > silentMs || this.#failingSince === 0) this.#failingSince = now;
      else if (now - this.#failingSince > silentMs) throw error;
      this.#log.debug({ error: messageOf(error) }, 'the telemetry log is read anew');
      return awayMs;
    }
    return 0;
  }

  #tell(numbers: Iterable<number>): void {
    const routes = new Set(numbers);
    for (const listener of this.#listeners) listener(routes);
  }

  /**
   * A server that was not told to sync can lose the end of the stream with its power, and would give the same
   * numbers to what comes next, which everybody has passed. So these numbers are given away; the spans that are
   * lost are then found missing and counted as discarded.
   */
  async #mend(): Promise<void> {
    const known = Math.max(this.#fold.seq, ...[...this.#cursors.values()].map(({ seq }) => seq));
    const last = await this.#stream.last();
    if (last >= known) return;
    this.#log.error(
      { messages: known - last },
      'the telemetry log has lost messages that it had acknowledged',
    );
    await this.#stream.skipTo(known);
  }

  /**
   * Messages before `seq` are not there: purged, and so counted in a mark that another replica saved (true, and
   * the fold goes on from there), or lost.
   */
  async #skip(seq: number): Promise<boolean> {
    const marks = await this.#store.marks();
    const newest = marks.at(-1);
    if (newest === undefined || newest.seq < seq - 1) {
      const messages = seq - 1 - this.#fold.seq;
      this.#log.error({ messages }, 'messages are gone from the telemetry log before they were counted');
      return false;
    }
    this.#fold.restore(marks);
    this.#savedMark = newest.seq;
    this.#tell(newest.totals.keys());
    return true;
  }

  async #restore(): Promise<void> {
    const marks = await this.#store.marks();
    this.#fold.restore(marks);
    this.#savedMark = marks.at(-1)?.seq ?? 0;
  }

  /** Answers how long to sleep. */
  async #tend(): Promise<number> {
    await this.refresh();
    if (!this.#keeps) this.#fold.trim(this.#needed());
    if (!this.#delivers) return tendEveryMs;
    if (performance.now() - this.#renewedAt >= renewEveryMs) {
      await this.#lease();
      if (this.#keeps) await this.#purge();
    }
    return (await this.#takeOver()) ? takeMoreMs : tendEveryMs;
  }

  async #lease(): Promise<void> {
    const now = performance.now();
    const lapsed = now >= this.#leasedUntil;
    this.#keeps = await this.#store.keep(leaseSeconds);
    await this.#store.renew(leaseSeconds);
    this.#renewedAt = now;
    this.#leasedUntil = now + leaseSeconds * 1000 - leaseMarginMs;
    // Delivery stopped with the lease: what nobody took over meanwhile goes on.
    if (lapsed) this.#tell([...this.#cursors.keys()].filter((number) => this.owns(number)));
  }

  /** Half of what nobody delivers, so that replicas that look at the same time share it. Answers whether there is more. */
  async #takeOver(): Promise<boolean> {
    const free = [...this.#cursors.values()].filter((cursor) => cursor.free && !cursor.removed);
    if (free.length === 0) return false;
    const wanted = free
      .map(({ number }) => number)
      .sort(() => Math.random() - 0.5)
      .slice(0, Math.ceil(free.length / 2));
    const taken = await this.#store.acquire(wanted, leaseSeconds);
    for (const cursor of taken) this.#keep(cursor);
    this.#tell(taken.map(({ number }) => number));
    return taken.length > 0 && free.length > wanted.length;
  }

  /** The first message that anybody still needs. */
  #needed(): number {
    let behind = this.#fold.seq;
    // Another replica has just made its cursor: it is known in a moment.
    for (const number of this.#fold.totals.keys()) if (!this.#cursors.has(number)) return 0;
    for (const cursor of this.#cursors.values()) {
      const queued = this.#fold.accepted(cursor.number).spans - passed(cursor);
      if (!cursor.removed && queued > 0) behind = Math.min(behind, this.#placeOf(cursor).seq);
    }
    return this.#fold.needed(behind);
  }

  /** Saves the marks, and removes what every integration has passed. */
  async #purge(): Promise<void> {
    const fold = this.#fold;
    const needed = this.#needed();
    const purges = needed > this.#purgedBefore && needed > 1;
    // A replica that has not read as far must find a mark where the stream then begins.
    if (purges && (fold.marks.at(-1)?.seq ?? 0) < needed - 1) fold.mark();
    for (const mark of fold.marks) {
      if (mark.seq <= this.#savedMark) continue;
      await this.#store.saveMark(mark);
      this.#savedMark = mark.seq;
    }
    if (!purges) return;
    await this.#stream.purgeBefore(needed);
    this.#purgedBefore = needed;
    fold.trim(needed);
    const first = fold.marks[0];
    if (first) await this.#store.dropMarksBefore(first.seq);
  }
}

/** Connects to the log; rejects with TelemetryLogRefusal where it will never do, else with why it is away. */
export const openSharedLog = (options: SharedLogOptions): Promise<SharedLog> => JetStreamLog.open(options);
