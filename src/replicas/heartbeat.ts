import { hostname } from 'node:os';
import type { Database } from '../database/index.ts';
import { messageOf } from '../lib/errors.ts';
import { newId } from '../lib/ids.ts';
import type { Logger } from '../lib/log.ts';
import { Loop, type LoopPass } from '../lib/loop.ts';
import { version } from '../lib/version.ts';
import { withTimeout } from '../lib/with-timeout.ts';
import { type Beat, type OutageCause, upsertBeat } from './store.ts';

const everyMs = 5_000;
const againMs = 1_000;
/** The last heartbeat, which says that the replica was stopped, may take this long. */
const lastWithinMs = 2_000;

interface HeartbeatParts {
  db: Database;
  log: Logger;
  /** The clock of this machine. */
  clock: { now(): number };
  roles: readonly string[];
  /** Returns the last passes of the loops of this replica. */
  loops: () => readonly LoopPass[];
  /** Returns the last pass of its firing loop; null on a replica that does not schedule. */
  firing: () => LoopPass | null;
  /** Returns the telemetry log of the replica, which replicas may share. */
  telemetryLog: () => { id: string; bytes: number };
}

/** Writes every few seconds that this replica is alive, and what its loops do. */
export class Heartbeat {
  readonly id = newId();
  readonly #parts: HeartbeatParts;
  readonly #loop: Loop;
  /** Time, by the clock that no one sets, of the last record that this replica is scheduling; null before. */
  #schedulingAt: number | null = null;
  #skewMs: number | null = null;
  /** Cause that has kept the replica from scheduling since then. */
  #cause: OutageCause | null = null;

  constructor(parts: HeartbeatParts) {
    this.#parts = parts;
    this.#loop = new Loop({
      name: 'heartbeat',
      log: parts.log,
      maxRetryMs: 2_000,
      tick: async () => {
        // Soon again while it is not scheduling, so that the end of an outage is exact.
        return (await this.#beat(false)) ? everyMs : againMs;
      },
    });
  }

  start(): void {
    this.#loop.start();
  }

  /** Writes that the replica was stopped, unless the database does not respond within seconds. */
  async stop(): Promise<void> {
    const ended = this.#loop.stop().then(() => this.#beat(true));
    await withTimeout(ended, lastWithinMs).catch((error) =>
      this.#parts.log.warn({ error: messageOf(error) }, 'the stop of this replica is not recorded'),
    );
  }

  pass(): LoopPass {
    return this.#loop.pass();
  }

  /** Returns whether nothing keeps this replica from its work. */
  async #beat(stopping: boolean): Promise<boolean> {
    const { db, clock, roles, loops, firing, telemetryLog } = this.#parts;
    const begun = performance.now();
    const wall = clock.now();
    const pass = firing();
    const scheduling = pass !== null && pass.error === null;
    if (pass && !scheduling) this.#cause ??= 'firing';
    const ran = this.#schedulingAt !== null;
    const beat: Beat = {
      id: this.id,
      name: hostname(),
      roles: [...roles],
      version,
      clock_skew_ms: this.#skewMs,
      loops: [...loops()],
      telemetry_log: telemetryLog(),
      scheduling,
      stopping,
      elapsed_ms: ran ? begun - this.#schedulingAt! : null,
      cause: this.#cause ?? (ran ? 'stalled' : null),
    };
    try {
      const now = await db.run((executor) => upsertBeat(executor, beat));
      this.#skewMs = Math.round(wall + (performance.now() - begun) / 2 - now);
    } catch (error) {
      this.#cause = 'database';
      throw error;
    }
    if (scheduling) {
      this.#cause = null;
      this.#schedulingAt = begun;
    }
    return scheduling || pass === null;
  }
}
