import { messageOf } from '../message-of.ts';
import type { StreamAggregate } from './aggregate.ts';
import { Background } from './background.ts';
import type { Logger } from './logger.ts';
import type { StreamStore } from './store.ts';
import type { LogStream } from './stream.ts';

/** Time until a connection that is away is checked again. */
const awayMs = 200;
/**
 * Time that a start waits for messages that the server counts and does not send; and how long a reader fails before it
 * is reported.
 */
const silentMs = 3_000;

export interface FollowerParts {
  stream: LogStream;
  store: StreamStore;
  aggregate: StreamAggregate;
  log: Logger;
  /** The last message that any integration is known to have passed. */
  passed: () => number;
  /** Called with integrations that something was appended for. */
  notify: (numbers: Iterable<number>) => void;
}

/**
 * Reads the stream's headers into the aggregate without end: from the saved checkpoints on, across outages and gaps.
 */
export class Follower {
  readonly #parts: FollowerParts;
  readonly #closing = new AbortController();
  readonly #loop: Background;
  /** Since when the stream cannot be read, by performance.now(); 0 if it can. */
  #failingSince = 0;

  constructor(parts: FollowerParts) {
    this.#parts = parts;
    this.#loop = new Background('telemetry log', parts.log, () =>
      parts.stream.connected ? this.#follow() : Promise.resolve(awayMs),
    );
  }

  /** Resolves when what is in the stream now is counted. */
  async start(): Promise<void> {
    this.#parts.aggregate.restore(await this.#parts.store.checkpoints());
    this.#loop.start();
    await this.caughtUp();
  }

  async stop(): Promise<void> {
    this.#closing.abort(new Error('the telemetry log is closed'));
    await this.#loop.stop();
  }

  /** Waits until everything that was stored before this call is counted. */
  async caughtUp(): Promise<void> {
    const { stream, aggregate } = this.#parts;
    const last = await stream.last();
    let seq = -1;
    let since = 0;
    while (aggregate.seq < last && !this.#closing.signal.aborted) {
      if (aggregate.seq !== seq) {
        seq = aggregate.seq;
        since = performance.now();
      } else if (performance.now() - since > silentMs) return;
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
  }

  async #follow(): Promise<number> {
    const { stream, aggregate, log, notify } = this.#parts;
    await this.#skipLostNumbers();
    const begun = performance.now();
    try {
      for await (const message of stream.headers(aggregate.seq + 1, this.#closing.signal, true)) {
        if (message.seq !== aggregate.seq + 1 && (await this.#skip(message.seq))) return 0;
        const head = aggregate.add(message);
        if (head !== null) notify(head.accepted.keys());
      }
    } catch (error) {
      // A server that went away has forgotten this reader: begin a new one.
      const now = performance.now();
      if (now - begun > silentMs || this.#failingSince === 0) this.#failingSince = now;
      else if (now - this.#failingSince > silentMs) throw error;
      log.debug({ error: messageOf(error) }, 'the telemetry log is read again');
      return awayMs;
    }
    return 0;
  }

  /**
   * A server that was not configured to sync can lose the end of the stream with its power. It would then give the same
   * sequence numbers again, which the cursors have passed. So these numbers are used up; the lost spans are then found
   * missing and counted as discarded.
   */
  async #skipLostNumbers(): Promise<void> {
    const { stream, aggregate, log, passed } = this.#parts;
    const known = Math.max(aggregate.seq, passed());
    const last = await stream.last();
    if (last >= known) return;
    log.error({ messages: known - last }, 'the telemetry log has lost messages that it had acknowledged');
    await stream.skipTo(known);
  }

  /**
   * Messages before `seq` are not there: they were purged, and so are counted in a checkpoint that another replica
   * saved (returns true, and the aggregate continues from there), or they are lost.
   */
  async #skip(seq: number): Promise<boolean> {
    const { store, aggregate, log, notify } = this.#parts;
    const checkpoints = await store.checkpoints();
    const newest = checkpoints.at(-1);
    if (newest === undefined || newest.seq < seq - 1) {
      const messages = seq - 1 - aggregate.seq;
      log.error({ messages }, 'messages are gone from the telemetry log before they were counted');
      return false;
    }
    aggregate.restore(checkpoints);
    notify(newest.totals.keys());
    return true;
  }
}
