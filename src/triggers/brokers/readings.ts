import type { Database } from '../../database/index.ts';
import type {
  BrokerMessage,
  EventConnections,
  LostOffsets,
  NatsSource,
  OpenEventConnection,
  Reading,
  ReadingCalls,
  Source,
} from '../../event-connections/index.ts';
import { messageOf } from '../../lib/errors.ts';
import type { Logger } from '../../lib/log.ts';
import type { CurrentSettings } from '../../settings/index.ts';
import type { Delivered, Delivery } from '../deliveries/delivery.ts';
import type { SettingsStore } from '../settings.ts';
import { updateBlocked } from '../store.ts';
import { deliveryOf, deliveryOfLost } from './message.ts';
import {
  clearStatus,
  deleteReading,
  findMemory,
  insertReading,
  listOrphans,
  listReadingTriggers,
  type OwnConsumer,
  type ReadingTrigger,
  triggerExists,
  updateMemory,
  updateStatuses,
} from './store.ts';

export interface ReadingsParts {
  db: Database;
  log: Logger;
  settings: CurrentSettings;
  store: SettingsStore;
  connections: Pick<EventConnections, 'open'>;
  deliver: (deliveries: readonly Delivery[]) => Promise<Delivered[]>;
  /** Messages were acknowledged, so many seconds after they were read. */
  onAcknowledged: (kind: string, seconds: number) => void;
}

/** A trigger that this replica reads. */
interface Entry {
  trigger: ReadingTrigger;
  source: Source;
  connection: OpenEventConnection;
  reading: Reading;
  /** What was last said of it in the row of the trigger. */
  blocked: string | null;
}

/** Another one for each change of the trigger or of its connection. */
const keyOf = ({ revision, connection_id, connection_revision }: ReadingTrigger): string =>
  `${revision} ${connection_id} ${connection_revision}`;

/** The name of a consumer or group of the platform's own. */
const ownName = (triggerId: string): string => `agent-platform-${triggerId}`;

const sourceOf = ({ id, kind, settings }: ReadingTrigger, store: SettingsStore): Source => {
  const configured = store.open({ id, kind, settings });
  if (configured.kind === 'nats') {
    const { stream, subjects, start, durable_name } = configured.settings;
    return {
      kind: 'nats',
      stream,
      subjects: subjects ?? null,
      start,
      consumer: durable_name ?? ownName(id),
      isOwn: durable_name === null,
    };
  }
  if (configured.kind !== 'kafka') throw new Error(`a trigger of the kind ${kind} reads no broker`);
  const { topic, group_id, start } = configured.settings;
  return { kind: 'kafka', topic, group: group_id ?? ownName(id), start };
};

const ownConsumer = (source: Source, connectionId: string): OwnConsumer | null =>
  source.kind === 'nats' && source.isOwn
    ? { connection_id: connectionId, stream: source.stream, consumer: source.consumer }
    : null;

const orphansAtOnce = 100;
const sweepAgainMs = 60_000;

/** Reads the brokers of all enabled triggers, on this replica. */
export class BrokerReadings {
  readonly #parts: ReadingsParts;
  readonly #entries = new Map<string, Entry>();
  /** Readings that end, by trigger: the next one of the trigger begins after it. */
  readonly #closing = new Map<string, Promise<void>>();
  #sweeping: Promise<void> | null = null;
  /** When a consumer that could not be deleted is tried again, by performance.now(). */
  readonly #sweepAgainAt = new Map<string, number>();

  constructor(parts: ReadingsParts) {
    this.#parts = parts;
  }

  /** The messages that the triggers of this replica have not read, where that is known. */
  lags(): [triggerId: string, lag: number][] {
    return [...this.#entries].flatMap(([id, { reading }]) => {
      const { lag } = reading.status();
      return lag === null ? [] : [[id, lag] as [string, number]];
    });
  }

  /** The triggers that this replica reads. */
  get size(): number {
    return this.#entries.size;
  }

  /** Whether every trigger of this replica is read. */
  get allRead(): boolean {
    return [...this.#entries.values()].every(({ reading }) => reading.status().state === 'ok');
  }

  /** Opens and closes readings so that they are those of the enabled triggers. */
  async reconcile(): Promise<void> {
    const { db } = this.#parts;
    const wanted = new Map((await db.run(listReadingTriggers)).map((row) => [row.id, row]));
    for (const [id, { trigger }] of this.#entries) {
      const row = wanted.get(id);
      if (!row || keyOf(row) !== keyOf(trigger)) this.#close(id);
      else trigger.blocked_reason = row.blocked_reason;
    }
    for (const [id, row] of wanted) {
      if (!this.#entries.has(id) && !this.#closing.has(id)) await this.#open(row);
    }
  }

  /** Stores how they are read, for all replicas. */
  async save(): Promise<void> {
    if (this.#entries.size === 0) return;
    const { db } = this.#parts;
    const statuses = [...this.#entries].map(([triggerId, { reading }]) => ({
      triggerId,
      ...reading.status(),
    }));
    await db.run((executor) => updateStatuses(executor, statuses));
    for (const [id, entry] of this.#entries) await this.#saveBlocked(id, entry);
  }

  /** Deletes what deleted triggers have left at brokers, in the background. What cannot be deleted is tried again for a day. */
  sweep(): void {
    this.#sweeping ??= this.#deleteOrphans()
      .catch((error) => {
        this.#parts.log.warn({ error: messageOf(error) }, 'consumers of deleted triggers were not deleted');
      })
      .finally(() => {
        this.#sweeping = null;
      });
  }

  async stop(): Promise<void> {
    for (const id of [...this.#entries.keys()]) this.#close(id);
    await Promise.all([...this.#closing.values(), this.#sweeping]);
  }

  async #deleteOrphans(): Promise<void> {
    const { db, connections } = this.#parts;
    const now = performance.now();
    for (const orphan of await db.run((executor) => listOrphans(executor, orphansAtOnce))) {
      const { trigger_id: id, is_old, connection_id, stream, consumer } = orphan;
      if (this.#entries.has(id) || this.#closing.has(id) || (this.#sweepAgainAt.get(id) ?? 0) > now) continue;
      if (connection_id && stream && consumer) {
        const connection = await db.run((executor) => connections.open(executor, connection_id));
        if (!(await this.#deleteConsumer(connection, { stream, consumer })) && !is_old) {
          this.#sweepAgainAt.set(id, now + sweepAgainMs);
          continue;
        }
      }
      this.#sweepAgainAt.delete(id);
      await db.run((executor) => deleteReading(executor, id));
    }
  }

  async #open(trigger: ReadingTrigger): Promise<void> {
    const { db, log, store, connections } = this.#parts;
    try {
      const source = sourceOf(trigger, store);
      const connection = await db.run((executor) => connections.open(executor, trigger.connection_id));
      if (!connection) return;
      const own = ownConsumer(source, trigger.connection_id);
      await db.run((executor) => insertReading(executor, trigger.id, own));
      const reading = connection.read(source, this.#calls(trigger, source));
      this.#entries.set(trigger.id, { trigger, source, connection, reading, blocked: null });
    } catch (error) {
      // One that cannot be opened keeps no other from being read.
      log.error({ trigger_id: trigger.id, error: messageOf(error) }, 'a trigger cannot be read');
    }
  }

  #close(id: string): void {
    const entry = this.#entries.get(id);
    if (!entry) return;
    this.#entries.delete(id);
    const closing = entry.reading
      .close()
      .then(() => this.#afterClose(id, entry))
      .catch((error) => {
        this.#parts.log.warn(
          { trigger_id: id, error: messageOf(error) },
          'the end of a reading was not stored',
        );
      })
      .finally(() => this.#closing.delete(id));
    this.#closing.set(id, closing);
  }

  async #afterClose(id: string, { source, connection }: Entry): Promise<void> {
    const { db } = this.#parts;
    if (await db.run((executor) => triggerExists(executor, id))) {
      const isRead = (await db.run(listReadingTriggers)).some((row) => row.id === id);
      if (!isRead) await db.run((executor) => clearStatus(executor, id));
      return;
    }
    const isLeft =
      source.kind === 'nats' && source.isOwn && !(await this.#deleteConsumer(connection, source));
    if (!isLeft) await db.run((executor) => deleteReading(executor, id));
  }

  /** Resolves to false if it must be tried again. */
  async #deleteConsumer(
    connection: OpenEventConnection | undefined,
    source: Pick<NatsSource, 'stream' | 'consumer'>,
  ): Promise<boolean> {
    if (!connection) return true;
    try {
      await connection.deleteConsumer(source);
      return true;
    } catch {
      return false;
    }
  }

  async #saveBlocked(id: string, entry: Entry): Promise<void> {
    const { blocked, state } = entry.reading.status();
    const isSaid = entry.trigger.blocked_reason === blocked;
    // A replica that reads takes back what another said.
    if (isSaid || (blocked === null && state !== 'ok')) return;
    if (blocked !== null && entry.blocked === blocked) return;
    await this.#parts.db.run((executor) => updateBlocked(executor, id, blocked));
    entry.blocked = blocked;
    entry.trigger.blocked_reason = blocked;
  }

  #calls(trigger: ReadingTrigger, source: Source): ReadingCalls {
    const { db, settings, deliver, onAcknowledged } = this.#parts;
    const store = async (deliveries: readonly Delivery[]): Promise<void> => {
      const results = await deliver(deliveries);
      // The broker keeps them: nothing of a paused or deleted trigger is acknowledged.
      if (results.some((one) => one === 'held' || one === 'gone')) throw new Error('the trigger is not read');
    };
    return {
      take: async (messages: readonly BrokerMessage[]) => {
        const begun = performance.now();
        const limits = {
          maxBytes: settings.get().MAX_EVENT_SIZE_IN_KB * 1024,
          receivedAt: new Date(),
        };
        await store(messages.map((message) => deliveryOf(trigger, message, limits)));
        const seconds = (performance.now() - begun) / 1_000;
        for (const _ of messages) onAcknowledged(trigger.kind, seconds);
      },
      lost: (range: LostOffsets) =>
        store([
          deliveryOfLost(
            trigger.id,
            source.kind === 'kafka' ? source.topic : source.stream,
            range,
            new Date(),
          ),
        ]),
      recall: async () => {
        const memory = await db.run((executor) => findMemory(executor, trigger.id));
        if (memory === undefined) throw new Error('the trigger is gone');
        return memory;
      },
      remember: (memory) => db.run((executor) => updateMemory(executor, trigger.id, memory)),
    };
  }
}
