import { type FileHandle, open, rm } from 'node:fs/promises';
import { Mutex } from '../../semaphore.ts';
import { type Append, GroupCommit } from '../group-commit.ts';
import { type Slice, TelemetryLogError } from '../log.ts';
import { messageOf } from '../message-of.ts';
import { type Accepted, encodeHead, nothingAccepted, totalsAfter } from '../record.ts';
import type { Segment } from './reader.ts';
import { createSegment, type Recovered, synced } from './segments.ts';

/** Writes bytes into a file; tests pass a failing disk. */
export type Write = (file: FileHandle, bytes: Buffer[], at: number) => Promise<void>;

export const writeAll: Write = async (file, bytes, at) => {
  let total = 0;
  for (const one of bytes) total += one.length;
  const { bytesWritten } = await file.writev(bytes, at);
  if (bytesWritten === total) return;
  // A short write: usually the disk is full, and the next write reports it.
  let done = bytesWritten;
  const rest = Buffer.concat(bytes);
  while (done < total) done += (await file.write(rest, done, total - done, at + done)).bytesWritten;
};

const groupBytes = 16 * 1024 * 1024;

export interface WriterOptions {
  directory: string;
  segmentBytes: number;
  segmentMs: number;
  now: () => number;
  write: Write;
  /** Called before a group is written, with the integrations that it goes to. */
  prepare: (routes: ReadonlySet<number>) => Promise<void>;
  /** Called when a group could not be written: the last segment accepts nothing more (`sealed`). */
  failed: () => Promise<void>;
  /** Called when a group is durable. `before`: what was accepted before it; `at`: the offset where it begins. */
  written: (routes: ReadonlySet<number>, before: ReadonlyMap<number, Accepted>, at: number) => void;
}

/**
 * The writing end of the log. Everything that waits is written as one group with one synced write on the thread pool;
 * in the meantime the next group collects.
 */
export class SegmentWriter {
  readonly segments: Segment[];
  /** Accepted up to `end`. */
  readonly totals: Map<number, Accepted>;
  end: number;
  readonly #options: WriterOptions;
  #active: { segment: Segment; file: FileHandle } | null = null;
  readonly #groups = new GroupCommit({
    concurrency: 1,
    maxBytes: () => groupBytes,
    write: (group) => this.#write(group),
  });
  readonly #mutex = new Mutex();
  #lastTime: number;

  constructor(recovered: Recovered, options: WriterOptions) {
    this.segments = recovered.segments;
    this.totals = recovered.totals;
    this.end = recovered.end;
    this.#lastTime = recovered.lastTime;
    this.#options = options;
  }

  /**
   * Continues in the last segment, truncated to its last whole record; a segment with a damaged head is left as it is.
   */
  async open(): Promise<void> {
    const last = this.segments.at(-1);
    if (last === undefined) return;
    if (last.totals === null) {
      if (this.end > last.base) return;
      await rm(last.path);
      this.segments.pop();
      return;
    }
    const file = await open(last.path, synced);
    try {
      await file.truncate(this.end - last.base);
      await file.datasync();
    } catch (error) {
      await file.close();
      throw error;
    }
    this.#active = { segment: last, file };
  }

  /** True if the next group begins a new segment, even if the last one has room. */
  get sealed(): boolean {
    return this.#active === null;
  }

  append(slices: readonly Slice[]): Promise<void> {
    return this.#groups.append(slices);
  }

  /** Runs `fn` while nothing is written: for changes that add or remove segments. */
  exclusive<T>(fn: () => Promise<T>): Promise<T> {
    return this.#mutex.run(fn);
  }

  /**
   * Begins a new segment if the current one has records and none is younger than `before`. Call it within `exclusive`.
   */
  async roll(before = Number.POSITIVE_INFINITY): Promise<void> {
    const active = this.#active;
    if (active === null || this.end === active.segment.base + active.segment.headLength) return;
    if (this.#lastTime > before) return;
    await this.#startSegment();
  }

  async close(): Promise<void> {
    await this.#groups.close();
    await this.exclusive(async () => this.#active?.file.close());
    this.#active = null;
  }

  async #write(group: readonly Append[]): Promise<void> {
    try {
      await this.exclusive(() => this.#writeGroup(group));
    } catch (error) {
      await this.exclusive(() => this.#seal());
      await this.#options.failed().catch(() => {});
      throw errorOf(error);
    }
  }

  async #writeGroup(group: readonly Append[]): Promise<void> {
    const { now, write, segmentBytes, segmentMs, prepare, written } = this.#options;
    const time = now();
    const routes = new Set<number>();
    for (const { slices } of group) {
      for (const slice of slices) for (const number of slice.routes) routes.add(number);
    }
    await prepare(routes);
    const active = this.#active;
    if (
      active === null ||
      this.end - active.segment.base >= segmentBytes ||
      (time - active.segment.created >= segmentMs &&
        this.end > active.segment.base + active.segment.headLength)
    ) {
      await this.#startSegment();
    }
    const { file, segment } = this.#active!;
    const start = this.end;
    const after = new Map<number, Accepted>();
    const before = new Map<number, Accepted>();
    for (const number of routes) {
      const total = this.totals.get(number) ?? nothingAccepted;
      before.set(number, total);
      after.set(number, total);
    }
    const buffers: Buffer[] = [];
    let at = start;
    for (const { slices, bytes } of group) {
      const totals = totalsAfter(slices, after);
      for (const [number, total] of totals) after.set(number, total);
      const head = encodeHead(slices, totals, at, time);
      buffers.push(head);
      for (const slice of slices) buffers.push(slice.bytes);
      at += head.length + bytes;
    }
    try {
      await write(file, buffers, start - segment.base);
    } catch (error) {
      // Nothing of the group may stay.
      await file.truncate(start - segment.base).catch(() => {});
      throw error;
    }
    for (const [number, total] of after) this.totals.set(number, total);
    this.end = at;
    this.#lastTime = time;
    written(routes, before, start);
  }

  /**
   * Called after a failure. After a failed sync the file is not trusted again: the kernel may have dropped what it
   * could not write, and reports that only once.
   */
  async #seal(): Promise<void> {
    const active = this.#active;
    this.#active = null;
    await active?.file.close().catch(() => {});
  }

  async #startSegment(): Promise<void> {
    const { directory, now, write } = this.#options;
    const old = this.#active;
    const last = this.segments.at(-1);
    // A segment without records, left by a failure: its file is created again.
    if (last !== undefined && last.base + last.headLength >= this.end && old === null) {
      this.segments.pop();
      this.end = last.base;
    }
    const { segment, file } = await createSegment(
      directory,
      this.end,
      this.#lastTime || now(),
      this.totals,
      write,
    );
    this.segments.push(segment);
    this.#active = { segment, file };
    this.end = segment.base + segment.headLength;
    await old?.file.close();
  }
}

const errorOf = (error: unknown): TelemetryLogError => {
  if (error instanceof TelemetryLogError) return error;
  const code = (error as { code?: string }).code;
  if (code === 'ENOSPC' || code === 'EDQUOT' || code === 'EFBIG') {
    return new TelemetryLogError('full', 'the disk of the telemetry log is full');
  }
  // The message of a file error has a path in it, which is not for senders.
  return new TelemetryLogError('failed', `the telemetry log cannot be written (${code ?? messageOf(error)})`);
};
