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

const maxServers = 1_000;

/** Memory of this process for tool servers: which protocol they speak, access tokens, and calls in progress. */
export class ServerMemory {
  readonly #clock: Clock;
  readonly #servers = new LRUCache<string, Remembered>({ max: maxServers });
  readonly #calls = new LRUCache<string, { atOnce: number; semaphore: Semaphore }>({ max: maxServers });

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
  limit<T>({ id, max_concurrency: atOnce }: ToolServerRow, fn: () => Promise<T>): Promise<T> {
    let calls = this.#calls.get(id);
    if (calls?.atOnce !== atOnce) {
      calls = { atOnce, semaphore: new Semaphore(atOnce) };
      this.#calls.set(id, calls);
    }
    return calls.semaphore.run(fn);
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
