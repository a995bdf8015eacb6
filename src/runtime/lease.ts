import type { Database, Tx } from '../database/index.ts';
import { messageOf } from '../lib/errors.ts';
import type { Logger } from '../lib/log.ts';
import { heartbeat, type Lease } from '../work-items/index.ts';

/** Why a run ends before its work is done. */
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

/** A Work Item while this replica has it. */
export interface HeldLease {
  readonly lease: Lease & { leaseSeconds: number };
  /** Aborted with a RunEnded: once it is, nothing more is begun. */
  readonly signal: AbortSignal;
  end(reason: EndReason): void;
  /** One transaction that only the bearer of the lease can commit. Throws RunEnded where it is lost or cancelled. */
  store<T>(fn: (tx: Tx) => Promise<T>): Promise<T>;
  /** Ends the heartbeat. */
  release(): void;
}

/** The longest time between two heartbeats: a cancel whose notification was lost is carried out within 30 s all the same. */
const longestBeatMs = 10_000;

/**
 * Keep the lease of a Work Item: a heartbeat at a third of it, by which a cancel or a loss is heard of as well.
 * Where the database does not answer for a whole lease, it is taken for lost: another worker may have it by then.
 */
export const holdLease = (db: Database, log: Logger, lease: HeldLease['lease']): HeldLease => {
  const abort = new AbortController();
  const end = (reason: EndReason): void => abort.abort(new RunEnded(reason));
  const everyMs = Math.min((lease.leaseSeconds * 1_000) / 3, longestBeatMs);
  let timer: NodeJS.Timeout;
  let released = false;
  let aliveAt = performance.now();

  const heed = ({ alive, cancelRequested }: { alive: boolean; cancelRequested: boolean }): void => {
    if (!alive) throw new RunEnded('lost');
    if (cancelRequested) throw new RunEnded('cancelled');
  };
  const beat = async (): Promise<void> => {
    const at = performance.now();
    try {
      heed(await db.run((executor) => heartbeat(executor, lease)));
      aliveAt = at;
    } catch (error) {
      if (released) return;
      if (error instanceof RunEnded) abort.abort(error);
      else log.warn({ work_item_id: lease.id, error: messageOf(error) }, 'a heartbeat failed');
      if (performance.now() - aliveAt > lease.leaseSeconds * 1_000) end('lost');
    }
    // A run that was ended by its time or a stop still holds its lease until it has said so.
    if (!released) timer = setTimeout(beat, everyMs);
  };
  timer = setTimeout(beat, everyMs);

  return {
    lease,
    signal: abort.signal,
    end,
    store: async (fn) => {
      try {
        return await db.tx(async (tx) => {
          heed(await heartbeat(tx, lease));
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

/** `promise`, or a rejection as soon as `signal` is aborted: for what may not listen to it itself. */
export const orAborted = <T>(promise: Promise<T>, signal: AbortSignal): Promise<T> =>
  new Promise((resolve, reject) => {
    const aborted = () => reject(signal.reason);
    if (signal.aborted) aborted();
    signal.addEventListener('abort', aborted, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', aborted));
  });
