import { unavailable } from '../lib/errors.ts';
import type { Session } from './engines/engine.ts';
import { ConnectionFailure } from './engines/failures.ts';

const idleMs = 60_000;
const waitMs = 30_000;

interface Waiter {
  /** There is room: take an idle session, or open one. */
  proceed: () => void;
  fail: (error: Error) => void;
}

/** The sessions of one data connection on this replica, opened on demand. Each is used by one caller at a time. */
export class Pool {
  readonly #open: () => Promise<Session>;
  readonly #max: () => number;
  readonly #idle: { session: Session; timer: NodeJS.Timeout }[] = [];
  readonly #waiting: Waiter[] = [];
  /** Sessions in use or being opened. */
  #used = 0;
  #closed = false;

  /** `max` is how many sessions there may be at once, now. */
  constructor(open: () => Promise<Session>, max: () => number) {
    this.#open = open;
    this.#max = max;
  }

  /**
   * Runs `fn` with a session. Waits at most 30 s for one, then throws 503. A session that its server closed while it was
   * idle is replaced once: reading twice does no harm.
   */
  async use<T>(fn: (session: Session) => Promise<T>): Promise<T> {
    const reused = this.#takeIdle() ?? (await this.#room());
    if (!reused) return this.#run(await this.#opened(), fn);
    try {
      return await this.#run(reused, fn);
    } catch (error) {
      if (!(error instanceof ConnectionFailure)) throw error;
    }
    const session = this.#takeIdle() ?? (await this.#room()) ?? (await this.#opened());
    return this.#run(session, fn);
  }

  /** Closes what is idle now, and what is in use when it is released. */
  close(): void {
    this.#closed = true;
    for (const { session, timer } of this.#idle.splice(0)) {
      clearTimeout(timer);
      session.close();
    }
  }

  #takeIdle(): Session | undefined {
    for (;;) {
      const idle = this.#idle.pop();
      if (!idle) return undefined;
      clearTimeout(idle.timer);
      if (!idle.session.broken) {
        this.#used++;
        return idle.session;
      }
    }
  }

  /** Takes room for one session. Resolves to an idle one if there is one by then. */
  async #room(): Promise<Session | undefined> {
    const deadline = Date.now() + waitMs;
    while (this.#used >= this.#max()) {
      await this.#wait(deadline);
      const idle = this.#takeIdle();
      if (idle) return idle;
    }
    this.#used++;
    return undefined;
  }

  #wait(deadline: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const settle = (): void => {
        clearTimeout(timer);
        const at = this.#waiting.indexOf(waiter);
        if (at !== -1) this.#waiting.splice(at, 1);
      };
      const waiter: Waiter = {
        proceed: () => {
          settle();
          resolve();
        },
        fail: (error) => {
          settle();
          reject(error);
        },
      };
      const timer = setTimeout(
        () => waiter.fail(unavailable('All sessions of the data connection are in use. Try again later.', 5)),
        deadline - Date.now(),
      );
      this.#waiting.push(waiter);
    });
  }

  async #opened(): Promise<Session> {
    try {
      return await this.#open();
    } catch (error) {
      this.#used--;
      this.#waiting[0]?.proceed();
      throw error;
    }
  }

  async #run<T>(session: Session, fn: (session: Session) => Promise<T>): Promise<T> {
    try {
      return await fn(session);
    } finally {
      this.#release(session);
    }
  }

  #release(session: Session): void {
    this.#used--;
    if (session.broken || this.#closed || this.#used + this.#idle.length >= this.#max()) session.close();
    else {
      const idle = {
        session,
        timer: setTimeout(() => {
          this.#idle.splice(this.#idle.indexOf(idle), 1);
          session.close();
        }, idleMs),
      };
      idle.timer.unref();
      this.#idle.push(idle);
    }
    this.#waiting[0]?.proceed();
  }
}
