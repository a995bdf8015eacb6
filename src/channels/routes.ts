import type { Database, Tx } from '../database/index.ts';
import { finder, jsonRoute, listPage, type Route } from '../http/index.ts';
import { unprocessable } from '../lib/errors.ts';
import { createChannel, deleteChannel, lockChannel, lockToDelete, updateChannel } from './channels.ts';
import { checkSettings, createdSettings, mergeSettings, sameSettings } from './configuration.ts';
import { channel, channelPage, createBody, listQuery, testResult, updateBody } from './schemas.ts';
import { type ChannelSettingsStore, shownSettings } from './settings.ts';
import { type ChannelRow, channels, findChannel, listChannels } from './store.ts';
import type { TestChannel } from './try-channel.ts';

const path = '/channels';
const onePath = `${path}/{channel_id}`;

interface Parts {
  db: Database;
  store: ChannelSettingsStore;
  publicUrl: () => string;
  test: TestChannel;
}

const reads = { role: 'builder', scope: 'alerts:read', base: 'v2' } as const;
const writes = { role: 'admin', scope: 'alerts', base: 'v2' } as const;

export const channelRoutes = ({ db, store, publicUrl, test }: Parts): Route[] => {
  const find = finder(db, 'channel', 'channel_id', findChannel);

  const toResponse = (row: ChannelRow) => ({
    id: row.id,
    name: row.name,
    enabled: row.enabled,
    include_arguments: row.include_arguments,
    ...shownSettings(store.open(row), `${publicUrl()}/app/api/channels/${row.id}/slack`),
    state: row.state,
    last_success_at: row.last_success_at,
    last_error: row.last_error,
    created_by: row.created_by,
    created_at: row.created_at,
    updated_at: row.updated_at,
  });

  /** The settings after an update, or null if they stay. */
  const changedSettings = (row: ChannelRow, body: Record<string, unknown>) => {
    if (body.kind !== undefined && body.kind !== row.kind) {
      throw unprocessable([{ path: 'kind', message: `cannot be changed; it is ${row.kind}` }]);
    }
    const before = store.open(row);
    const after = mergeSettings(before, body);
    if (sameSettings(before, after)) return null;
    checkSettings(after);
    return after;
  };

  const lockToUpdate = async (tx: Tx, id: string, body: Record<string, unknown>) => {
    const row = await lockChannel(tx, id);
    return { revision: row.revision, row, after: changedSettings(row, body) };
  };

  return [
    jsonRoute({
      ...reads,
      id: 'listChannels',
      request: `GET ${path}`,
      summary: 'List channels',
      query: listQuery,
      response: channelPage,
      handler: listPage(db, listChannels, toResponse),
    }),
    jsonRoute({
      ...writes,
      id: 'createChannel',
      request: `POST ${path}`,
      summary: 'Create a channel',
      description: 'Nothing is sent; a test does that.',
      otherStatuses: [400],
      body: createBody,
      response: channel,
      idempotent: true,
      cache: 'revision',
      handler: ({ body, actor, transaction, etag }) =>
        transaction(async (tx) => {
          const settings = createdSettings(body.kind, body);
          const row = await createChannel(tx, actor, store, channels.given(body) as typeof body, settings);
          etag(row.revision);
          const generated = settings.kind === 'webhook' && (body as { secret?: string }).secret === undefined;
          return { ...toResponse(row), ...(generated && { secret: settings.secret }) };
        }),
    }),
    jsonRoute({
      ...reads,
      id: 'getChannel',
      request: `GET ${onePath}`,
      summary: 'Get a channel',
      description: 'The response contains no secret, only whether there is one.',
      find,
      response: channel,
      cache: 'revision',
      handler: async ({ found, etag }) => {
        etag(found.revision);
        return toResponse(found);
      },
    }),
    jsonRoute({
      ...writes,
      id: 'updateChannel',
      request: `PATCH ${onePath}`,
      summary: 'Update a channel',
      description: 'Another `url` or `api_url` needs every secret again. Messages that wait are due at once.',
      find,
      body: updateBody,
      response: channel,
      cache: 'revision',
      lock: (tx, { found, body }) => lockToUpdate(tx, found.id, body),
      handler: ({ body, actor, transaction, etag }) =>
        transaction(async (tx, { row: before, after }) => {
          const row = await updateChannel(tx, actor, store, before, { changes: body, settings: after });
          etag(row.revision);
          return toResponse(row);
        }),
    }),
    jsonRoute({
      ...writes,
      id: 'deleteChannel',
      request: `DELETE ${onePath}`,
      summary: 'Delete a channel',
      description: 'Returns 412 with `route_ids` while routes name it. What waits to be sent is not sent.',
      find,
      otherStatuses: [412],
      lock: (tx, { found }) => lockToDelete(tx, found.id),
      handler: ({ actor, transaction }) => transaction((tx, row) => deleteChannel(tx, actor, row)),
    }),
    jsonRoute({
      ...writes,
      id: 'testChannel',
      request: `POST ${onePath}/test`,
      summary: 'Test a channel',
      description:
        'Sends a message to `conversation` or `recipients`, else to you, and the event `channel.test` to a webhook; PagerDuty is asked to resolve what it does not know. The response is 200 also when a step fails. It takes at most 10 s.',
      find,
      response: testResult,
      handler: ({ found, actor }) => test(found, actor),
    }),
  ];
};
