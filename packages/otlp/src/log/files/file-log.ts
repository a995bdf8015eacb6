import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { bytesBehind } from '../backlog.ts';
import { addCounts, type Counts, countersOf, type DeliveryCounters, passed } from '../counts.ts';
import type { DeadLetter, DeadLetterEnd, NewDeadLetter } from '../dead-letter.ts';
import type { Batch, Slice, TelemetryLog } from '../log.ts';
import { type AcceptedTotals, nothingAccepted } from '../record.ts';
import { CursorFile, type CursorState } from './cursor.ts';
import { DeadLetterFiles } from './dead-letters.ts';
import { SegmentHousekeeping } from './housekeeping.ts';
import { logIdIn } from './log-id.ts';
import { readBatch } from './read-batch.ts';
import { RecordReader } from './reader.ts';
import { recover } from './segments.ts';
import { SegmentWriter, type Write, writeAll } from './writer.ts';

export interface FileLogOptions {
  directory: string;
  /** A segment is closed at this size (default 64 MiB) or age (default 1 h): what retention can drop at a time. */
  segmentBytes?: number;
  segmentMs?: number;
  now?: () => number;
  write?: Write;
}

interface Integration {
  cursor: CursorFile;
  deadLetters: DeadLetterFiles;
  reader: RecordReader;
  /**
   * The offset to read from: at or after the durable cursor's offset. That of an idle integration moves with the log's
   * end.
   */
  at: number;
  /** The time of the record with span `ordinal`, so that `oldest` need not read. */
  oldest: { ordinal: number; time: number } | null;
}

/** The telemetry log in files of one folder: segments, and a cursor for each integration. */
class FileLog implements TelemetryLog {
  readonly id: string;
  readonly #directory: string;
  readonly #writer: SegmentWriter;
  readonly #housekeeping: SegmentHousekeeping;
  readonly #integrations = new Map<number, Integration>();
  readonly #opening = new Map<number, Promise<void>>();
  readonly #listeners = new Set<(routes: ReadonlySet<number>) => void>();

  private constructor(id: string, options: FileLogOptions, recovered: Awaited<ReturnType<typeof recover>>) {
    this.id = id;
    this.#directory = options.directory;
    this.#writer = new SegmentWriter(recovered, {
      directory: options.directory,
      segmentBytes: options.segmentBytes ?? 64 * 1024 * 1024,
      segmentMs: options.segmentMs ?? 3_600_000,
      now: options.now ?? Date.now,
      write: options.write ?? writeAll,
      prepare: async (routes) => {
        for (const number of routes) if (!this.#integrations.has(number)) await this.register(number);
      },
      failed: () => this.#housekeeping.collect(),
      written: (routes, before, at) => this.#written(routes, before, at),
    });
    this.#housekeeping = new SegmentHousekeeping(this.#writer, (n) => this.#integrations.get(n)?.cursor);
  }

  static async open(options: FileLogOptions): Promise<FileLog> {
    const cursors = join(options.directory, 'cursors');
    await mkdir(cursors, { recursive: true });
    const recovered = await recover(options.directory);
    const log = new FileLog(await logIdIn(options.directory), options, recovered);
    try {
      for (const name of await readdir(cursors)) {
        if (/^\d+$/.test(name)) await log.register(Number(name));
      }
      for (const [number, { cursor }] of log.#integrations) {
        // If someone deleted segments, the log would end earlier; offsets and totals continue from where they were.
        log.#writer.end = Math.max(log.#writer.end, recovered.segments.length === 0 ? cursor.state.at : 0);
        const total = log.#writer.totals.get(number) ?? nothingAccepted;
        const spans = passed(cursor.state);
        if (spans > total.spans) log.#writer.totals.set(number, { ...total, spans });
      }
      await log.#writer.open();
      await log.#housekeeping.collect();
      for (const { deadLetters } of log.#integrations.values()) await deadLetters.reconcile();
    } catch (error) {
      await log.close();
      throw error;
    }
    return log;
  }

  get bytes(): number {
    const { end, segments } = this.#writer;
    return end - (segments[0]?.base ?? end);
  }

  append(slices: readonly Slice[]): Promise<void> {
    return this.#writer.append(slices);
  }

  register(number: number): Promise<void> {
    if (this.#integrations.has(number)) return Promise.resolve();
    const known = this.#opening.get(number);
    if (known) return known;
    const opening = CursorFile.open(join(this.#directory, 'cursors', String(number)), number)
      .then((cursor) => {
        this.#integrations.set(number, {
          cursor,
          deadLetters: new DeadLetterFiles(join(this.#directory, 'dead-letters', String(number)), cursor),
          reader: new RecordReader(this.#writer),
          at: cursor.state.at,
          oldest: null,
        });
      })
      .finally(() => this.#opening.delete(number));
    this.#opening.set(number, opening);
    return opening;
  }

  integrations(): { number: number; removed: boolean }[] {
    return [...this.#integrations].map(([number, { cursor }]) => ({ number, removed: cursor.state.removed }));
  }

  async deliver(): Promise<void> {}

  async refresh(): Promise<void> {}

  owns(): boolean {
    return true;
  }

  async remove(number: number): Promise<void> {
    const one = this.#integrations.get(number);
    if (one === undefined) return;
    await one.cursor.update((state) =>
      state.removed
        ? null
        : {
            ...state,
            removed: true,
            dead_lettered: 0,
            discarded: state.discarded + state.dead_lettered + this.#queued(number, state),
            at: this.#writer.end,
          },
    );
    await one.deadLetters.drop();
    await one.reader.close();
    await this.#housekeeping.collect();
  }

  async restore(number: number): Promise<void> {
    const one = this.#integrations.get(number);
    if (one === undefined) return;
    const restored = await one.cursor.update((state) =>
      state.removed
        ? {
            ...state,
            removed: false,
            discarded: state.discarded + this.#queued(number, state),
            at: this.#writer.end,
          }
        : null,
    );
    if (restored) one.at = one.cursor.state.at;
  }

  async read(number: number, maxBytes: number, after?: Batch): Promise<Batch | null> {
    const one = this.#integrations.get(number);
    if (one === undefined || one.cursor.state.removed) return null;
    for (;;) {
      const atCursor = passed(one.cursor.state);
      const behind = after === undefined ? 0 : after.start + after.spans;
      const start = Math.max(atCursor, behind);
      const accepted = this.#writer.totals.get(number)?.spans ?? 0;
      if (accepted <= start) return null;
      const from = behind > atCursor ? Math.max(one.at, after!.parts.at(-1)!.next) : one.at;
      const found = await readBatch(one.reader, number, from, start, accepted, maxBytes);
      // Expired or removed in the meantime.
      if (passed(one.cursor.state) > start) continue;
      if (start > atCursor) return 'batch' in found ? found.batch : null;
      one.at = Math.max(one.at, found.at);
      if ('batch' in found) {
        one.oldest = { ordinal: start, time: found.time };
        return found.batch;
      }
      // A hole in the log: its spans are lost, and the counters must show that.
      await one.cursor.update((now) =>
        passed(now) === start ? { ...now, discarded: now.discarded + found.lost, at: one.at } : null,
      );
    }
  }

  async commit(
    batch: Batch,
    through: number,
    counts: Partial<Counts>,
    deadLetters: readonly NewDeadLetter[] = [],
  ): Promise<boolean> {
    const one = this.#integrations.get(batch.number);
    if (one === undefined) return false;
    let at = batch.parts[0]!.at;
    let spans = 0;
    for (const part of batch.parts) {
      spans += part.spans;
      at = spans <= through ? part.next : part.at;
      if (spans >= through) break;
    }
    const deltas = { ...counts, dead_lettered: deadLetters.length };
    const count = () =>
      one.cursor.update((state) => {
        const next = addCounts(state, deltas);
        // Expired or removed in the meantime: those spans are already counted.
        return state.removed || passed(next) !== batch.start + through ? null : { ...next, at };
      });
    const moved = deadLetters.length === 0 ? await count() : await one.deadLetters.add(deadLetters, count);
    if (moved) {
      one.at = at;
      // The cursor has moved: a segment that cannot be deleted does not undo that. Retention tries again.
      await this.#housekeeping.collect().catch(() => {});
    }
    return moved;
  }

  async jump(number: number, countsOf: (through: number) => Promise<Partial<Counts>>): Promise<boolean> {
    const one = this.#integrations.get(number);
    if (one === undefined || this.#queued(number, one.cursor.state) === 0) return false;
    const at = this.#writer.end;
    const through = this.#writer.totals.get(number)!.spans;
    const counts = await countsOf(through);
    const moved = await one.cursor.update((state) => {
      const next = addCounts(state, counts);
      return state.removed || passed(next) !== through ? null : { ...next, at };
    });
    if (moved) {
      one.at = at;
      await this.#housekeeping.collect().catch(() => {});
    }
    return moved;
  }

  async deadLetterIds(number: number): Promise<string[]> {
    return (await this.#integrations.get(number)?.deadLetters.ids()) ?? [];
  }

  async listDeadLetters(number: number, limit: number, after?: string): Promise<DeadLetter[]> {
    return (await this.#integrations.get(number)?.deadLetters.list(limit, after)) ?? [];
  }

  async getDeadLetter(number: number, id: string): Promise<{ deadLetter: DeadLetter; span: Buffer } | null> {
    return (await this.#integrations.get(number)?.deadLetters.get(id)) ?? null;
  }

  async endDeadLetters(
    number: number,
    ids: readonly string[] | undefined,
    as: DeadLetterEnd,
  ): Promise<number> {
    return (await this.#integrations.get(number)?.deadLetters.end(ids, as)) ?? 0;
  }

  counters(number: number): DeliveryCounters {
    const state = this.#integrations.get(number)?.cursor.state;
    const queued = state === undefined ? 0 : this.#queued(number, state);
    return countersOf(state, queued, () => this.#backlogBytes(number));
  }

  async oldest(number: number): Promise<number | null> {
    const one = this.#integrations.get(number);
    if (one === undefined || one.cursor.state.removed) return null;
    const start = passed(one.cursor.state);
    if (this.#queued(number, one.cursor.state) === 0) return null;
    if (one.oldest?.ordinal === start) return one.oldest.time;
    const reader = new RecordReader(this.#writer);
    try {
      let record = await reader.next(one.at);
      while (record !== null && (record.totals.get(number)?.spans ?? 0) <= start) {
        record = await reader.next(record.next);
      }
      if (record !== null) one.oldest = { ordinal: start, time: record.time };
      return record?.time ?? null;
    } finally {
      await reader.close();
    }
  }

  async expire(before: number, maxBytes: number): Promise<void> {
    await this.#housekeeping.expire(before, maxBytes);
    for (const { deadLetters } of this.#integrations.values()) await deadLetters.expire(before);
  }

  onAppend(appended: (routes: ReadonlySet<number>) => void): () => void {
    this.#listeners.add(appended);
    return () => this.#listeners.delete(appended);
  }

  async close(): Promise<void> {
    await this.#writer.close();
    // A cursor that is still being opened would never be closed.
    await Promise.allSettled(this.#opening.values());
    for (const { cursor, reader } of this.#integrations.values()) {
      await reader.close();
      await cursor.close();
    }
  }

  #queued(number: number, state: CursorState): number {
    return (this.#writer.totals.get(number)?.spans ?? 0) - passed(state);
  }

  /** Exact to within the segment that is being read. */
  #backlogBytes(number: number): number {
    const steps = this.#writer.segments.map(({ totals }) => totals).filter((totals) => totals !== null);
    const accepted = this.#writer.totals.get(number) ?? nothingAccepted;
    return bytesBehind(number, passed(this.#integrations.get(number)!.cursor.state), accepted, steps);
  }

  #written(routes: ReadonlySet<number>, before: AcceptedTotals, at: number): void {
    for (const number of routes) {
      const one = this.#integrations.get(number);
      // Idle until now: what it has to read begins here, however much the log has grown in the meantime.
      if (one && passed(one.cursor.state) === (before.get(number)?.spans ?? 0)) one.at = Math.max(one.at, at);
    }
    for (const listener of this.#listeners) listener(routes);
  }
}

/** Opens (or creates) the log in a folder. No other process may use the folder. */
export const openFileLog = (options: FileLogOptions): Promise<TelemetryLog> => FileLog.open(options);
