import { auditRefusal } from './audit/index.ts';
import type { Services } from './feature.ts';
import { messageOf } from './lib/errors.ts';
import { Loop } from './lib/loop.ts';
import type { Actor } from './lib/principal.ts';

/** For how long equal refusals of a principal are counted before the log gets their number. */
const windowMs = 60_000;

/**
 * The number of paths of a principal that are told apart in one window. After that, refusals are counted by operation
 * alone.
 */
const mostPaths = 50;

const anyPath = '*';

/** Refusals of one operation at one path, or at any path, to one principal. */
interface Group {
  /** The last one. */
  actor: Actor;
  operation: string;
  path: string;
  /** The number that came after the first, which has an entry of its own. */
  further: number;
  firstAt: number;
  lastAt: number;
}

interface Window {
  endsAt: number;
  groups: Map<string, Group>;
}

/**
 * Writes requests that were refused for their role or scope to the audit log; no response waits for it. The first of
 * equal ones is an entry at once. Those of the minute after it are one entry with their `count`, because anyone with a
 * key could otherwise write thousands of entries a second, which are kept for years. The window of one replica knows
 * nothing of the others. A process that is killed loses the counts of its last minute, and no first entry.
 */
export class Refusals {
  readonly #services: Pick<Services, 'db' | 'log' | 'clock'>;
  readonly #windows = new Map<string, Window>();
  /** The groups that are to be written; each is kept until it is. */
  #ended: Group[] = [];
  readonly #loop: Loop;

  constructor(services: Pick<Services, 'db' | 'log' | 'clock'>) {
    this.#services = services;
    this.#loop = new Loop({ name: 'refusals', log: services.log, tick: () => this.#tick() });
  }

  /** Records one. Called on the path of the request: it returns at once and does not throw. */
  readonly record = (actor: Actor, { operation, path }: { operation: string; path: string }): void => {
    const now = this.#services.clock.now();
    const { id } = actor.principal;
    let window = this.#windows.get(id);
    if (!window || window.endsAt <= now) {
      if (window) this.#end(window);
      window = { endsAt: now + windowMs, groups: new Map() };
      this.#windows.set(id, window);
      // Its tick finds when the next window ends.
      this.#loop.wake();
    }
    const { groups } = window;
    const exact = `${operation} ${path}`;
    const key = groups.has(exact) || groups.size < mostPaths ? exact : `${operation} ${anyPath}`;
    const group = groups.get(key);
    if (group) {
      Object.assign(group, { actor, further: group.further + 1, lastAt: now });
      return;
    }
    const told = key === exact;
    const further = told ? 0 : 1;
    groups.set(key, { actor, operation, path: told ? path : anyPath, further, firstAt: now, lastAt: now });
    if (told) this.#writeFirst(actor, operation, path);
  };

  start(): void {
    this.#loop.start();
  }

  pass() {
    return this.#loop.pass();
  }

  /** Ends all windows, whatever their time, and writes their counts. */
  async stop(): Promise<void> {
    await this.#loop.stop();
    for (const window of this.#windows.values()) this.#end(window);
    this.#windows.clear();
    await this.#write().catch((error) => this.#notWritten(error));
  }

  #notWritten(error: unknown): void {
    this.#services.log.error({ error: messageOf(error) }, 'a refusal could not be written to the audit log');
  }

  #writeFirst(actor: Actor, operation: string, path: string): void {
    this.#services.db
      .tx((tx) => auditRefusal(tx, actor, operation, path))
      .catch((error) => this.#notWritten(error));
  }

  #end({ groups }: Window): void {
    this.#ended.push(...[...groups.values()].filter(({ further }) => further > 0));
  }

  async #tick(): Promise<number | null> {
    const now = this.#services.clock.now();
    for (const [id, window] of this.#windows) {
      if (window.endsAt > now) continue;
      this.#windows.delete(id);
      this.#end(window);
    }
    await this.#write();
    const next = Math.min(...[...this.#windows.values()].map(({ endsAt }) => endsAt));
    return this.#windows.size === 0 ? null : Math.max(1, next - now);
  }

  async #write(): Promise<void> {
    const groups = this.#ended;
    if (groups.length === 0) return;
    this.#ended = [];
    try {
      await this.#services.db.tx(async (tx) => {
        for (const { actor, operation, path, further, firstAt, lastAt } of groups) {
          await auditRefusal(tx, actor, operation, path, {
            count: further,
            first_at: new Date(firstAt).toISOString(),
            last_at: new Date(lastAt).toISOString(),
          });
        }
      });
    } catch (error) {
      this.#ended.push(...groups);
      throw error;
    }
  }
}
