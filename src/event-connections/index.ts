import { type Executor, everything, type Tx } from '../database/index.ts';
import type { Feature, Services } from '../feature.ts';
import { codeOf } from '../lib/foreign-socket.ts';
import type { Actor } from '../lib/principal.ts';
import { checkSettings } from './configuration.ts';
import {
  createEventConnection,
  deleteEventConnection,
  type ListTriggersOf,
  lockEventConnection,
  lockForTrigger,
  lockToDelete,
  type NewConnection,
  updateEventConnection,
} from './event-connections.ts';
import { BrokerFailure } from './failures.ts';
import { deleteNatsConsumer, readNats } from './nats/reading.ts';
import type { NatsSource, Reading, ReadingCalls, Source } from './reading/reading.ts';
import { supervise } from './reading/supervise.ts';
import { eventConnectionRoutes } from './routes.ts';
import {
  type Configured,
  type ConnectionKind,
  type ConnectionSettings,
  createSettingsStore,
  settingsOf,
} from './settings.ts';
import {
  type EventConnectionRow,
  type FieldChanges,
  findEventConnection,
  listEventConnections,
} from './store.ts';

export { changedChannel as eventConnectionsChanged } from './event-connections.ts';
export type {
  BrokerMessage,
  KafkaSource,
  LostOffsets,
  NatsSource,
  Position,
  Reading,
  ReadingCalls,
  ReadingMemory,
  ReadingStatus,
  Source,
} from './reading/reading.ts';
export { form as eventConnectionForm } from './schemas.ts';

/** A connection as it was when it was opened: a later edit does not change it. */
export interface OpenEventConnection {
  id: string;
  /** Another one after each change. */
  revision: number;
  /** Reads a source of the connection's kind until it is closed. */
  read(source: Source, calls: ReadingCalls): Reading;
  /** Deletes a consumer of the platform's own. Rejects if the broker cannot be used. */
  deleteConsumer(source: Pick<NatsSource, 'stream' | 'consumer'>): Promise<void>;
}

export interface EventConnections extends Feature {
  /** All connections with their secrets. */
  list(executor: Executor): Promise<(NewConnection & { id: string })[]>;
  /** Throws 422 for settings that could never be used. No broker is asked. */
  check(body: Configured): void;
  /** `leaving`: how many others the transaction deletes afterwards. */
  create(tx: Tx, actor: Actor, body: NewConnection, leaving: number): Promise<EventConnectionRow>;
  /** Settings are not merged: they replace those before. */
  update(
    tx: Tx,
    actor: Actor,
    id: string,
    changes: FieldChanges & { settings?: unknown },
  ): Promise<EventConnectionRow>;
  /** Throws 412 while triggers use it. */
  delete(tx: Tx, actor: Actor, id: string): Promise<void>;
  /**
   * Locks the connection so that it is not deleted before the transaction ends. Throws 422 at `settings.connection_id` unless
   * it is one of the kind.
   */
  lockForTrigger(tx: Tx, id: string, kind: ConnectionKind): Promise<void>;
  /** A connection that is not stored. */
  openSettings(body: Configured): OpenEventConnection;
  /** Undefined for an unknown connection. */
  open(executor: Executor, id: string): Promise<OpenEventConnection | undefined>;
}

/** Event connections: brokers whose messages triggers read. */
export const createEventConnections = (
  { vault, db, egress, log }: Services,
  { listTriggersOf }: { listTriggersOf: ListTriggersOf },
): EventConnections => {
  const store = createSettingsStore(vault);

  // Not its message, which may quote what the broker wrote.
  const onUnexpected = (error: unknown): void => {
    const { name = 'unknown' } = (error ?? {}) as { name?: string };
    log.warn({ error: name, code: codeOf(error) }, 'a reading of a broker failed, and is tried again');
  };
  const read = (settings: ConnectionSettings, source: Source, calls: ReadingCalls): Reading => {
    if (settings.kind === 'nats' && source.kind === 'nats') {
      return readNats(settings, source, calls, { egress, onUnexpected });
    }
    if (settings.kind === 'kafka' && source.kind === 'kafka') {
      return supervise(async (signal, report) => {
        // Kafka's client takes a fifth of a start: it is loaded when it is used.
        const { readKafkaOnce } = await import('./kafka/reading.ts');
        await readKafkaOnce(settings, source, calls, egress)(signal, report);
      }, onUnexpected);
    }
    throw new Error(`a ${settings.kind} connection has no ${source.kind} source`);
  };

  const opened = (settings: ConnectionSettings, id: string, revision: number): OpenEventConnection => ({
    id,
    revision,
    read: (source, calls) => read(settings, source, calls),
    deleteConsumer: async (source) => {
      if (settings.kind !== 'nats') throw new BrokerFailure('unsupported', 'It has no consumers.');
      await deleteNatsConsumer(settings, source, egress);
    },
  });

  return {
    tag: { name: 'Event connections', description: 'Brokers whose messages triggers read.' },
    routes: eventConnectionRoutes({ db, store, egress, listTriggersOf }),
    secrets: store.secrets,
    list: async (executor) =>
      (await listEventConnections(executor, everything)).map((row) => {
        const { kind, ...settings } = store.open(row);
        return { id: row.id, name: row.name, kind, settings };
      }),
    check: (body) => checkSettings(settingsOf(body)),
    create: (tx, actor, body, leaving) => createEventConnection(tx, actor, store, body, leaving),
    update: async (tx, actor, id, { settings, ...changes }) => {
      const before = await lockEventConnection(tx, id);
      const given = settings === undefined ? null : settingsOf({ kind: before.kind, settings });
      if (given) checkSettings(given);
      return updateEventConnection(tx, actor, store, before, { changes, settings: given });
    },
    delete: async (tx, actor, id) =>
      deleteEventConnection(tx, actor, listTriggersOf, await lockToDelete(tx, id)),
    lockForTrigger,
    openSettings: (body) => opened(settingsOf(body), '', 0),
    open: async (executor, id) => {
      const row = await findEventConnection(executor, id);
      return row && opened(store.open(row), id, row.revision);
    },
  };
};
