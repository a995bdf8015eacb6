import type { Database, Executor, Tx } from '../database/index.ts';
import { messageOf } from '../lib/errors.ts';
import type { Logger } from '../lib/log.ts';

/** Reason why a run ends before its work is done. */
export type EndReason = 'cancelled' | 'lost' | 'timeout' | 'stopped';

/** Thrown through a run that ends early; the reason of its signal. */
export class RunEnded extends Error {
  readonly reason: EndReason;
  constructor(reason: EndReason) {
    super(`the run was ended: ${reason}`);
    this.name = 'RunEnded';
    this.reason = reason;
  }
}

/** A claim: a row with a lease and a fencing token, of whatever table. */
export interface ClaimedLease {
  /** For logs. */
  id: string;
  leaseSeconds: number;
  /** Extends the lease. Not `alive`: it was lost, and nothing that its holder does counts any more. */
  beat(executor: Executor): Promise<Heartbeat>;
}

interface Heartbeat {
  alive: boolean;
  cancelRequested: boolean;
}

export interface HeldLease {
  /** Aborted with a RunEnded: after that, nothing more begins. */
  readonly signal: AbortSignal;
  end(reason: EndReason): void;
  /** One transaction that only the holder of the lease can commit. Throws RunEnded if it is lost or cancelled. */
  store<T>(fn: (tx: Tx) => Promise<T>): Promise<T>;
  /** Stops the heartbeat. */
  release(): void;
}

/** The longest time between two heartbeats: a cancel whose notification was lost still takes effect within 30 s. */
const longestBeatMs = 10_000;

const check = ({ alive, cancelRequested }: Heartbeat): void => {
  if (!alive) throw new RunEnded('lost');
  if (cancelRequested) throw new RunEnded('cancelled');
};

/**
 * Keeps a lease by a heartbeat at a third of it, which also reports a cancel or a loss. If the
 * database does not respond for a whole lease, it counts as lost: another worker may have it by then.
 */
export const holdLease = (db: Database, log: Logger, lease: ClaimedLease): HeldLease => {
  const abort = new AbortController();
  const end = (reason: EndReason): void => abort.abort(new RunEnded(reason));
  const everyMs = Math.min((lease.leaseSeconds * 1_000) / 3, longestBeatMs);
  let timer: NodeJS.Timeout;
  let released = false;
  let aliveAt = performance.now();

  const beat = async (): Promise<void> => {
    const at = performance.now();
    try {
      check(await db.run((executor) => lease.beat(executor)));
      aliveAt = at;
    } catch (error) {
      if (released) return;
      if (error instanceof RunEnded) abort.abort(error);
      else log.warn({ run_id: lease.id, error: messageOf(error) }, 'a heartbeat failed');
      if (performance.now() - aliveAt > lease.leaseSeconds * 1_000) end('lost');
    }
    // A run that was ended by its time or by a stop still holds its lease until it has stored that.
    if (!released) timer = setTimeout(beat, everyMs);
  };
  timer = setTimeout(beat, everyMs);

  return {
    signal: abort.signal,
    end,
    store: async (fn) => {
      try {
        return await db.tx(async (tx) => {
          check(await lease.beat(tx));
          return fn(tx);
        });
      } catch (error) {
        if (error instanceof RunEnded) abort.abort(error);
        throw error;
      }
    },
    release: () => {
      released = true;
      clearTimeout(timer);
    },
  };
};

/** `promise`, or a rejection as soon as `signal` is aborted: for work that may not listen to the signal itself. */
export const orAborted = <T>(promise: Promise<T>, signal: AbortSignal): Promise<T> =>
  new Promise((resolve, reject) => {
    const aborted = () => reject(signal.reason);
    if (signal.aborted) aborted();
    signal.addEventListener('abort', aborted, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', aborted));
  });
