import type { AuthProvider, PriorDiscovery } from '@modelcontextprotocol/client';
import { LRUCache } from 'lru-cache';
import type { Clock } from '../../lib/clock.ts';
import { Semaphore } from '../../lib/semaphore.ts';
import type { ToolServerRow } from '../store.ts';

/** Time for which the protocol of a server is not negotiated again, in milliseconds. */
const verdictMs = 3_600_000;

/** Memory of this process for a server between its connections. It holds for one version of the server's settings. */
interface Remembered {
  settings: string;
  verdict: { prior: PriorDiscovery; at: number } | null;
  tokens: AuthProvider | null;
}

/** Time for which one call at a time is made to a server that asked for input while several were in flight, in milliseconds. */
const oneAtATimeMs = 3_600_000;

interface Calls {
  atOnce: number;
  semaphore: Semaphore;
  /** Those in progress. */
  running: Set<Promise<unknown>>;
}

const maxServers = 1_000;

/** Memory of this process for tool servers: which protocol they speak, access tokens, and calls in progress. */
export class ServerMemory {
  readonly #clock: Clock;
  readonly #servers = new LRUCache<string, Remembered>({ max: maxServers });
  readonly #calls = new LRUCache<string, Calls>({ max: maxServers });
  readonly #oneAtATimeUntil = new LRUCache<string, number>({ max: maxServers });

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The verdict of the last hour on which protocol the server speaks. */
  verdictOf(row: ToolServerRow): PriorDiscovery | undefined {
    const { verdict } = this.#of(row);
    return verdict && this.#clock.now() - verdict.at < verdictMs ? verdict.prior : undefined;
  }

  setVerdict(row: ToolServerRow, prior: PriorDiscovery | null): void {
    this.#of(row).verdict = prior && { prior, at: this.#clock.now() };
  }

  /** The tokens for the server, made by `create` once. */
  tokensOf(row: ToolServerRow, create: () => AuthProvider): AuthProvider {
    const remembered = this.#of(row);
    remembered.tokens ??= create();
    return remembered.tokens;
  }

  /** Runs `fn` when fewer than `max_concurrency` calls of the server are in progress in this process. */
  limit<T>({ id, max_concurrency: most }: ToolServerRow, fn: () => Promise<T>): Promise<T> {
    const alone = (this.#oneAtATimeUntil.get(id) ?? 0) > this.#clock.now();
    const atOnce = alone ? 1 : most;
    let calls = this.#calls.get(id);
    if (calls?.atOnce !== atOnce) {
      const before = [...(calls?.running ?? [])];
      calls = { atOnce, semaphore: new Semaphore(atOnce), running: new Set() };
      this.#calls.set(id, calls);
      // Those that are in progress come first.
      if (alone) void calls.semaphore.run(() => Promise.allSettled(before));
    }
    const { semaphore, running } = calls;
    return semaphore.run(() => {
      const call = fn();
      running.add(call);
      const ended = () => void running.delete(call);
      call.then(ended, ended);
      return call;
    });
  }

  /** From now on one call of the server at a time is in progress in this process, for an hour. */
  callOneAtATime({ id }: ToolServerRow): void {
    this.#oneAtATimeUntil.set(id, this.#clock.now() + oneAtATimeMs);
  }

  #of({ id, settings }: ToolServerRow): Remembered {
    let remembered = this.#servers.get(id);
    if (remembered?.settings !== settings) {
      remembered = { settings, verdict: null, tokens: null };
      this.#servers.set(id, remembered);
    }
    return remembered;
  }
}
