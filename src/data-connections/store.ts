import { z } from 'zod';
import { type Executor, type Page, selectPage, sql, type Tx } from '../database/index.ts';
import { text } from '../http/index.ts';
import {
  type ChangesOf,
  column,
  generated,
  nullable,
  type RowOf,
  required,
  resource,
  stamps,
  type TableOf,
  type ValuesOf,
  withDefault,
} from '../resource/index.ts';
import type { EngineName } from './engines/settings.ts';

export const connectionStates = ['ok', 'unreachable', 'unverified'] as const;

const tags = z.array(text(100, 1)).max(20, 'must have at most 20 tags');

/** Data connections. What their engines need is in `settings`. */
export const dataConnections = resource(
  'data_connections',
  {
    name: required(text(200, 1)),
    description: nullable(text(10_000)),
    tags: withDefault(tags, []).resettable().shownAs(z.array(z.string())),
  },
  {
    id: column<string>(),
    engine: column<EngineName>(),
    /** ConnectionSettings, sealed. */
    settings: column<string>(),
    state: generated<(typeof connectionStates)[number]>(),
    checked_at: generated<Date | null>(),
    /** The failure of the last attempt; null if it succeeded. */
    detail: generated<string | null>(),
    created_by: column<string>(),
    ...stamps,
  },
);
const { columns } = dataConnections;

export type Fields = ValuesOf<typeof dataConnections>;
export type FieldChanges = ChangesOf<typeof dataConnections>;
export type DataConnectionRow = RowOf<typeof dataConnections>;

declare module '../database/database.ts' {
  interface Schema {
    data_connections: TableOf<typeof dataConnections>;
  }
}

export interface DataConnectionFilter extends Page {
  engine?: EngineName | undefined;
  /** The beginning of the name, without case. */
  name?: string | undefined;
}

/** Newest first. */
export const listDataConnections = (
  executor: Executor,
  { engine, name, ...page }: DataConnectionFilter,
): Promise<DataConnectionRow[]> => {
  let query = executor.selectFrom('data_connections').select(columns);
  if (engine !== undefined) query = query.where('engine', '=', engine);
  if (name !== undefined) query = query.where(sql<boolean>`starts_with(lower(name), lower(${name}))`);
  return selectPage(query, page);
};

const byId = (executor: Executor, id: string) =>
  executor.selectFrom('data_connections').select(columns).where('id', '=', id);

export const findDataConnection = (executor: Executor, id: string): Promise<DataConnectionRow | undefined> =>
  byId(executor, id).executeTakeFirst();

/** The row, locked until the transaction ends. Semantic data models can still begin to use it. */
export const findLockedDataConnection = (tx: Tx, id: string): Promise<DataConnectionRow | undefined> =>
  byId(tx, id).forNoKeyUpdate().executeTakeFirst();

/** Like `findLockedDataConnection`, and no semantic data model begins to use it. */
export const lockDataConnectionForDelete = (tx: Tx, id: string): Promise<DataConnectionRow | undefined> =>
  byId(tx, id).forUpdate().executeTakeFirst();

/** Locks the row so that it is not deleted before the transaction ends. Returns false if there is none. */
export const lockDataConnectionForShare = async (tx: Tx, id: string): Promise<boolean> =>
  (await tx
    .selectFrom('data_connections')
    .select('id')
    .where('id', '=', id)
    .forKeyShare()
    .executeTakeFirst()) !== undefined;

/** The ids of at most `limit` semantic data models of the connection. */
export const listModelsOf = async (tx: Tx, id: string, limit: number): Promise<string[]> => {
  const rows = await tx
    .selectFrom('semantic_data_models')
    .select('id')
    .where('data_connection_id', '=', id)
    .orderBy('id')
    .limit(limit)
    .execute();
  return rows.map((row) => row.id);
};

/** The status after a verification that succeeded a moment ago. */
const verified = () => ({ state: 'ok' as const, checked_at: sql<Date>`platform_now()`, detail: null });

/** Inserts a connection that was verified a moment ago. */
export const insertDataConnection = (
  tx: Tx,
  fields: Fields,
  row: Pick<DataConnectionRow, 'id' | 'engine' | 'settings' | 'created_by'>,
): Promise<DataConnectionRow> =>
  tx
    .insertInto('data_connections')
    .values({ ...dataConnections.write(fields), ...row, ...verified() })
    .returning(columns)
    .executeTakeFirstOrThrow();

/** Changes the locked row and raises its revision. `settings`: other ones, which were verified a moment ago. */
export const updateDataConnectionRow = (
  tx: Tx,
  id: string,
  changes: FieldChanges,
  settings: string | undefined,
): Promise<DataConnectionRow> =>
  dataConnections.update(tx, id, changes, settings === undefined ? {} : { settings, ...verified() });

/**
 * Stores what came of an attempt with `settings`, unless they are not the present ones any more. It is no change of the
 * resource.
 */
export const updateStatus = async (
  executor: Executor,
  { id, settings }: Pick<DataConnectionRow, 'id' | 'settings'>,
  failure: string | null,
): Promise<void> => {
  await executor
    .updateTable('data_connections')
    .set({
      state: failure === null ? 'ok' : 'unreachable',
      detail: failure,
      checked_at: sql<Date>`platform_now()`,
    })
    .where('id', '=', id)
    .where('settings', '=', settings)
    .execute();
};

export const deleteDataConnectionRow = async (tx: Tx, id: string): Promise<void> => {
  await tx.deleteFrom('data_connections').where('id', '=', id).execute();
};
