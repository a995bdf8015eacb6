import { audit } from '../audit/index.ts';
import type { Database, Tx } from '../database/index.ts';
import { finder, jsonRoute, listPage, type Route } from '../http/index.ts';
import type { Egress } from '../lib/egress.ts';
import { unprocessable } from '../lib/errors.ts';
import { checkSettings, mergeSettings, sameSettings } from './configuration.ts';
import {
  createEventConnection,
  deleteEventConnection,
  type ListTriggersOf,
  lockEventConnection,
  lockToDelete,
  updateEventConnection,
} from './event-connections.ts';
import {
  createBody,
  eventConnection,
  eventConnectionPage,
  listQuery,
  testBody,
  testResult,
  updateBody,
} from './schemas.ts';
import { type ConnectionSettingsStore, settingsOf, shownSettings } from './settings.ts';
import { type EventConnectionRow, findEventConnection, listEventConnections } from './store.ts';
import { tryConnection } from './try-connection.ts';

const path = '/event-connections';
const onePath = `${path}/{event_connection_id}`;

interface Parts {
  db: Database;
  store: ConnectionSettingsStore;
  egress: Pick<Egress, 'resolve'>;
  listTriggersOf: ListTriggersOf;
}

const reads = { role: 'builder', scope: 'triggers:read', base: 'v2' } as const;
const writes = { role: 'builder', scope: 'triggers', base: 'v2' } as const;

export const eventConnectionRoutes = ({ db, store, egress, listTriggersOf }: Parts): Route[] => {
  const find = finder(db, 'event connection', 'event_connection_id', findEventConnection);

  const toResponse = (row: EventConnectionRow) => ({
    id: row.id,
    name: row.name,
    kind: row.kind,
    settings: shownSettings(store.open(row)),
    created_by: row.created_by,
    created_at: row.created_at,
    updated_at: row.updated_at,
  });

  /** The settings after an update, or null if they stay. */
  const changedSettings = (row: EventConnectionRow, body: { kind?: string; settings?: unknown }) => {
    if (body.kind !== undefined && body.kind !== row.kind) {
      throw unprocessable([{ path: 'kind', message: `cannot be changed; it is ${row.kind}` }]);
    }
    if (body.settings === undefined || body.settings === null) return null;
    const before = store.open(row);
    const after = mergeSettings(before, body.settings);
    if (sameSettings(before, after)) return null;
    checkSettings(after);
    return after;
  };

  const lockToUpdate = async (tx: Tx, id: string, body: { kind?: string; settings?: unknown }) => {
    const row = await lockEventConnection(tx, id);
    return { revision: row.revision, row, after: changedSettings(row, body) };
  };

  return [
    jsonRoute({
      ...reads,
      id: 'listEventConnections',
      request: `GET ${path}`,
      summary: 'List event connections',
      query: listQuery,
      response: eventConnectionPage,
      handler: listPage(db, listEventConnections, toResponse),
    }),
    jsonRoute({
      ...writes,
      id: 'createEventConnection',
      request: `POST ${path}`,
      summary: 'Create an event connection',
      description: 'No broker is asked; a test does that.',
      otherStatuses: [400],
      body: createBody,
      response: eventConnection,
      idempotent: true,
      cache: 'revision',
      handler: ({ body, actor, transaction, etag }) =>
        transaction(async (tx) => {
          const row = await createEventConnection(tx, actor, store, body);
          etag(row.revision);
          return toResponse(row);
        }),
    }),
    jsonRoute({
      ...reads,
      id: 'getEventConnection',
      request: `GET ${onePath}`,
      summary: 'Get an event connection',
      description: 'The response contains no secret, only whether there is one.',
      find,
      response: eventConnection,
      cache: 'revision',
      handler: async ({ found, etag }) => {
        etag(found.revision);
        return toResponse(found);
      },
    }),
    jsonRoute({
      ...writes,
      id: 'updateEventConnection',
      request: `PATCH ${onePath}`,
      summary: 'Update an event connection',
      description: 'Another server or another `tls` needs the secrets again.',
      find,
      body: updateBody,
      response: eventConnection,
      cache: 'revision',
      lock: (tx, { found, body }) => lockToUpdate(tx, found.id, body),
      handler: ({ body, actor, transaction, etag }) =>
        transaction(async (tx, { row: before, after }) => {
          const row = await updateEventConnection(tx, actor, store, before, {
            changes: body,
            settings: after,
          });
          etag(row.revision);
          return toResponse(row);
        }),
    }),
    jsonRoute({
      ...writes,
      id: 'deleteEventConnection',
      request: `DELETE ${onePath}`,
      summary: 'Delete an event connection',
      description: 'Returns 412 with `trigger_ids` while triggers use it.',
      find,
      otherStatuses: [412],
      lock: (tx, { found }) => lockToDelete(tx, found.id),
      handler: ({ actor, transaction }) =>
        transaction((tx, row) => deleteEventConnection(tx, actor, listTriggersOf, row)),
    }),
    jsonRoute({
      ...writes,
      id: 'testEventConnectionSettings',
      request: `POST ${path}/test`,
      summary: 'Test the settings of an event connection',
      description: 'Nothing is stored. The response is 200 also when a step fails. It takes at most 10 s.',
      body: testBody,
      response: testResult,
      handler: ({ body }) => {
        const settings = settingsOf(body);
        checkSettings(settings);
        return tryConnection(settings, egress);
      },
    }),
    jsonRoute({
      ...writes,
      id: 'testEventConnection',
      request: `POST ${onePath}/test`,
      summary: 'Test an event connection',
      description: 'The response is 200 also when a step fails. It takes at most 10 s.',
      find,
      response: testResult,
      handler: async ({ found, actor }) => {
        const result = await tryConnection(store.open(found), egress);
        await db.tx((tx) => audit(tx, actor, 'event_connection.test', found.id, { ok: result.ok }));
        return result;
      },
    }),
  ];
};
