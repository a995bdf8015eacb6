import type { Session } from './engines/engine.ts';
import type { OpenSession } from './engines/index.ts';
import { Progress } from './engines/progress.ts';
import { Pool } from './pool.ts';
import type { OpenedConnection } from './settings.ts';

const openWithinMs = 10_000;

/** The pools of all data connections on this replica. */
export class Pools {
  readonly #open: OpenSession;
  readonly #max: () => number;
  readonly #pools = new Map<string, { revision: number; pool: Pool }>();

  /** `max`: how many sessions each connection may have now. */
  constructor(open: OpenSession, max: () => number) {
    this.#open = open;
    this.#max = max;
  }

  /**
   * Runs `fn` with a session of the connection. Rejects with ConnectionFailure, or with 503 if none is free within 30 s.
   */
  use<T>(connection: OpenedConnection, fn: (session: Session) => Promise<T>): Promise<T> {
    return this.#poolOf(connection).use(fn);
  }

  #poolOf({ row: { id, revision }, settings }: OpenedConnection): Pool {
    const present = this.#pools.get(id);
    if (present && present.revision === revision) return present.pool;
    const pool = new Pool(() => this.#open(settings, new Progress(openWithinMs)), this.#max);
    // A request that read the row before an edit must not bring the former settings back.
    if (present && present.revision > revision) {
      pool.close();
      return pool;
    }
    present?.pool.close();
    this.#pools.set(id, { revision, pool });
    return pool;
  }

  /** Closes the sessions of a connection that was edited or deleted. */
  close(id: string): void {
    this.#pools.get(id)?.pool.close();
    this.#pools.delete(id);
  }

  closeAll(): void {
    for (const id of [...this.#pools.keys()]) this.close(id);
  }
}
