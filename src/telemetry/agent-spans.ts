import { LRUCache } from 'lru-cache';
import { type Database, sql } from '../database/index.ts';
import { isId } from '../lib/ids.ts';
import type { Logger } from '../lib/log.ts';
import { Loop, type LoopPass } from '../lib/loop.ts';

const everyMs = 1_000;
/** Longer than the minute that the statement asks for, so that the next span is written. */
const againMs = 61_000;
/** Ids that no agent has cost no more than this. */
const mostPending = 1_000;

/**
 * Writes when spans of each agent last came in from outside: within a second of the first, then once a minute at most,
 * whichever replicas receive them. What a stop interrupts is written after the next span.
 */
export class AgentSpans {
  readonly #db: Database;
  readonly #written = new LRUCache<string, true>({ max: 10_000, ttl: againMs });
  #pending = new Set<string>();
  readonly #loop: Loop;

  constructor({ db, log }: { db: Database; log: Logger }) {
    this.#db = db;
    this.#loop = new Loop({
      name: 'agent spans',
      log,
      tick: async () => {
        await this.write();
        return everyMs;
      },
    });
  }

  start(): void {
    this.#loop.start();
  }

  stop(): Promise<void> {
    return this.#loop.stop();
  }

  pass(): LoopPass {
    return this.#loop.pass();
  }

  /** Spans of these agents were accepted. `null`: spans that name no agent. */
  seen(agents: Iterable<string | null>): void {
    for (const agent of agents) {
      if (agent === null || this.#pending.size >= mostPending) continue;
      if (this.#written.has(agent) || !isId(agent)) continue;
      this.#pending.add(agent);
    }
  }

  /** Writes what `seen` was called with since the last time. */
  async write(): Promise<void> {
    const agents = [...this.#pending];
    if (agents.length === 0) return;
    await this.#db.run((executor) =>
      sql`insert into agent_spans (agent_id, last_span_at)
        select id, platform_now() from agents where id = any(${agents}::uuid[]) order by id
        on conflict (agent_id) do update set last_span_at = excluded.last_span_at
        where agent_spans.last_span_at < excluded.last_span_at - interval '1 minute'`.execute(executor),
    );
    for (const agent of agents) {
      this.#pending.delete(agent);
      this.#written.set(agent, true);
    }
  }
}
