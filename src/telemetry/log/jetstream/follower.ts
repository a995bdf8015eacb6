import { messageOf } from '../../../lib/errors.ts';
import type { Logger } from '../../../lib/log.ts';
import { Loop } from '../../../lib/loop.ts';
import type { Fold } from './aggregate.ts';
import type { StreamStore } from './store.ts';
import type { LogStream } from './stream.ts';

/** Until a connection that is away is looked at again. */
const awayMs = 200;
/** How long a start waits for messages that the server counts and does not send; and before a failing reader is reported. */
const silentMs = 3_000;

export interface FollowerParts {
  stream: LogStream;
  store: StreamStore;
  fold: Fold;
  log: Logger;
  /** The last message that anybody is known to have passed. */
  passed: () => number;
  /** Integrations that something was appended for. */
  tell: (numbers: Iterable<number>) => void;
}

/** Reads the stream's headers on and on, and gives them to the fold: from the marks at the start, over outages and gaps. */
export class Follower {
  readonly #parts: FollowerParts;
  readonly #closing = new AbortController();
  readonly #loop: Loop;
  /** Since when the stream cannot be read, by performance.now(); 0 where it can. */
  #failingSince = 0;

  constructor(parts: FollowerParts) {
    this.#parts = parts;
    this.#loop = new Loop({
      name: 'telemetry log',
      log: parts.log,
      maxRetryMs: 2_000,
      tick: () => (parts.stream.connected ? this.#follow() : Promise.resolve(awayMs)),
    });
  }

  /** Resolves when what is in the stream now is counted. */
  async start(): Promise<void> {
    this.#parts.fold.restore(await this.#parts.store.marks());
    this.#loop.start();
    await this.caughtUp();
  }

  async stop(): Promise<void> {
    this.#closing.abort(new Error('the telemetry log is closed'));
    await this.#loop.stop();
  }

  /** Waits until everything that was stored before this call is counted. */
  async caughtUp(): Promise<void> {
    const { stream, fold } = this.#parts;
    const last = await stream.last();
    let seq = -1;
    let since = 0;
    while (fold.seq < last && !this.#closing.signal.aborted) {
      if (fold.seq !== seq) {
        seq = fold.seq;
        since = performance.now();
      } else if (performance.now() - since > silentMs) return;
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
  }

  async #follow(): Promise<number> {
    const { stream, fold, log, tell } = this.#parts;
    await this.#mend();
    const begun = performance.now();
    try {
      for await (const message of stream.headers(fold.seq + 1, this.#closing.signal, true)) {
        if (message.seq !== fold.seq + 1 && (await this.#skip(message.seq))) return 0;
        const head = fold.take(message);
        if (head !== null) tell(head.account.keys());
      }
    } catch (error) {
      // A server that went away has forgotten this reader; who comes back begins a new one.
      const now = performance.now();
      if (now - begun > silentMs || this.#failingSince === 0) this.#failingSince = now;
      else if (now - this.#failingSince > silentMs) throw error;
      log.debug({ error: messageOf(error) }, 'the telemetry log is read anew');
      return awayMs;
    }
    return 0;
  }

  /**
   * A server that was not told to sync can lose the end of the stream with its power, and would give the same
   * numbers to what comes next, which everybody has passed. So these numbers are given away; the spans that are
   * lost are then found missing and counted as discarded.
   */
  async #mend(): Promise<void> {
    const { stream, fold, log, passed } = this.#parts;
    const known = Math.max(fold.seq, passed());
    const last = await stream.last();
    if (last >= known) return;
    log.error({ messages: known - last }, 'the telemetry log has lost messages that it had acknowledged');
    await stream.skipTo(known);
  }

  /**
   * Messages before `seq` are not there: purged, and so counted in a mark that another replica saved (true, and
   * the fold goes on from there), or lost.
   */
  async #skip(seq: number): Promise<boolean> {
    const { store, fold, log, tell } = this.#parts;
    const marks = await store.marks();
    const newest = marks.at(-1);
    if (newest === undefined || newest.seq < seq - 1) {
      const messages = seq - 1 - fold.seq;
      log.error({ messages }, 'messages are gone from the telemetry log before they were counted');
      return false;
    }
    fold.restore(marks);
    tell(newest.totals.keys());
    return true;
  }
}
