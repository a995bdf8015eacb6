import type { Database } from '../database/index.ts';
import type { Feature } from '../feature.ts';
import { messageOf } from '../lib/errors.ts';
import type { Logger } from '../lib/log.ts';
import { Loop } from '../lib/loop.ts';
import type { Destination, Destinations, RoutingTable } from '../telemetry/index.ts';
import type { Integrations } from './integrations.ts';
import { type RequestConfig, targetOf } from './provider.ts';
import { type DeliveryRow, listDeleted, listForDelivery, numberExists } from './store.ts';

/** The channel on which triggers notify every replica of a change (migrations/0020_observability.sql). */
const channel = 'observability';

/** A safety net for notifications that are lost in silence, as on a half-open connection; in milliseconds. */
const rereadEveryMs = 5_000;

/** The effective sets (product, section 9): enabled ∩ (global ∪ the agent's own), and those with `debug`. */
export const routingTable = (
  rows: readonly Pick<DeliveryRow, 'number' | 'is_enabled' | 'debug' | 'global' | 'agents'>[],
): RoutingTable => {
  const enabled = rows.filter((row) => row.is_enabled);
  const tableOf = (candidates: typeof enabled) => {
    const numbers = (of: typeof enabled): readonly number[] => of.map((row) => row.number);
    const global = numbers(candidates.filter((row) => row.global));
    const own = new Map<string, readonly number[]>();
    for (const agent of new Set(candidates.flatMap((row) => row.agents))) {
      own.set(agent, numbers(candidates.filter((row) => row.global || row.agents.includes(agent))));
    }
    // Ids are stored in lower case, and are the same in upper case.
    const of = (agentId: string) => (own.size === 0 ? global : (own.get(agentId.toLowerCase()) ?? global));
    return { all: numbers(candidates), of };
  };
  const agentSpans = tableOf(enabled);
  const applicationSpans = tableOf(enabled.filter((row) => row.debug));
  return {
    forAgent: (agentId, kind) => {
      if (agentId === null) return kind === 'application' ? applicationSpans.all : [];
      return (kind === 'application' ? applicationSpans : agentSpans).of(agentId);
    },
  };
};

interface DestinationParts {
  db: Database;
  open: Integrations['open'];
  log: Logger;
  requests: RequestConfig;
}

/** The integrations as telemetry sees them, in memory. They are read again on every change, on whichever replica. */
export class IntegrationDestinations implements Destinations, Feature {
  readonly #parts: DestinationParts;
  readonly #loop: Loop;
  readonly #listeners = new Set<() => void>();
  #byNumber = new Map<number, Destination>();
  /** The ids of all integrations that were ever known, by their numbers. */
  readonly #ids = new Map<number, string>();
  #table: RoutingTable = routingTable([]);
  /** The rows that the present state was made of, as JSON: a read of the same rows changes nothing. */
  #rows = '[]';
  #started = 0;
  #applied = 0;

  constructor(parts: DestinationParts) {
    this.#parts = parts;
    this.#loop = new Loop({
      name: 'observability destinations',
      log: parts.log,
      tick: async () => {
        await this.#read();
        return rereadEveryMs;
      },
    });
  }

  /** Resolves when the integrations are loaded. Changes are followed from then on. */
  async start(): Promise<void> {
    this.#parts.db.listen(channel, () => this.#loop.wake());
    for (const { number, id } of await this.#parts.db.run(listDeleted)) this.#ids.set(number, id);
    await this.#read();
    this.#loop.start();
  }

  stop(): Promise<void> {
    return this.#loop.stop();
  }

  /** Call it after a change on this replica: when it resolves, the change is in effect here. */
  async refresh(): Promise<void> {
    await this.#read().catch((error: unknown) => {
      this.#parts.log.warn({ error: messageOf(error) }, 'cannot read the integrations; trying again');
      this.#loop.wake();
    });
  }

  table(): RoutingTable {
    return this.#table;
  }

  get(number: number): Destination | undefined {
    return this.#byNumber.get(number);
  }

  all(): Destination[] {
    return [...this.#byNumber.values()];
  }

  /** The id of an integration, also of a deleted one; its number as text if the id is not known any more. */
  idOf(number: number): string {
    return this.#ids.get(number) ?? String(number);
  }

  /** Whether there is an integration with this number in the database: memory may be a second behind. */
  exists(number: number): Promise<boolean> {
    return this.#parts.db.run((executor) => numberExists(executor, number));
  }

  onChange(changed: () => void): () => void {
    this.#listeners.add(changed);
    return () => void this.#listeners.delete(changed);
  }

  /** Drops the result of a read if another that began later has ended: it brings nothing new. */
  async #read(): Promise<void> {
    const sequence = ++this.#started;
    const rows = await this.#parts.db.run(listForDelivery);
    if (sequence < this.#applied) return;
    this.#applied = sequence;
    const text = JSON.stringify(rows);
    if (text === this.#rows) return;
    this.#rows = text;
    this.#byNumber = new Map(rows.map((row) => [row.number, this.#destination(row)]));
    for (const { number, id } of rows) this.#ids.set(number, id);
    this.#table = routingTable(rows);
    for (const listener of this.#listeners) listener();
  }

  #destination(row: DeliveryRow): Destination {
    const { open, requests, log } = this.#parts;
    const shared = {
      number: row.number,
      id: row.id,
      provider: row.provider,
      enabled: row.is_enabled,
      revision: row.revision,
    };
    try {
      return { ...shared, ...targetOf(open(row), requests) };
    } catch (error) {
      // An integration that cannot be read must not stop the others.
      log.error({ integration_id: row.id, error: messageOf(error) }, 'settings cannot be decrypted');
      return {
        ...shared,
        url: '',
        headers: [],
        problem: 'The settings cannot be decrypted with ENCRYPTION_KEY.',
      };
    }
  }
}
