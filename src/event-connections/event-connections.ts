import { audit } from '../audit/index.ts';
import { advisoryLock, notify, type Tx } from '../database/index.ts';
import { ApiError, badRequest, notFound, unprocessable } from '../lib/errors.ts';
import { isId, newId } from '../lib/ids.ts';
import type { Actor } from '../lib/principal.ts';
import { readSettings } from '../settings/index.ts';
import { checkSettings } from './configuration.ts';
import {
  type Configured,
  type ConnectionKind,
  type ConnectionSettings,
  type ConnectionSettingsStore,
  settingsOf,
} from './settings.ts';
import {
  deleteEventConnectionRow,
  type EventConnectionRow,
  eventConnections,
  type FieldChanges,
  type Fields,
  findLockedEventConnection,
  insertEventConnection,
  lockEventConnectionForDelete,
  lockEventConnectionForShare,
  updateEventConnectionRow,
} from './store.ts';

/** The channel that notifies replicas of the id of a connection that was edited or deleted. */
export const changedChannel = 'event_connections';

/** The ids of at most `limit` triggers that use a connection, in their order. */
export type ListTriggersOf = (tx: Tx, connectionId: string, limit: number) => Promise<string[]>;

/** Two creates or renames come one after the other. Throws 422 if another connection has the name. */
const lockName = async (tx: Tx, name: string, ownId: string | null): Promise<void> => {
  await advisoryLock(tx, 'event connections');
  const taken = await eventConnections.findIdByName(tx, name);
  if (taken === undefined || taken === ownId) return;
  throw unprocessable([{ path: 'name', message: 'belongs to another event connection; give another one' }]);
};

/** The body that creates a connection. */
export type NewConnection = Fields & Configured;

/**
 * Creates a connection; no broker is asked. Throws 400 if there are as many as there may be, 422 for settings that could
 * never be used. `leaving`: how many others the transaction deletes afterwards.
 */
export const createEventConnection = async (
  tx: Tx,
  actor: Actor,
  store: ConnectionSettingsStore,
  { kind, settings: given, ...fields }: NewConnection,
  leaving = 0,
): Promise<EventConnectionRow> => {
  const settings = settingsOf({ kind, settings: given });
  checkSettings(settings);
  await lockName(tx, fields.name, null);
  const { MAX_EVENT_CONNECTIONS: max } = await readSettings(tx);
  if ((await eventConnections.count(tx)) - leaving >= max) {
    throw badRequest(`There are ${max} event connections, the maximum. Delete one first.`, {
      setting: 'MAX_EVENT_CONNECTIONS',
    });
  }
  const id = newId();
  const row = await insertEventConnection(tx, fields, {
    id,
    kind,
    settings: store.seal(id, settings),
    created_by: actor.principal.id,
  });
  await audit(tx, actor, 'event_connection.create', id, {
    ...fields,
    kind,
    settings: store.masked(settings),
  });
  return row;
};

/** Returns the row, locked until the transaction ends. Throws 404 if there is none. */
export const lockEventConnection = async (tx: Tx, id: string): Promise<EventConnectionRow> => {
  const row = await findLockedEventConnection(tx, id);
  if (!row) throw notFound('event connection');
  return row;
};

/** Changes the locked row. `settings`: other ones; null: they stay. Throws 422 for a name that another one has. */
export const updateEventConnection = async (
  tx: Tx,
  actor: Actor,
  store: ConnectionSettingsStore,
  before: EventConnectionRow,
  { changes, settings }: { changes: FieldChanges; settings: ConnectionSettings | null },
): Promise<EventConnectionRow> => {
  if (changes.name !== undefined && changes.name !== before.name) await lockName(tx, changes.name, before.id);
  const sealed = settings ? store.seal(before.id, settings) : undefined;
  const row = await updateEventConnectionRow(tx, before.id, changes, sealed);
  await notify(tx, changedChannel, row.id);
  await audit(tx, actor, 'event_connection.update', row.id, {
    ...eventConnections.given(changes),
    ...(settings && { settings: store.masked(settings) }),
  });
  return row;
};

/**
 * Locks the connection so that it is not deleted before the transaction ends. Throws 422 at `settings.connection_id` unless
 * it is one of the kind.
 */
export const lockForTrigger = async (tx: Tx, id: string, kind: ConnectionKind): Promise<void> => {
  const found = isId(id) ? await lockEventConnectionForShare(tx, id) : undefined;
  if (found === kind) return;
  const message = found === undefined ? 'is not an event connection' : `is a connection of the kind ${found}`;
  throw unprocessable([{ path: 'settings.connection_id', message }]);
};

/** The most triggers that an error names. */
const shownTriggers = 10;

/** Returns the connection, locked so that no trigger begins to use it. Throws 404 if there is none. */
export const lockToDelete = async (tx: Tx, id: string): Promise<EventConnectionRow> => {
  const row = await lockEventConnectionForDelete(tx, id);
  if (!row) throw notFound('event connection');
  return row;
};

/** Deletes the locked connection. Throws 412 with `trigger_ids` while triggers use it. */
export const deleteEventConnection = async (
  tx: Tx,
  actor: Actor,
  listTriggersOf: ListTriggersOf,
  { id, name, kind }: EventConnectionRow,
): Promise<void> => {
  const triggerIds = await listTriggersOf(tx, id, shownTriggers);
  if (triggerIds.length > 0) {
    throw new ApiError('precondition_failed', 'Triggers use this event connection. Delete them first.', {
      trigger_ids: triggerIds,
    });
  }
  await deleteEventConnectionRow(tx, id);
  await notify(tx, changedChannel, id);
  await audit(tx, actor, 'event_connection.delete', id, { name, kind });
};
