import { findRootId } from '../access/index.ts';
import type { Database, Executor, Tx } from '../database/index.ts';
import { actFor } from '../lib/acting-for.ts';
import { messageOf } from '../lib/errors.ts';
import type { Logger } from '../lib/log.ts';
import { Loop, type LoopPass } from '../lib/loop.ts';
import { withTimeout } from '../lib/with-timeout.ts';
import type { LlmConfigurations } from '../llm-configurations/index.ts';
import type { CurrentSettings } from '../settings/index.ts';
import type { Tracing } from '../telemetry/index.ts';
import { createReads } from './reads.ts';
import { type RunDeps, runAttempt } from './run.ts';
import type { Run } from './run-store.ts';

/** Where a worker finds what it runs: the tables of one kind of run, with leases and fencing tokens. */
export interface WorkSource<Claimed, Status> {
  /** For the loop, spans and logs: `work items`. */
  name: string;
  /** Is notified when something may be claimed. */
  channel: string;
  /** Is notified of a cancel; the payload is the id of the run. */
  cancelsChannel: string;
  /** How many this replica may run at once. Read before each claim. */
  limit(): number;
  leaseSeconds(): number;
  /** Takes runs from workers that were lost, at most `limit`. Returns what became of them. */
  recover(tx: Tx, limit: number): Promise<readonly { id: string; status: Status }[]>;
  claim(tx: Tx, limit: number, leaseSeconds: number): Promise<readonly Claimed[]>;
  /**
   * Whether something may be claimed, and milliseconds until a retry is due or a lease expires; 0 if one has expired;
   * null if there is neither. One statement: most ticks find nothing to do.
   */
  look(executor: Executor): Promise<{ isDue: boolean; nextIn: number | null }>;
  /** Begins to hold the lease. */
  hold(claimed: Claimed, leaseSeconds: number): Run<Status>;
  /** A run left its execution with this status. */
  onFinished?: ((status: Status) => void) | undefined;
}

export interface WorkerDeps extends Omit<RunDeps, 'reads'> {
  db: Database;
  llms: Pick<LlmConfigurations, 'resolve'>;
  log: Logger;
  settings: CurrentSettings;
  tracing: Tracing;
  /** How long runs may continue after a stop before they are released, in milliseconds. */
  graceMs?: number | undefined;
}

export interface Worker {
  /** Listens for notifications, before any worker starts. */
  listen(): void;
  start(): void;
  pass(): LoopPass;
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

/** The loop of one replica: claims runs, runs them concurrently, takes over from workers that were lost. */
export const createWorker = <Claimed, Status>(
  deps: WorkerDeps,
  source: WorkSource<Claimed, Status>,
): Worker => {
  const { db, log, settings, tracing, graceMs = 5_000 } = deps;
  const runDeps: RunDeps = { ...deps, reads: createReads(db, deps.llms) };
  const running = new Map<Run<Status>, Promise<void>>();
  let releasing = false;

  const attempt = async (run: Run<Status>): Promise<void> => {
    try {
      let root: Promise<string> | undefined;
      const rootOf = () => (root ??= db.run((executor) => findRootId(executor, run.createdBy)));
      const status = await actFor(rootOf, () => runAttempt(runDeps, run));
      if (status !== null) source.onFinished?.(status);
    } catch (error) {
      log.error(
        { run_id: run.id, error: messageOf(error) },
        'the end of an attempt was not stored; its lease will expire',
      );
    }
  };

  const begin = (claimed: Claimed, leaseSeconds: number): void => {
    const run = source.hold(claimed, leaseSeconds);
    if (releasing) run.held.end('stopped');
    const done = attempt(run).finally(() => {
      running.delete(run);
      loop.wake();
    });
    running.set(run, done);
  };

  const tick = async (signal: AbortSignal): Promise<number | null> => {
    const leaseSeconds = source.leaseSeconds();
    const look = () => db.run((executor) => source.look(executor));
    let ahead = await look();
    const recovered = ahead.nextIn === 0 ? await db.tx((tx) => source.recover(tx, recoverAtOnce)) : [];
    for (const { id, status } of recovered) {
      log.warn({ run_id: id, status }, `${source.name}: taken from a worker that was lost`);
      source.onFinished?.(status);
    }
    const limit = source.limit() - running.size;
    let claimed: readonly Claimed[] = [];
    if (limit > 0 && (ahead.isDue || recovered.length > 0) && !signal.aborted) {
      claimed = await tracing.withSpan(`claim ${source.name}`, { application: true }, (span) =>
        db.tx(async (tx) => {
          const runs = await source.claim(tx, limit, leaseSeconds);
          span.setAttribute(`agent_platform.${source.name.replaceAll(' ', '_')}.claimed`, runs.length);
          return runs;
        }),
      );
      // Outside the span: each run is a trace of its own.
      for (const one of claimed) begin(one, leaseSeconds);
    }
    if (recovered.length > 0 || claimed.length > 0) ahead = await look();
    return Math.min(longestSleepMs, Math.max(retryMs, ahead.nextIn ?? longestSleepMs));
  };
  const loop = new Loop({ name: `worker of ${source.name}`, log, tick });
  settings.onChange(() => loop.wake());

  return {
    listen: () => {
      db.listen(source.channel, () => loop.wake());
      db.listen(source.cancelsChannel, (id) => {
        for (const run of running.keys()) if (run.id === id) run.held.end('cancelled');
      });
    },
    start: () => void loop.start(),
    pass: () => loop.pass(),
    stop: async () => {
      const all = () => Promise.all(running.values());
      await atMost(loop.stop(), tickWithinMs);
      await atMost(all(), graceMs);
      releasing = true;
      for (const { held } of running.keys()) held.end('stopped');
      await atMost(all(), releaseWithinMs);
      for (const { held } of running.keys()) held.release();
    },
  };
};
