import { audit } from '../audit/index.ts';
import { advisoryLock, notify, type Tx } from '../database/index.ts';
import { ApiError, badRequest, notFound, unprocessable } from '../lib/errors.ts';
import { newId } from '../lib/ids.ts';
import type { Actor } from '../lib/principal.ts';
import { readSettings } from '../settings/index.ts';
import type { ConnectionSettings } from './engines/settings.ts';
import { type Configured, type ConnectionSettingsStore, settingsOf } from './settings.ts';
import {
  type DataConnectionRow,
  dataConnections,
  deleteDataConnectionRow,
  type FieldChanges,
  type Fields,
  findLockedDataConnection,
  insertDataConnection,
  listModelsOf,
  lockDataConnectionForDelete,
  updateDataConnectionRow,
} from './store.ts';
import type { Verification } from './verify.ts';

/** The channel that notifies replicas of the id of a connection that was edited or deleted. */
export const changedChannel = 'data_connections';

/** Throws 400 if there are as many connections as there may be. */
export const checkCount = (count: number, max: number): void => {
  if (count < max) return;
  throw badRequest(`There are ${max} data connections, the maximum. Delete one first.`, {
    setting: 'MAX_DATA_CONNECTIONS',
  });
};

const fieldOf: Record<string, string> = {
  resolve: 'host',
  connect: 'host',
  tls: 'tls',
  authenticate: 'password',
  read_only: 'username',
};

/** Throws 422 for a configuration that failed its verification, with the steps, and `reason` if it is not permitted. */
export const checkVerified = ({ failure, steps }: Verification, { engine }: ConnectionSettings): void => {
  if (!failure) return;
  const field = engine === 'sqlite' ? 'path' : fieldOf[steps.at(-1)!.step];
  throw unprocessable(
    [{ path: field ? `configuration.${field}` : 'configuration', message: failure.message }],
    { steps, ...(failure.reason === 'denied' ? { reason: failure.reason } : {}) },
  );
};

/** The body that creates a connection. */
export type NewConnection = Fields & Configured;

/** Creates a connection whose settings were verified. `leaving`: how many others the transaction deletes afterwards. */
export const createDataConnection = async (
  tx: Tx,
  actor: Actor,
  store: ConnectionSettingsStore,
  { engine, configuration, ...fields }: NewConnection,
  leaving = 0,
): Promise<DataConnectionRow> => {
  // Otherwise several creates at once would each count too few.
  await advisoryLock(tx, 'data connections');
  checkCount((await dataConnections.count(tx)) - leaving, (await readSettings(tx)).MAX_DATA_CONNECTIONS);
  const id = newId();
  const settings = settingsOf({ engine, configuration });
  const row = await insertDataConnection(tx, fields, {
    id,
    engine,
    settings: store.seal(id, settings),
    created_by: actor.principal.id,
  });
  await audit(tx, actor, 'data_connection.create', id, {
    ...fields,
    engine,
    configuration: store.masked(settings),
  });
  return row;
};

/** Returns the row, locked until the transaction ends. Throws 404 if there is none. */
export const lockDataConnection = async (tx: Tx, id: string): Promise<DataConnectionRow> => {
  const row = await findLockedDataConnection(tx, id);
  if (!row) throw notFound('data connection');
  return row;
};

/** Changes the locked row. `settings`: other ones, which were verified. */
export const updateDataConnection = async (
  tx: Tx,
  actor: Actor,
  store: ConnectionSettingsStore,
  before: DataConnectionRow,
  { changes, settings }: { changes: FieldChanges; settings: ConnectionSettings | null },
): Promise<DataConnectionRow> => {
  const sealed = settings ? store.seal(before.id, settings) : undefined;
  const row = await updateDataConnectionRow(tx, before.id, changes, sealed);
  await notify(tx, changedChannel, row.id);
  await audit(tx, actor, 'data_connection.update', row.id, {
    ...dataConnections.given(changes),
    ...(settings && { configuration: store.masked(settings) }),
  });
  return row;
};

/** The most models that an error names. */
const shownModels = 10;

/** Returns the connection, locked so that no model begins to use it. Throws 404 if there is none. */
export const lockToDelete = async (tx: Tx, id: string): Promise<DataConnectionRow> => {
  const row = await lockDataConnectionForDelete(tx, id);
  if (!row) throw notFound('data connection');
  return row;
};

/** Deletes the locked connection. Throws 412 with `semantic_data_model_ids` while models use it. */
export const deleteDataConnection = async (
  tx: Tx,
  actor: Actor,
  { id, name, engine }: DataConnectionRow,
): Promise<void> => {
  const modelIds = await listModelsOf(tx, id, shownModels);
  if (modelIds.length > 0) {
    throw new ApiError(
      'precondition_failed',
      'Semantic data models use this data connection. Delete them, or give them another one, first.',
      { semantic_data_model_ids: modelIds },
    );
  }
  await deleteDataConnectionRow(tx, id);
  await notify(tx, changedChannel, id);
  await audit(tx, actor, 'data_connection.delete', id, { name, engine });
};

/** 412 for a database that cannot be used now. */
export const connectionUnusable = (id: string, reason: string, message: string): ApiError =>
  new ApiError('precondition_failed', `The data connection cannot be used: ${message}`, {
    data_connection_id: id,
    reason,
  });
