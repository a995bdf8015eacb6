import { audit } from '../audit/index.ts';
import type { Database } from '../database/index.ts';
import { finder, jsonRoute, listPage, type Route } from '../http/index.ts';
import { ApiError, unprocessable } from '../lib/errors.ts';
import type { CurrentSettings } from '../settings/index.ts';
import { mergeConfiguration, sameConfiguration } from './configuration.ts';
import {
  checkCount,
  createDataConnection,
  deleteDataConnection,
  lockDataConnection,
  lockToDelete,
  updateDataConnection,
} from './data-connections.ts';
import type { ConnectionSettings } from './engines/settings.ts';
import { createBody, dataConnection, dataConnectionPage, listQuery, updateBody } from './schemas.ts';
import { type ConnectionSettingsStore, settingsOf, shownConfiguration } from './settings.ts';
import { type DataConnectionRow, dataConnections, findDataConnection, listDataConnections } from './store.ts';

export const dataConnectionPath = '/data-connections';
export const oneDataConnectionPath = `${dataConnectionPath}/{data_connection_id}`;

export const dataConnectionFinder = (db: Database) =>
  finder(db, 'data connection', 'data_connection_id', findDataConnection);

export interface DataConnectionRouteParts {
  db: Database;
  store: ConnectionSettingsStore;
  settings: CurrentSettings;
  /** Verifies settings before they are stored, without a transaction. Throws 422 if they cannot be used. */
  check: (settings: ConnectionSettings) => Promise<void>;
  /** Closes the sessions of this replica; the others are notified. */
  closeSessions: (id: string) => void;
}

/** Attempts of an update, when others change the configuration while it is verified. */
const mostAttempts = 3;

export const dataConnectionRoutes = (parts: DataConnectionRouteParts): Route[] => {
  const { db, store, settings, check, closeSessions } = parts;
  const find = dataConnectionFinder(db);

  const toResponse = (row: DataConnectionRow) => ({
    id: row.id,
    name: row.name,
    description: row.description,
    engine: row.engine,
    configuration: shownConfiguration(store.open(row).settings),
    tags: row.tags,
    status: { state: row.state, checked_at: row.checked_at, detail: row.detail },
    created_by: row.created_by,
    created_at: row.created_at,
    updated_at: row.updated_at,
  });

  /** The settings after an update, or null if they stay. They are not verified yet. */
  const changedSettings = (row: DataConnectionRow, body: { engine?: string; configuration?: unknown }) => {
    if (body.engine !== undefined && body.engine !== row.engine) {
      throw unprocessable([{ path: 'engine', message: `cannot be changed; it is ${row.engine}` }]);
    }
    if (body.configuration === undefined || body.configuration === null) return null;
    const before = store.open(row).settings;
    const after = mergeConfiguration(before, body.configuration);
    return sameConfiguration(before, after) ? null : after;
  };

  return [
    jsonRoute({
      id: 'listDataConnections',
      role: 'builder',
      scope: 'data:read',
      base: 'v2',
      request: `GET ${dataConnectionPath}`,
      summary: 'List data connections',
      query: listQuery,
      response: dataConnectionPage,
      handler: listPage(db, listDataConnections, toResponse),
    }),
    jsonRoute({
      id: 'createDataConnection',
      role: 'builder',
      scope: 'data',
      base: 'v2',
      request: `POST ${dataConnectionPath}`,
      summary: 'Create a data connection',
      description:
        'The connection is tried first, for at most 10 s. If that fails, the response is 422 with `steps`, and nothing is stored.',
      body: createBody,
      response: dataConnection,
      idempotent: true,
      cache: 'revision',
      handler: async ({ body, actor, transaction, etag }) => {
        checkCount(
          await db.run((executor) => dataConnections.count(executor)),
          settings.get().MAX_DATA_CONNECTIONS,
        );
        await check(settingsOf(body));
        return transaction(async (tx) => {
          const row = await createDataConnection(tx, actor, store, body);
          etag(row.revision);
          return toResponse(row);
        });
      },
    }),
    jsonRoute({
      id: 'getDataConnection',
      role: 'builder',
      scope: 'data:read',
      base: 'v2',
      request: `GET ${oneDataConnectionPath}`,
      summary: 'Get a data connection',
      description: 'The response contains no secret, only whether there is one.',
      find,
      response: dataConnection,
      cache: 'revision',
      handler: async ({ found, etag }) => {
        etag(found.revision);
        return toResponse(found);
      },
    }),
    jsonRoute({
      id: 'updateDataConnection',
      role: 'builder',
      scope: 'data',
      base: 'v2',
      request: `PATCH ${oneDataConnectionPath}`,
      summary: 'Update a data connection',
      description:
        'A changed configuration is tried first, for at most 10 s. Another host, port, username, path or tls needs the password again.',
      find,
      body: updateBody,
      response: dataConnection,
      cache: 'revision',
      lock: async (tx, { found, body }) => {
        const row = await lockDataConnection(tx, found.id);
        return { revision: row.revision, row, after: changedSettings(row, body) };
      },
      handler: async ({ body, actor, transaction, etag }) => {
        for (let attempt = 1; attempt <= mostAttempts; attempt++) {
          const { row: before, after } = await transaction(async (_tx, locked) => locked);
          if (after) await check(after);
          const row = await transaction(async (tx, { row: locked }) => {
            // The merged configuration is out of date.
            if (after && locked.settings !== before.settings) return null;
            return updateDataConnection(tx, actor, store, locked, { changes: body, settings: after });
          });
          if (row) {
            closeSessions(row.id);
            etag(row.revision);
            return toResponse(row);
          }
        }
        throw new ApiError('precondition_failed', 'Others change the configuration at the same time.');
      },
    }),
    jsonRoute({
      id: 'deleteDataConnection',
      role: 'builder',
      scope: 'data',
      base: 'v2',
      request: `DELETE ${oneDataConnectionPath}`,
      summary: 'Delete a data connection',
      description: 'Returns 412 with `semantic_data_model_ids` while semantic data models use it.',
      find,
      otherStatuses: [412],
      lock: (tx, { found }) => lockToDelete(tx, found.id),
      handler: async ({ found, actor, transaction }) => {
        await transaction((tx, row) => deleteDataConnection(tx, actor, row));
        closeSessions(found.id);
      },
    }),
  ];
};

/** Audits a test of a stored connection. */
export const auditTest = (db: Database, actor: Parameters<typeof audit>[1], id: string, ok: boolean) =>
  db.tx((tx) => audit(tx, actor, 'data_connection.test', id, { ok }));
