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
  /** How long runs may continue after a stop before they are released, in milliseconds. */
  graceMs?: number;
}

export interface Worker {
  /** Listens for notifications, before any worker starts. */
  listen(): void;
  start(): void;
  /** Claims no more, lets runs finish for a moment, then releases the others: within 20 s. */
  stop(): Promise<void>;
}

/**
 * The longest time between two looks at what is due, in case a notification was lost. A look costs a few milliseconds.
 */
const longestSleepMs = 60_000;
/** How soon a lease that has expired is looked at again if another transaction has locked its row. */
const retryMs = 100;
const recoverAtOnce = 100;
/** A stop does not wait longer for a tick that is blocked on an unreachable database. */
const tickWithinMs = 3_000;
/** After the release began; the leases of what is not released by then expire. */
const releaseWithinMs = 6_000;

/** Waits for `promise`, but no longer than `milliseconds`. */
const atMost = (promise: Promise<unknown>, milliseconds: number): Promise<unknown> =>
  withTimeout(promise, milliseconds).catch(() => {});

/** The loop of one replica: claims Work Items, runs them concurrently, takes over from workers that were lost. */
export const createWorker = (deps: WorkerDeps): Worker => {
  const { db, log, settings, tracing, graceMs = 5_000 } = deps;
  const owner = `${hostname()}:${process.pid}`;
  const running = new Map<string, { held: HeldLease; done: Promise<void> }>();
  let releasing = false;

  const run = async (item: WorkItem, held: HeldLease): Promise<void> => {
    try {
      const status = await runWorkItem(deps, item, held);
      if (status) deps.onFinished?.(status);
    } catch (error) {
      log.error(
        { work_item_id: item.id, error: messageOf(error) },
        'the end of an attempt was not stored; its lease will expire',
      );
    }
  };

  const begin = (item: WorkItem, leaseSeconds: number): void => {
    const held = holdLease(db, log, { id: item.id, fencing: item.fencing, leaseSeconds });
    if (releasing) held.end('stopped');
    const key = `${item.id} ${item.fencing}`;
    const done = run(item, held).finally(() => {
      running.delete(key);
      loop.wake();
    });
    running.set(key, { held, done });
  };

  const tick = async (signal: AbortSignal): Promise<number | null> => {
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
      // Outside the span: each run is a trace of its own.
      for (const item of claimed) begin(item, leaseSeconds);
    }
    const next = await db.run(nextWorkIn);
    return Math.min(longestSleepMs, Math.max(retryMs, next ?? longestSleepMs));
  };
  const loop = new Loop({ name: 'worker', log, tick });
  settings.onChange(() => loop.wake());

  return {
    listen: () => {
      db.listen(workItemsChannel, () => loop.wake());
      db.listen(cancelsChannel, (id) => {
        for (const [key, { held }] of running) if (id && key.startsWith(`${id} `)) held.end('cancelled');
      });
    },
    start: () => void loop.start(),
    stop: async () => {
      const all = () => Promise.all([...running.values()].map(({ done }) => done));
      await atMost(loop.stop(), tickWithinMs);
      await atMost(all(), graceMs);
      releasing = true;
      for (const { held } of running.values()) held.end('stopped');
      await atMost(all(), releaseWithinMs);
      for (const { held } of running.values()) held.release();
    },
  };
};
