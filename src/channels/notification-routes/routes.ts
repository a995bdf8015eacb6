import type { Database } from '../../database/index.ts';
import { finder, jsonRoute, listPage, type Route } from '../../http/index.ts';
import type { ChannelSettingsStore } from '../settings.ts';
import { checkedChanges, createRoute, deleteRoute, lockRoute, updateRoute } from './notification-routes.ts';
import { createBody, listQuery, route, routePage, updateBody } from './schemas.ts';
import { findRoute, listRoutes } from './store.ts';

const path = '/routes';
const onePath = `${path}/{route_id}`;

const reads = { role: 'builder', scope: 'alerts:read', base: 'v2' } as const;
const writes = { role: 'admin', scope: 'alerts', base: 'v2' } as const;

export const notificationRouteRoutes = ({
  db,
  store,
}: {
  db: Database;
  store: ChannelSettingsStore;
}): Route[] => {
  const find = finder(db, 'route', 'route_id', findRoute);
  return [
    jsonRoute({
      ...reads,
      id: 'listRoutes',
      request: `GET ${path}`,
      summary: 'List routes',
      query: listQuery,
      response: routePage,
      handler: listPage(db, listRoutes),
    }),
    jsonRoute({
      ...writes,
      id: 'createRoute',
      request: `POST ${path}`,
      summary: 'Create a route',
      body: createBody,
      response: route,
      idempotent: true,
      cache: 'revision',
      handler: ({ body, actor, transaction, etag }) =>
        transaction(async (tx) => {
          const row = await createRoute(tx, actor, store, body);
          etag(row.revision);
          return row;
        }),
    }),
    jsonRoute({
      ...reads,
      id: 'getRoute',
      request: `GET ${onePath}`,
      summary: 'Get a route',
      find,
      response: route,
      cache: 'revision',
      handler: async ({ found, etag }) => {
        etag(found.revision);
        return found;
      },
    }),
    jsonRoute({
      ...writes,
      id: 'updateRoute',
      request: `PATCH ${onePath}`,
      summary: 'Update a route',
      description: 'Reviews and alerts that are open keep the steps that they have.',
      find,
      body: updateBody,
      response: route,
      cache: 'revision',
      lock: async (tx, { found, body }) => {
        const row = await lockRoute(tx, found.id);
        return { revision: row.revision, row, changes: checkedChanges(row, body) };
      },
      handler: ({ actor, transaction, etag }) =>
        transaction(async (tx, { row: before, changes }) => {
          const row = await updateRoute(tx, actor, store, before, changes);
          etag(row.revision);
          return row;
        }),
    }),
    jsonRoute({
      ...writes,
      id: 'deleteRoute',
      request: `DELETE ${onePath}`,
      summary: 'Delete a route',
      find,
      lock: (tx, { found }) => lockRoute(tx, found.id),
      handler: ({ actor, transaction }) => transaction((tx, row) => deleteRoute(tx, actor, row)),
    }),
  ];
};
