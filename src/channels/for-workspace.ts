import { type Executor, everything, type Tx } from '../database/index.ts';
import type { Actor } from '../lib/principal.ts';
import { createChannel, deleteChannel, lockChannel, lockToDelete, updateChannel } from './channels.ts';
import { createdSettings, mergeSettings, sameSettings } from './configuration.ts';
import {
  checkedChanges,
  createRoute,
  deleteRoute,
  lockRoute,
  updateRoute,
} from './notification-routes/notification-routes.ts';
import { type RouteFields, updateBody as routeChanges } from './notification-routes/schemas.ts';
import { listRoutes } from './notification-routes/store.ts';
import type { ChannelKind, ChannelSettingsStore } from './settings.ts';
import { channels, type Fields, listChannels } from './store.ts';

/** The body that creates a channel. */
type ChannelBody = Fields & { kind: ChannelKind } & Record<string, unknown>;

/** Channels and routes as a workspace document changes them. */
export const createChanges = (store: ChannelSettingsStore) => ({
  channels: {
    /** All channels with their secrets. */
    list: async (executor: Executor) =>
      (await listChannels(executor, everything)).map((row) => ({
        id: row.id,
        name: row.name,
        enabled: row.enabled,
        include_arguments: row.include_arguments,
        ...store.open(row),
      })),
    create: (tx: Tx, actor: Actor, body: ChannelBody, leaving: number) =>
      createChannel(
        tx,
        actor,
        store,
        channels.given(body) as unknown as Fields,
        createdSettings(body.kind, body),
        leaving,
      ),
    update: async (tx: Tx, actor: Actor, id: string, changes: Record<string, unknown>) => {
      const before = await lockChannel(tx, id);
      const settings = store.open(before);
      const after = mergeSettings(settings, changes);
      return updateChannel(tx, actor, store, before, {
        changes,
        settings: sameSettings(settings, after) ? null : after,
      });
    },
    delete: async (tx: Tx, actor: Actor, id: string) => deleteChannel(tx, actor, await lockToDelete(tx, id)),
  },
  routes: {
    list: async (executor: Executor) =>
      (await listRoutes(executor, everything)).map(
        ({ id, name, enabled, position, for: purpose, match, steps, decide_role }) => ({
          id,
          name,
          enabled,
          position,
          for: purpose,
          match,
          steps,
          decide_role,
        }),
      ),
    create: (tx: Tx, actor: Actor, fields: RouteFields, leaving: number) =>
      createRoute(tx, actor, store, fields, leaving),
    update: async (tx: Tx, actor: Actor, id: string, changes: Record<string, unknown>) => {
      const before = await lockRoute(tx, id);
      return updateRoute(tx, actor, store, before, checkedChanges(before, routeChanges.parse(changes)));
    },
    delete: async (tx: Tx, actor: Actor, id: string) => deleteRoute(tx, actor, await lockRoute(tx, id)),
  },
});
