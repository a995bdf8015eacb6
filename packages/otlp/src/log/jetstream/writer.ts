import { randomUUID } from 'node:crypto';
import { type Append, GroupCommit } from '../group-commit.ts';
import { type Slice, TelemetryLogError } from '../log.ts';
import { uploadWithinMs } from './aggregate.ts';
import { encodeRecord, headerNames } from './message.ts';
import type { LogStream } from './stream.ts';

/** Records in flight at a time. The server syncs one after the other: more would only wait there. */
const maxUnderWay = 4;
/** Part of the largest message that its headers may need. */
const headerBytes = 64 * 1024;
/** Time to wait for a record that fits into one message; the sender tries again. */
const publishWithinMs = 10_000;

/**
 * The writing end of the log on JetStream. Requests that come while records are in flight share the next one, because
 * the server syncs each message. A record that is larger than a message may be is published as chunks, and is in the
 * log when its head is.
 */
export class StreamWriter {
  readonly #stream: Pick<LogStream, 'publish' | 'maxMessage' | 'connected'>;
  readonly #counted: () => number;
  readonly #prepare: (routes: ReadonlySet<number>) => Promise<void>;
  readonly #groups = new GroupCommit({
    concurrency: maxUnderWay,
    maxBytes: () => this.#maxBody() / 2,
    // Senders try again; keeping all of theirs in memory until the server is back would not end well.
    refusal: () =>
      this.#stream.connected ? null : new TelemetryLogError('failed', 'the telemetry log is away'),
    write: (group) => this.#write(group),
  });

  /**
   * `counted`: the last message in the totals. `prepare` is called with the integrations that a record goes to, before
   * it is published.
   */
  constructor(
    stream: Pick<LogStream, 'publish' | 'maxMessage' | 'connected'>,
    counted: () => number,
    prepare: (routes: ReadonlySet<number>) => Promise<void>,
  ) {
    this.#stream = stream;
    this.#counted = counted;
    this.#prepare = prepare;
  }

  append(slices: readonly Slice[]): Promise<void> {
    return this.#groups.append(slices);
  }

  /** Waits for what is in flight; later appends reject. */
  close(): Promise<void> {
    return this.#groups.close();
  }

  #maxBody(): number {
    const { maxMessage } = this.#stream;
    return maxMessage - Math.min(headerBytes, maxMessage / 2);
  }

  async #write(group: readonly Append[]): Promise<void> {
    const slices = group.flatMap((one) => one.slices);
    await this.#prepare(new Set(slices.flatMap(({ routes }) => routes)));
    const record = encodeRecord(slices);
    if (record === null) {
      throw new TelemetryLogError('failed', 'the spans go to more integrations than a record can name');
    }
    const counted = this.#counted();
    const seq = await this.#store(record.body, record.headers);
    // The server has lost the end of its stream and gives its numbers again: no one would read the record there.
    if (seq <= counted) throw new TelemetryLogError('failed', 'the telemetry log has lost messages');
  }

  /** Resolves to the sequence number of the head. */
  async #store(body: Buffer, headers: Record<string, string>): Promise<number> {
    const id = randomUUID();
    const max = this.#maxBody();
    if (body.length <= max) {
      return this.#stream.publish('head', body, headers, id, performance.now() + publishWithinMs);
    }
    const until = performance.now() + uploadWithinMs;
    const parts: Promise<number>[] = [];
    const upload = { [headerNames.upload]: id };
    for (let at = 0; at < body.length; at += max) {
      const part = body.subarray(at, at + max);
      parts.push(this.#stream.publish('chunk', part, upload, `${id}.${parts.length}`, until));
    }
    const chunks = { [headerNames.chunks]: (await Promise.all(parts)).join() };
    return this.#stream.publish('head', Buffer.alloc(0), { ...headers, ...upload, ...chunks }, id, until);
  }
}
