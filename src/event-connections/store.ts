import { type Executor, type Page, selectPage, type Tx } from '../database/index.ts';
import { text } from '../http/index.ts';
import {
  type ChangesOf,
  column,
  type RowOf,
  required,
  resource,
  stamps,
  type TableOf,
  type ValuesOf,
} from '../resource/index.ts';
import type { ConnectionKind } from './settings.ts';

/** Event connections. What their kinds need is in `settings`. */
export const eventConnections = resource(
  'event_connections',
  { name: required(text(200, 1).describe('Unique, whatever the case.')) },
  {
    id: column<string>(),
    kind: column<ConnectionKind>(),
    /** ConnectionSettings, sealed. */
    settings: column<string>(),
    created_by: column<string>(),
    ...stamps,
  },
);
const { columns } = eventConnections;

export type Fields = ValuesOf<typeof eventConnections>;
export type FieldChanges = ChangesOf<typeof eventConnections>;
export type EventConnectionRow = RowOf<typeof eventConnections>;

declare module '../database/database.ts' {
  interface Schema {
    event_connections: TableOf<typeof eventConnections>;
  }
}

/** Newest first. */
export const listEventConnections = (
  executor: Executor,
  { kind, ...page }: Page & { kind?: ConnectionKind | undefined },
): Promise<EventConnectionRow[]> => {
  let query = executor.selectFrom('event_connections').select(columns);
  if (kind !== undefined) query = query.where('kind', '=', kind);
  return selectPage(query, page);
};

const byId = (executor: Executor, id: string) =>
  executor.selectFrom('event_connections').select(columns).where('id', '=', id);

export const findEventConnection = (
  executor: Executor,
  id: string,
): Promise<EventConnectionRow | undefined> => byId(executor, id).executeTakeFirst();

/** The row, locked until the transaction ends. Triggers can still begin to use it. */
export const findLockedEventConnection = (tx: Tx, id: string): Promise<EventConnectionRow | undefined> =>
  byId(tx, id).forNoKeyUpdate().executeTakeFirst();

/** Like `findLockedEventConnection`, and no trigger begins to use it. */
export const lockEventConnectionForDelete = (tx: Tx, id: string): Promise<EventConnectionRow | undefined> =>
  byId(tx, id).forUpdate().executeTakeFirst();

/** Locks the row so that it is not deleted before the transaction ends. Resolves to its kind; undefined if there is none. */
export const lockEventConnectionForShare = async (tx: Tx, id: string): Promise<ConnectionKind | undefined> =>
  (
    await tx
      .selectFrom('event_connections')
      .select('kind')
      .where('id', '=', id)
      .forKeyShare()
      .executeTakeFirst()
  )?.kind;

export const insertEventConnection = (
  tx: Tx,
  fields: Fields,
  row: Pick<EventConnectionRow, 'id' | 'kind' | 'settings' | 'created_by'>,
): Promise<EventConnectionRow> =>
  tx
    .insertInto('event_connections')
    .values({ ...eventConnections.write(fields), ...row })
    .returning(columns)
    .executeTakeFirstOrThrow();

/** Changes the locked row and raises its revision. */
export const updateEventConnectionRow = (
  tx: Tx,
  id: string,
  changes: FieldChanges,
  settings: string | undefined,
): Promise<EventConnectionRow> =>
  eventConnections.update(tx, id, changes, settings === undefined ? {} : { settings });

export const deleteEventConnectionRow = async (tx: Tx, id: string): Promise<void> => {
  await tx.deleteFrom('event_connections').where('id', '=', id).execute();
};
