import { z } from 'zod';
import { type Executor, type Page, selectPage, sql, type Tx } from '../database/index.ts';
import { text } from '../http/index.ts';
import {
  type ChangesOf,
  column,
  generated,
  type RowOf,
  required,
  resource,
  stamps,
  type TableOf,
  type ValuesOf,
  withDefault,
} from '../resource/index.ts';
import type { ChannelKind } from './settings.ts';

export const channelStates = ['unknown', 'ok', 'failing'] as const;

/** Channels. What their kinds need is in `settings`. */
export const channels = resource(
  'channels',
  {
    name: required(text(200, 1).describe('Unique, whatever the case.')),
    enabled: withDefault(z.boolean().describe('Messages wait while it is false.'), true),
    include_arguments: withDefault(
      z
        .boolean()
        .describe('Whether messages have the arguments of calls. Default: true for Slack and e-mail.'),
      true,
    ),
  },
  {
    id: column<string>(),
    kind: column<ChannelKind>(),
    /** ChannelSettings, sealed. */
    settings: column<string>(),
    /** Those of an e-mail channel. */
    recipients: column<string[]>(),
    state: generated<(typeof channelStates)[number]>(),
    last_success_at: generated<Date | null>(),
    last_error: generated<string | null>(),
    failing_since: generated<Date | null>(),
    /** Nothing is sent before this. */
    paused_until: generated<Date | null>(),
    created_by: column<string>(),
    ...stamps,
  },
);
const { columns } = channels;

export type Fields = ValuesOf<typeof channels>;
export type FieldChanges = ChangesOf<typeof channels>;
export type ChannelRow = RowOf<typeof channels>;

declare module '../database/database.ts' {
  interface Schema {
    channels: TableOf<typeof channels>;
  }
}

/** Newest first. */
export const listChannels = (
  executor: Executor,
  { kind, ...page }: Page & { kind?: ChannelKind | undefined },
): Promise<ChannelRow[]> => {
  let query = executor.selectFrom('channels').select(columns);
  if (kind !== undefined) query = query.where('kind', '=', kind);
  return selectPage(query, page);
};

const byId = (executor: Executor, id: string) =>
  executor.selectFrom('channels').select(columns).where('id', '=', id);

export const findChannel = (executor: Executor, id: string): Promise<ChannelRow | undefined> =>
  byId(executor, id).executeTakeFirst();

/** The row, locked until the transaction ends. Routes can still begin to name it. */
export const findLockedChannel = (tx: Tx, id: string): Promise<ChannelRow | undefined> =>
  byId(tx, id).forNoKeyUpdate().executeTakeFirst();

/** Like `findLockedChannel`, and no route begins to name it. */
export const lockChannelForDelete = (tx: Tx, id: string): Promise<ChannelRow | undefined> =>
  byId(tx, id).forUpdate().executeTakeFirst();

/** The channels with these ids, locked so that none is deleted before the transaction ends. */
export const lockChannelsForShare = (tx: Tx, ids: readonly string[]): Promise<ChannelRow[]> =>
  tx
    .selectFrom('channels')
    .select(columns)
    .where('id', 'in', ids.length === 0 ? [null as never] : [...ids])
    .orderBy('id')
    .forKeyShare()
    .execute();

export const insertChannel = (
  tx: Tx,
  fields: Fields,
  row: Pick<ChannelRow, 'id' | 'kind' | 'settings' | 'recipients' | 'created_by'>,
): Promise<ChannelRow> =>
  tx
    .insertInto('channels')
    .values({ ...channels.write(fields), ...row })
    .returning(columns)
    .executeTakeFirstOrThrow();

/** Changes the locked row and raises its revision. With other settings nothing is known of it any more. */
export const updateChannelRow = (
  tx: Tx,
  id: string,
  changes: FieldChanges,
  sealed: Pick<ChannelRow, 'settings' | 'recipients'> | undefined,
): Promise<ChannelRow> =>
  channels.update(tx, id, changes, {
    paused_until: null,
    ...(sealed && { ...sealed, state: 'unknown', last_error: null, failing_since: null }),
  });

export const deleteChannelRow = async (tx: Tx, id: string): Promise<void> => {
  await tx.deleteFrom('channels').where('id', '=', id).execute();
};

/** What an attempt says of its channel. */
export interface ChannelResult {
  id: string;
  /** That of the row whose settings were used: an edit in the meantime makes the result one of others. */
  revision: number;
  /** Null: it worked. */
  error: string | null;
  /** For how long the receiver wants nothing, in milliseconds. */
  pauseMs?: number | undefined;
  /** It may be used again, whatever its receiver asked for. */
  resumes?: boolean;
}

/** Records what came of an attempt. It is no change of the channel: its revision stays. */
export const recordChannelResult = async (
  executor: Executor,
  { id, revision, error, pauseMs, resumes = false }: ChannelResult,
): Promise<void> => {
  await sql`update channels set state = ${error === null ? 'ok' : 'failing'}, last_error = ${error},
      last_success_at = case when ${error}::text is null then platform_now() else last_success_at end,
      failing_since = case when ${error}::text is null then null else coalesce(failing_since, platform_now()) end,
      paused_until = case when ${resumes} then null when ${pauseMs ?? null}::float8 is null then paused_until
        else greatest(paused_until, platform_now() + ${pauseMs ?? null}::float8 * interval '1 millisecond') end
    where id = ${id} and revision = ${revision}`.execute(executor);
};

/** Channels that are on and failing, the first that failed first. */
export const listFailingChannels = (
  executor: Executor,
): Promise<Pick<ChannelRow, 'id' | 'name' | 'failing_since' | 'last_error'>[]> =>
  executor
    .selectFrom('channels')
    .select(['id', 'name', 'failing_since', 'last_error'])
    .where('enabled', '=', true)
    .where('state', '=', 'failing')
    .orderBy('failing_since')
    .execute();

/** Enabled Slack channels. */
export const listEnabledSlackChannels = (executor: Executor): Promise<ChannelRow[]> =>
  executor
    .selectFrom('channels')
    .select(columns)
    .where('kind', '=', 'slack')
    .where('enabled', '=', true)
    .orderBy('id')
    .execute();
