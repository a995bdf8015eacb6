import { hostname } from 'node:os';
import { messageOf } from '../lib/errors.ts';
import { Loop } from '../lib/loop.ts';
import { withTimeout } from '../lib/with-timeout.ts';
import {
  cancelsChannel,
  claimWorkItems,
  nextWorkIn,
  recoverLost,
  type WorkItem,
  workItemsChannel,
} from '../work-items/index.ts';
import { type HeldLease, holdLease } from './lease.ts';
import { type RunDeps, runWorkItem } from './run.ts';

export interface WorkerDeps extends RunDeps {
  /** A Work Item left EXECUTING with this status. */
  onFinished?: (status: WorkItem['status']) => void;
  /** How long runs may go on after a stop before they are handed back, in milliseconds. */
  graceMs?: number;
}

export interface Worker {
  start(): void;
  /** Take no more, let what is nearly done finish, hand the rest back: within 20 s. */
  stop(): Promise<void>;
}

/** A safety net below the notifications: a look at what is due costs well under a millisecond. */
const lookAgainMs = 60_000;
/** Where a row that is due is held by another transaction, it is looked for again after this. */
const soonMs = 100;
const recoverAtOnce = 100;
/** A turn that waits for a database that is away is not waited for. */
const turnWithinMs = 3_000;
/** After the hand-back began; what is not done by then is left to the leases. */
const handBackWithinMs = 6_000;

/** Wait for `promise`, but no longer than `milliseconds`. */
const atMost = (promise: Promise<unknown>, milliseconds: number): Promise<unknown> =>
  withTimeout(promise, milliseconds).catch(() => {});

/** The loop of one replica: claims Work Items, runs them side by side, takes over from workers that were lost. */
export const createWorker = (deps: WorkerDeps): Worker => {
  const { db, log, settings, tracing, graceMs = 5_000 } = deps;
  const owner = `${hostname()}:${process.pid}`;
  const running = new Map<string, { held: HeldLease; done: Promise<void> }>();
  let handingBack = false;

  const run = async (item: WorkItem, held: HeldLease): Promise<void> => {
    try {
      const status = await runWorkItem(deps, item, held);
      if (status) deps.onFinished?.(status);
    } catch (error) {
      log.error(
        { work_item_id: item.id, error: messageOf(error) },
        'the end of an attempt was not stored; its lease will run out',
      );
    }
  };

  const begin = (item: WorkItem, leaseSeconds: number): void => {
    const held = holdLease(db, log, { id: item.id, fencing: item.fencing, leaseSeconds });
    if (handingBack) held.end('stopped');
    const key = `${item.id} ${item.fencing}`;
    const done = run(item, held).finally(() => {
      running.delete(key);
      loop.wake();
    });
    running.set(key, { held, done });
  };

  const turn = async (signal: AbortSignal): Promise<number | null> => {
    const { MAX_CONCURRENT_WORK_ITEMS, WORK_ITEM_LEASE_SECONDS: leaseSeconds } = settings.get();
    const recovered = await db.tx((tx) => recoverLost(tx, recoverAtOnce));
    for (const { id, status } of recovered) {
      log.warn({ work_item_id: id, status }, 'a Work Item was taken from a worker that was lost');
      deps.onFinished?.(status);
    }
    const limit = MAX_CONCURRENT_WORK_ITEMS - running.size;
    if (limit > 0 && !signal.aborted) {
      const claimed = await tracing.withSpan('claim work items', { application: true }, (span) =>
        db.tx(async (tx) => {
          const items = await claimWorkItems(tx, { owner, limit, leaseSeconds });
          span.setAttribute('agent_platform.work_items.claimed', items.length);
          return items;
        }),
      );
      // Outside of the span: each run is a trace of its own.
      for (const item of claimed) begin(item, leaseSeconds);
    }
    const next = await db.run(nextWorkIn);
    return Math.min(lookAgainMs, Math.max(soonMs, next ?? lookAgainMs));
  };
  const loop = new Loop({ name: 'worker', log, tick: turn });

  // Before anything runs: on the embedded database a LISTEN inside another's transaction could be rolled back.
  db.listen(workItemsChannel, () => loop.wake());
  db.listen(cancelsChannel, (id) => {
    for (const [key, { held }] of running) if (id && key.startsWith(`${id} `)) held.end('cancelled');
  });
  settings.onChange(() => loop.wake());

  return {
    start: () => void loop.start(),
    stop: async () => {
      const all = () => Promise.all([...running.values()].map(({ done }) => done));
      await atMost(loop.stop(), turnWithinMs);
      await atMost(all(), graceMs);
      handingBack = true;
      for (const { held } of running.values()) held.end('stopped');
      await atMost(all(), handBackWithinMs);
      for (const { held } of running.values()) held.release();
    },
  };
};
