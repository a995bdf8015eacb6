import { type Executor, everything, type Tx } from '../database/index.ts';
import type { Feature, Services } from '../feature.ts';
import { unprocessable } from '../lib/errors.ts';
import type { Actor } from '../lib/principal.ts';
import type { Sandbox } from '../sandbox/index.ts';
import { tlsFaults } from './configuration.ts';
import { connectionActions, selectOf } from './connection-actions.ts';
import {
  changedChannel,
  checkVerified,
  createDataConnection,
  deleteDataConnection,
  lockDataConnection,
  lockToDelete,
  type NewConnection,
  updateDataConnection,
} from './data-connections.ts';
import type { ReadQuery, Session, TableInfo } from './engines/engine.ts';
import { ConnectionFailure } from './engines/failures.ts';
import { createEngines, type OpenSession } from './engines/index.ts';
import type { ConnectionSettings, EngineName } from './engines/settings.ts';
import { createSqlite } from './engines/sqlite.ts';
import type { Rows } from './engines/values.ts';
import { createOwnDatabase } from './own-database.ts';
import { Pools } from './pools.ts';
import { createReading } from './reading.ts';
import { dataConnectionRoutes } from './routes.ts';
import { type Configured, createSettingsStore, settingsOf } from './settings.ts';
import {
  type DataConnectionRow,
  type FieldChanges,
  findDataConnection,
  listDataConnections,
} from './store.ts';
import { verify } from './verify.ts';

export type { TableInfo } from './engines/engine.ts';
export type { Value, Warning } from './engines/values.ts';
export { form as dataConnectionForm } from './schemas.ts';
export { lockDataConnectionForShare } from './store.ts';

/** A foreign query, without its time limit, which is DATA_QUERY_TIMEOUT_SECONDS. */
type ForeignQuery = Omit<ReadQuery, 'timeoutMs'>;

interface TableName {
  schema?: string | undefined;
  name: string;
}

export interface DataConnections extends Feature {
  /** All connections with their secrets. */
  list(executor: Executor): Promise<(NewConnection & { id: string })[]>;
  /** Tries a configuration, without a transaction. Throws 422 with `details` and `steps` if it cannot be used. */
  check(body: Configured): Promise<void>;
  /** Like `dialectOf`, in a transaction. */
  dialectIn(executor: Executor, id: string): Promise<Dialect | undefined>;
  /** Creates a connection whose configuration was checked. `leaving`: how many the transaction deletes afterwards. */
  create(tx: Tx, actor: Actor, body: NewConnection, leaving: number): Promise<DataConnectionRow>;
  /** A configuration is not merged: it replaces the one before, and was checked. */
  update(
    tx: Tx,
    actor: Actor,
    id: string,
    changes: FieldChanges & { configuration?: unknown },
  ): Promise<DataConnectionRow>;
  /** Throws 412 while semantic data models use it. */
  delete(tx: Tx, actor: Actor, id: string): Promise<void>;
  /** Closes the sessions of this replica after the transaction; the others are notified. */
  closeSessions(id: string): void;
  /**
   * Runs one read-only statement, which a printer of ours wrote, on the database of a connection. Throws 404 for an
   * unknown connection, 412 with `data_connection_id` and `reason` if its database cannot be used, 422 with `reason`
   * (`timeout`, `query_failed`, `too_large`) if it refuses the statement, and 503 if it is too busy. Call it outside
   * any transaction.
   */
  run(id: string, query: ForeignQuery): Promise<Rows>;
  /**
   * The tables of these names, in their order; null for one that does not exist or may not be read. Without a schema it
   * is the default one. Throws like `run`.
   */
  describeTables(id: string, tables: readonly TableName[]): Promise<(TableInfo | null)[]>;
  /** The first rows of a table that `describeTables` found. Throws like `run`. */
  sample(id: string, table: TableInfo, limit: number): Promise<Rows>;
  /** Returns undefined for an unknown connection. Its database is not asked. */
  dialectOf(id: string): Promise<Dialect | undefined>;
  /**
   * A connection whose dialect decides what is run on it at once: `dialectOf` and `run` with one reading of its row.
   * Undefined for an unknown connection.
   */
  open(id: string): Promise<OpenDataConnection | undefined>;
}

/** A data connection as it was when it was opened: for one request, because a later edit does not change it. */
export interface OpenDataConnection {
  dialect: Dialect;
  run: (query: ForeignQuery) => Promise<Rows>;
}

export interface Dialect {
  engine: EngineName;
  /** The connection's database; null for a file. */
  database: string | null;
  /** The schema of a table without one. */
  defaultSchema: string;
}

/** Data connections: databases of the company, which the platform only reads. */
export const createDataConnections = (
  { config, db, vault, settings, egress, log }: Services,
  { sandbox }: { sandbox: Sandbox },
): DataConnections => {
  const store = createSettingsStore(vault);
  const engines = createEngines({
    egress,
    own: createOwnDatabase(db, config.databaseUrl),
    sqlite: createSqlite(sandbox, config.sqliteDir),
  });
  const timeoutMs = () => settings.get().DATA_QUERY_TIMEOUT_SECONDS * 1_000;
  const requireReadOnly = () => settings.get().REQUIRE_READ_ONLY_CREDENTIALS;

  /** Opens a session for queries. A user that may write is refused also if the setting came after the connection. */
  const openForQueries: OpenSession = async (given, progress) => {
    const session = await engines.open(given, progress);
    try {
      if (requireReadOnly() && (await progress.within(session.isWritable()))) {
        throw new ConnectionFailure('denied', 'The user may change data (REQUIRE_READ_ONLY_CREDENTIALS).');
      }
      return session;
    } catch (error) {
      session.close();
      throw error;
    }
  };
  const pools = new Pools(openForQueries, () => settings.get().DATA_CONNECTION_POOL_SIZE);
  const reading = createReading({ db, log, settings: store, pools });
  const verifySettings = (given: ConnectionSettings) => verify(engines.open, given, requireReadOnly());
  const check = async (given: ConnectionSettings): Promise<void> => {
    const faults = tlsFaults(given);
    if (faults.length > 0) throw unprocessable(faults);
    checkVerified(await verifySettings(given), given);
  };
  const dialectOf = (given: ConnectionSettings): Dialect => ({
    engine: given.engine,
    database: given.engine === 'sqlite' ? null : given.database,
    defaultSchema: engines.defaultSchema(given),
  });
  const closeChanged = (id: string | null): void => {
    if (id === null) pools.closeAll();
    else pools.close(id);
  };

  const read = (session: Session, query: ForeignQuery): Promise<Rows> =>
    session.read({ ...query, timeoutMs: timeoutMs() });

  const open = async (id: string): Promise<OpenDataConnection | undefined> => {
    const row = await db.run((executor) => findDataConnection(executor, id));
    if (!row) return undefined;
    const connection = store.open(row);
    return {
      dialect: dialectOf(connection.settings),
      run: (query) => reading.withSession(connection, (session) => read(session, query)),
    };
  };

  return {
    tag: { name: 'Data connections', description: 'Databases that semantic data models read.' },
    routes: [
      ...dataConnectionRoutes({
        db,
        store,
        settings,
        check,
        closeSessions: (id) => pools.close(id),
      }),
      ...connectionActions({ db, store, engines, reading, verify: verifySettings, timeoutMs }),
    ],
    list: async (executor) =>
      (await listDataConnections(executor, everything)).map((row) => {
        const { engine, ...configuration } = store.open(row).settings;
        const { id, name, description, tags } = row;
        return { id, name, description, tags, engine, configuration };
      }),
    check: (body) => check(settingsOf(body)),
    dialectIn: async (executor, id) => {
      const row = await findDataConnection(executor, id);
      return row && dialectOf(store.open(row).settings);
    },
    create: (tx, actor, body, leaving) => createDataConnection(tx, actor, store, body, leaving),
    update: async (tx, actor, id, { configuration, ...changes }) => {
      const before = await lockDataConnection(tx, id);
      const { engine } = before;
      const given = configuration === undefined ? null : settingsOf({ engine, configuration });
      return updateDataConnection(tx, actor, store, before, { changes, settings: given });
    },
    delete: async (tx, actor, id) => deleteDataConnection(tx, actor, await lockToDelete(tx, id)),
    closeSessions: (id) => pools.close(id),
    secrets: store.secrets,
    start: async () => db.listen(changedChannel, closeChanged),
    stop: async () => pools.closeAll(),
    run: (id, query) => reading.withSessionOf(id, (session) => read(session, query)),
    sample: (id, table, limit) =>
      reading.withSessionOf(id, (session, { settings: given }) =>
        session.read(selectOf(engines, given.engine, table, limit, timeoutMs())),
      ),
    open,
    dialectOf: async (id) => (await open(id))?.dialect,
    describeTables: (id, tables) =>
      reading.withSessionOf(id, async (session, { settings: given }) => {
        const wanted = tables.map(({ schema = engines.defaultSchema(given), name }) => ({ schema, name }));
        const found: TableInfo[] = [];
        for (const [schema, ofSchema] of Map.groupBy(wanted, (table) => table.schema)) {
          const names = [...new Set(ofSchema.map(({ name }) => name))];
          const filter = { schema, names, limit: names.length };
          found.push(...(await engines.listTables(given.engine, session, filter)).tables);
        }
        // SQLite tells the case of no name.
        const key = (name: string) => (given.engine === 'sqlite' ? name.toLowerCase() : name);
        return wanted.map(
          ({ schema, name }) =>
            found.find((one) => one.schema === schema && key(one.name) === key(name)) ?? null,
        );
      }),
  };
};
