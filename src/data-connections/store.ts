import { type Executor, type Page, selectPage, sql, type Table, type Tx } from '../database/index.ts';
import type { EngineName } from './engines/settings.ts';

export const connectionStates = ['ok', 'unreachable', 'unverified'] as const;

export interface DataConnectionRow {
  id: string;
  name: string;
  description: string | null;
  engine: EngineName;
  /** ConnectionSettings, sealed. */
  settings: string;
  tags: string[];
  state: (typeof connectionStates)[number];
  checked_at: Date | null;
  /** Of the last attempt; null unless it failed. */
  detail: string | null;
  created_by: string;
  revision: number;
  created_at: Date;
  updated_at: Date;
}

declare module '../database/database.ts' {
  interface Schema {
    data_connections: Table<
      DataConnectionRow,
      'state' | 'checked_at' | 'detail' | 'revision' | 'created_at' | 'updated_at'
    >;
  }
}

const columns = [
  'id',
  'name',
  'description',
  'engine',
  'settings',
  'tags',
  'state',
  'checked_at',
  'detail',
  'created_by',
  'revision',
  'created_at',
  'updated_at',
] as const;

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

export const countDataConnections = async (executor: Executor): Promise<number> => {
  const { count } = await executor
    .selectFrom('data_connections')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return count;
};

type Verified = Pick<DataConnectionRow, 'name' | 'description' | 'settings' | 'tags'>;

/** Inserts a connection that was verified a moment ago. */
export const insertDataConnection = (
  tx: Tx,
  row: Verified & Pick<DataConnectionRow, 'id' | 'engine' | 'created_by'>,
): Promise<DataConnectionRow> =>
  tx
    .insertInto('data_connections')
    .values({ ...row, state: 'ok', checked_at: sql<Date>`platform_now()` })
    .returning(columns)
    .executeTakeFirstOrThrow();

/** Writes all fields of the locked row and raises its revision. `verified`: its settings were verified a moment ago. */
export const updateDataConnectionRow = (
  tx: Tx,
  id: string,
  fields: Verified,
  verified: boolean,
): Promise<DataConnectionRow> =>
  tx
    .updateTable('data_connections')
    .set({
      ...fields,
      ...(verified ? { state: 'ok' as const, checked_at: sql<Date>`platform_now()`, detail: null } : {}),
      revision: sql<number>`revision + 1`,
      updated_at: sql<Date>`platform_now()`,
    })
    .where('id', '=', id)
    .returning(columns)
    .executeTakeFirstOrThrow();

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
