import type { Database } from '../database/index.ts';
import type { Feature } from '../feature.ts';
import { messageOf } from '../lib/errors.ts';
import type { Logger } from '../lib/log.ts';
import { Loop } from '../lib/loop.ts';
import type { Destination, Destinations, RoutingTable } from '../telemetry/index.ts';
import type { Integrations } from './integrations.ts';
import { type RequestConfig, targetOf } from './provider.ts';
import { type DeliveryRow, listDeleted, listForDelivery, numberExists } from './store.ts';

/** The channel on which triggers notify replicas of a change (migrations/0020_observability.sql). */
const channel = 'observability';

/**
 * Milliseconds between reads of the integrations: a notification may be lost unnoticed, as on a half-open
 * connection.
 */
const rereadEveryMs = 15_000;

/**
 * Returns the routing table: for an agent, enabled ∩ (global ∪ the agent's own); for application
 * spans, those of them with `debug`.
 */
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
    // Ids are stored in lower case. An id in upper case is the same id.
    const of = (agentId: string) => (own.size === 0 ? global : (own.get(agentId.toLowerCase()) ?? global));
    return { all: numbers(candidates), of };
  };
  const agentSpans = tableOf(enabled);
  const applicationSpans = tableOf(enabled.filter((row) => row.debug));
  return {
    forAgent: (agentId, kind) => {
      if (agentId === null) return kind === 'agent' ? [] : applicationSpans.all;
      return (kind === 'application' ? applicationSpans : agentSpans).of(agentId);
    },
  };
};

interface DestinationParts {
  db: Database;
  integrations: Integrations;
  log: Logger;
  requests: RequestConfig;
}

/** The integrations as telemetry uses them, in memory. They are read again after every change on any replica. */
export class IntegrationDestinations implements Destinations, Feature {
  readonly #parts: DestinationParts;
  readonly #loop: Loop;
  readonly #listeners = new Set<() => void>();
  #byNumber = new Map<number, Destination>();
  /** The ids of all integrations, also of deleted ones, by their numbers. */
  readonly #ids = new Map<number, string>();
  #table: RoutingTable = routingTable([]);
  /** The rows of the current state, as JSON: a read of the same rows changes nothing. */
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

  /** Their rules, which the API of integrations uses. */
  get integrations(): Integrations {
    return this.#parts.integrations;
  }

  /** Resolves when the integrations are loaded. From then on they follow changes. */
  async start(): Promise<void> {
    this.#parts.db.listen(channel, this.#wake);
    for (const { number, id } of await this.#parts.db.run(listDeleted)) this.#ids.set(number, id);
    await this.#read();
    this.#loop.start();
  }

  readonly #wake = (): void => this.#loop.wake();

  stop(): Promise<void> {
    return this.#loop.stop();
  }

  /** Reads the integrations after a change on this replica. When it resolves, the change is in effect here. */
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

  /** The id of an integration, also of a deleted one; its number as text if the id is unknown. */
  idOf(number: number): string {
    return this.#ids.get(number) ?? String(number);
  }

  /** Asks the database. The state in memory may be older. */
  exists(number: number): Promise<boolean> {
    return this.#parts.db.run((executor) => numberExists(executor, number));
  }

  /** Calls `listener` after every change, until the returned function is called. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Reads the integrations. Drops the result if a read that began later has ended before. */
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
    const { integrations, requests, log } = this.#parts;
    const shared = {
      number: row.number,
      id: row.id,
      provider: row.provider,
      enabled: row.is_enabled,
      revision: row.revision,
    };
    try {
      return { ...shared, ...targetOf(integrations.open(row), requests) };
    } catch (error) {
      // An integration whose settings cannot be decrypted must not stop the others.
      log.error({ integration_id: row.id, error: messageOf(error) }, 'settings cannot be decrypted');
      return {
        ...shared,
        url: '',
        headers: [],
        resourceAttributes: {},
        problem: 'The settings cannot be decrypted with ENCRYPTION_KEY.',
      };
    }
  }
}
