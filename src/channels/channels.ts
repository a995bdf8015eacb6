import { audit } from '../audit/index.ts';
import { advisoryLock, notify, type Tx } from '../database/index.ts';
import { ApiError, notFound, unprocessable } from '../lib/errors.ts';
import { newId } from '../lib/ids.ts';
import type { Actor } from '../lib/principal.ts';
import { readSettings } from '../settings/index.ts';
import { checkSettings } from './configuration.ts';
import { failMessagesOfChannel, makeMessagesDue } from './messages/store.ts';
import { listRoutesOfChannel } from './notification-routes/store.ts';
import type { ChannelSettings, ChannelSettingsStore } from './settings.ts';
import {
  type ChannelRow,
  channels,
  deleteChannelRow,
  type FieldChanges,
  type Fields,
  findLockedChannel,
  insertChannel,
  lockChannelForDelete,
  updateChannelRow,
} from './store.ts';

/** The channel of the database that notifies replicas of a channel that was edited or deleted. */
export const channelsChanged = 'channels_changed';

/** Two creates or renames come one after the other. Throws 422 if another channel has the name. */
const lockName = async (tx: Tx, name: string, ownId: string | null): Promise<void> => {
  await advisoryLock(tx, 'channels');
  const taken = await channels.findIdByName(tx, name);
  if (taken === undefined || taken === ownId) return;
  throw unprocessable([{ path: 'name', message: 'belongs to another channel; give another one' }]);
};

/**
 * Creates a channel; nothing is sent. Throws 422 with `setting` if there are as many as there may be, and for settings that
 * could never be used. `leaving`: how many others the transaction deletes afterwards.
 */
export const createChannel = async (
  tx: Tx,
  actor: Actor,
  store: ChannelSettingsStore,
  fields: Fields,
  settings: ChannelSettings,
  leaving = 0,
): Promise<ChannelRow> => {
  checkSettings(settings);
  await lockName(tx, fields.name, null);
  const { MAX_CHANNELS: max } = await readSettings(tx);
  if ((await channels.count(tx)) - leaving >= max) {
    throw unprocessable(
      [{ path: 'name', message: `is one too many: there are ${max} channels, the maximum` }],
      {
        setting: 'MAX_CHANNELS',
      },
    );
  }
  const id = newId();
  const row = await insertChannel(tx, fields, {
    id,
    kind: settings.kind,
    ...sealedOf(store, id, settings),
    created_by: actor.principal.id,
  });
  await notify(tx, channelsChanged, id);
  await audit(tx, actor, 'channel.create', id, { ...fields, ...store.masked(settings) });
  return row;
};

/** Returns the row, locked until the transaction ends. Throws 404 if there is none. */
export const lockChannel = async (tx: Tx, id: string): Promise<ChannelRow> => {
  const row = await findLockedChannel(tx, id);
  if (!row) throw notFound('channel');
  return row;
};

/** Changes the locked row. `settings`: other ones; null: they stay. Messages that wait are due at once. */
export const updateChannel = async (
  tx: Tx,
  actor: Actor,
  store: ChannelSettingsStore,
  before: ChannelRow,
  { changes, settings }: { changes: FieldChanges; settings: ChannelSettings | null },
): Promise<ChannelRow> => {
  if (settings) checkSettings(settings);
  if (changes.name !== undefined && changes.name !== before.name) await lockName(tx, changes.name, before.id);
  const sealed = settings ? sealedOf(store, before.id, settings) : undefined;
  const row = await updateChannelRow(tx, before.id, changes, sealed);
  await makeMessagesDue(tx, row.id);
  await notify(tx, channelsChanged, row.id);
  await audit(tx, actor, 'channel.update', row.id, {
    ...channels.given(changes),
    ...(settings && store.masked(settings)),
  });
  return row;
};

/** The columns of settings. */
const sealedOf = (store: ChannelSettingsStore, id: string, settings: ChannelSettings) => ({
  settings: store.seal(id, settings),
  recipients: settings.kind === 'email' ? settings.recipients : [],
});

/** The most routes that an error names. */
const shownRoutes = 200;

/** Returns the channel, locked so that no route begins to name it. Throws 404 if there is none. */
export const lockToDelete = async (tx: Tx, id: string): Promise<ChannelRow> => {
  const row = await lockChannelForDelete(tx, id);
  if (!row) throw notFound('channel');
  return row;
};

/** Deletes the locked channel. What waits to be sent in it is not sent. Throws 412 with `route_ids` while routes name it. */
export const deleteChannel = async (
  tx: Tx,
  actor: Actor,
  { id, name, kind }: Pick<ChannelRow, 'id' | 'name' | 'kind'>,
): Promise<void> => {
  const routeIds = await listRoutesOfChannel(tx, id, shownRoutes);
  if (routeIds.length > 0) {
    throw new ApiError('precondition_failed', 'Routes use the channel. Change or delete them first.', {
      route_ids: routeIds,
    });
  }
  await failMessagesOfChannel(tx, id);
  await deleteChannelRow(tx, id);
  await notify(tx, channelsChanged, id);
  await audit(tx, actor, 'channel.delete', id, { name, kind });
};
