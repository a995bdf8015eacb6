import { hostname } from 'node:os';
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { findPrincipalKind, findRootId } from '../access/index.ts';
import type { Database, Tx } from '../database/index.ts';
import { actFor, actInRun } from '../lib/acting-for.ts';
import { messageOf } from '../lib/errors.ts';
import type { Logger } from '../lib/log.ts';
import { Loop, type LoopPass } from '../lib/loop.ts';
import type { Principal } from '../lib/principal.ts';
import { withTimeout } from '../lib/with-timeout.ts';
import type { LlmConfigurations } from '../llm-configurations/index.ts';
import type { Claimer, RunRow, Runs } from '../runs/index.ts';
import type { CurrentSettings } from '../settings/index.ts';
import type { Tracing } from '../telemetry/index.ts';
import { createReads } from './reads.ts';
import { type RunDeps, runAttempt } from './run.ts';
import type { Run } from './run-store.ts';

/** One kind of run, as a worker finds and runs it. */
export interface WorkSource<Row extends RunRow> {
  /** Name for the loop, spans and logs: `work items`. */
  name: string;
  runs: Pick<Runs<Row>, 'recoverExpired' | 'lookForWork' | 'sleepAfter'> & {
    claim(tx: Tx, claimer: Claimer & { limit: number }): Promise<readonly Row[]>;
  };
  /** Is notified when something may be claimed. */
  channel: string;
  /** Is notified of a cancel; the payload is the id of the run. */
  cancelsChannel: string;
  /** Returns the number of runs that this replica may have at once. Read before each claim. */
  limit(): number;
  /** Begins to hold the lease. */
  hold(claimed: Row, leaseSeconds: number): Run<Row['status']>;
  /** Runs what was claimed, by attempts of its own. Absent: one attempt, which is the claimed run. */
  perform?(
    run: Run<Row['status']>,
    attempt: <S>(run: Run<S>) => Promise<S | null>,
  ): Promise<Row['status'] | null>;
  /** A run left its execution with this status. */
  onFinished?: ((status: Row['status']) => void) | undefined;
}

export interface WorkerDeps extends Omit<RunDeps, 'reads'> {
  db: Database;
  llms: Pick<LlmConfigurations, 'resolve'>;
  log: Logger;
  settings: CurrentSettings;
  tracing: Tracing;
  /** Time that runs may continue after a stop before they are released, in milliseconds. */
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
 * The pause after a claim that found nothing, though something is due: this many times as long as it took, at most
 * `maxMs`. Work Items of external workers, and those over the limit of their agent, are due all the time, and in a storm
 * of events each commit would wake a worker that finds nothing: half of the database's work then.
 */
const afterNothing = { factor: 4, maxMs: 100 };

/**
 * A worker that is full, or that finds as much as it asks for, is woken with each end of a run: it looks for expired leases
 * at most this often then.
 */
const lookEveryMs = 500;

/** A stop does not wait longer for a tick that is blocked on an unreachable database. */
const tickWithinMs = 3_000;
/** Limit of the release; the leases of runs that are not released by then expire. */
const releaseWithinMs = 6_000;

/** Waits for `promise`, but no longer than `milliseconds`. */
const atMost = (promise: Promise<unknown>, milliseconds: number): Promise<unknown> =>
  withTimeout(promise, milliseconds).catch(() => {});

/** The loop of one replica: claims runs, runs them concurrently, takes over from workers that were lost. */
export const createWorker = <Row extends RunRow>(deps: WorkerDeps, source: WorkSource<Row>): Worker => {
  type Status = Row['status'];
  const { runs } = source;
  const owner = `${hostname()}:${process.pid}`;
  const { db, log, settings, tracing, graceMs = 5_000 } = deps;
  const runDeps: RunDeps = { ...deps, reads: createReads(db, deps.llms) };
  const running = new Map<Run<Status>, Promise<void>>();
  let releasing = false;

  const kinds = new LRUCache<string, Promise<Principal['kind']>>({ max: 10_000 });
  /** Who asked for a run. Of each id the kind is read once, because it never changes. */
  const principalOf = async (id: string): Promise<Pick<Principal, 'kind' | 'id'>> => {
    let kind = kinds.get(id);
    if (!kind) {
      kind = db.run((executor) => findPrincipalKind(executor, id));
      kinds.set(id, kind);
      kind.catch(() => kinds.delete(id));
    }
    return { kind: await kind, id };
  };

  const attempt = async (run: Run<Status>): Promise<void> => {
    try {
      let root: Promise<string> | undefined;
      const acting = {
        root: () => (root ??= db.run((executor) => findRootId(executor, run.createdBy))),
        who: () => principalOf(run.createdBy),
      };
      const perform = () =>
        source.perform ? source.perform(run, (one) => runAttempt(runDeps, one)) : runAttempt(runDeps, run);
      const status = await actFor(acting, () => actInRun(run.acting, perform));
      if (status !== null) source.onFinished?.(status);
    } catch (error) {
      log.error(
        { run_id: run.id, error: messageOf(error) },
        'the end of an attempt was not stored; its lease will expire',
      );
    }
  };

  const begin = (claimed: Row, leaseSeconds: number): void => {
    const run = source.hold(claimed, leaseSeconds);
    if (releasing) run.held.end('stopped');
    const done = attempt(run).finally(() => {
      running.delete(run);
      loop.wake();
    });
    running.set(run, done);
  };

  /** The last look, and when the next is due even without a wake-up; by performance.now(). */
  let lookedAt = Number.NEGATIVE_INFINITY;
  let nextAt = 0;
  /** The last claim got as much as it asked for, so there may be more. */
  let foundAll = false;

  const look = async () => {
    const ahead = await db.run(runs.lookForWork);
    lookedAt = performance.now();
    nextAt = lookedAt + runs.sleepAfter(ahead);
    return ahead;
  };

  const tick = async (signal: AbortSignal): Promise<number | null> => {
    // Runs that end in the same batch make room together.
    await setImmediate();
    const leaseSeconds = settings.get().WORK_ITEM_LEASE_SECONDS;
    const limit = source.limit() - running.size;
    const begun = performance.now();
    const recentUntil = Math.min(lookedAt + lookEveryMs, nextAt);
    const isRecent = begun < recentUntil;
    if (isRecent && limit <= 0) return recentUntil - begun;
    const looks = !(isRecent && foundAll);
    const ahead = looks ? await look() : { isDue: true, nextIn: null };
    foundAll = false;
    const recovered = await runs.recoverExpired(db, ahead);
    for (const { id, status } of recovered) {
      log.warn({ run_id: id, status }, `${source.name}: taken from a worker that was lost`);
      source.onFinished?.(status);
    }
    let claimed: readonly Row[] = [];
    if (limit > 0 && (ahead.isDue || recovered.length > 0) && !signal.aborted) {
      const claiming = performance.now();
      claimed = await tracing.withSpan(`claim ${source.name}`, { application: true }, (span) =>
        db.tx(async (tx) => {
          const rows = await runs.claim(tx, { owner, limit, leaseSeconds });
          span.setAttribute(`agent_platform.${source.name.replaceAll(' ', '_')}.claimed`, rows.length);
          return rows;
        }),
      );
      // Outside the span: each run is a trace of its own.
      for (const one of claimed) begin(one, leaseSeconds);
      foundAll = claimed.length === limit;
      if (claimed.length === 0 && looks) {
        const pauseMs = Math.min(afterNothing.factor * (performance.now() - claiming), afterNothing.maxMs);
        await sleep(pauseMs, undefined, { signal }).catch(() => {});
      }
    }
    if (foundAll) nextAt = Math.min(nextAt, performance.now() + leaseSeconds * 1_000);
    else if (!looks || recovered.length > 0 || claimed.length > 0) await look();
    return Math.max(0, nextAt - performance.now());
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
