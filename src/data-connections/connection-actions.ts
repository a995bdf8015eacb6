import type { Database } from '../database/index.ts';
import { jsonRoute, positionCursor, type Route, readPosition } from '../http/index.ts';
import { unprocessable } from '../lib/errors.ts';
import { tlsFaults } from './configuration.ts';
import type { ReadQuery, TableInfo } from './engines/engine.ts';
import type { Engines } from './engines/index.ts';
import type { ConnectionSettings, EngineName } from './engines/settings.ts';
import type { Reading } from './reading.ts';
import { auditTest, dataConnectionFinder, dataConnectionPath, oneDataConnectionPath } from './routes.ts';
import { preview, previewBody, tablePage, tablesQuery, testBody, testResult } from './schemas.ts';
import type { ConnectionSettingsStore } from './settings.ts';
import type { Verification } from './verify.ts';

interface ConnectionActionParts {
  db: Database;
  store: ConnectionSettingsStore;
  timeoutMs: () => number;
  engines: Engines;
  reading: Reading;
  verify: (settings: ConnectionSettings) => Promise<Verification>;
}

/** Reads the first rows of a table, which the catalog has found. */
export const selectOf = (
  engines: Engines,
  engine: EngineName,
  table: TableInfo,
  limit: number,
  timeoutMs: number,
): ReadQuery => ({
  sql: engines.printSelect(
    engine,
    table,
    table.columns.map(({ name }) => name),
    limit + 1,
  ),
  parameters: [],
  limit,
  timeoutMs,
  datatypes: table.columns.map(({ datatype }) => datatype),
  permitted: { tables: [table.name], functions: [] },
});

const toTestResult = ({ failure, ...shown }: Verification) => ({
  ...shown,
  ...(failure ? { reason: failure.reason } : {}),
});

const byName = 'schema name';

/** Tests of data connections, and looks at what is in them. */
export const connectionActions = ({
  db,
  store,
  engines,
  reading,
  verify,
  timeoutMs,
}: ConnectionActionParts): Route[] => {
  const find = dataConnectionFinder(db);
  return [
    jsonRoute({
      id: 'testDataConnectionSettings',
      role: 'builder',
      scope: 'data',
      base: 'v2',
      request: `POST ${dataConnectionPath}/test`,
      summary: 'Test the configuration of a data connection',
      description: 'Nothing is stored. The response is 200 also when a step fails.',
      body: testBody,
      response: testResult,
      handler: async ({ body: { engine, configuration } }) => {
        const given = { engine, ...configuration } as ConnectionSettings;
        const faults = tlsFaults(given);
        if (faults.length > 0) throw unprocessable(faults);
        return toTestResult(await verify(given));
      },
    }),
    jsonRoute({
      id: 'testDataConnection',
      role: 'builder',
      scope: 'data',
      base: 'v2',
      request: `POST ${oneDataConnectionPath}/test`,
      summary: 'Test a data connection',
      description: 'The response is 200 also when a step fails.',
      find,
      response: testResult,
      handler: async ({ found, actor }) => {
        const result = await verify(store.open(found).settings);
        await reading.recordStatus(found, result.failure?.message ?? null, 0);
        await auditTest(db, actor, found.id, result.ok);
        return toTestResult(result);
      },
    }),
    jsonRoute({
      id: 'listDataConnectionTables',
      role: 'builder',
      scope: 'data:read',
      base: 'v2',
      request: `GET ${oneDataConnectionPath}/tables`,
      summary: 'List the tables of a data connection',
      description: 'Lists the tables that its user may read. Returns 412 if the database cannot be used.',
      find,
      query: tablesQuery,
      response: tablePage,
      otherStatuses: [412],
      handler: async ({ found, query: { limit, next, schema, search } }) => {
        const [afterSchema, afterName] = readPosition(next, byName, ['text', 'text']) ?? [];
        const after =
          afterSchema === undefined ? undefined : { schema: afterSchema, name: afterName as string };
        const { tables, more } = await reading.withSession(store.open(found), (session) =>
          engines.listTables(found.engine, session, { schema, search, after, limit }),
        );
        const last = tables.at(-1);
        return {
          data: tables,
          has_more: more,
          next: more && last ? positionCursor(byName, [last.schema, last.name]) : '',
        };
      },
    }),
    jsonRoute({
      id: 'previewDataConnectionTable',
      role: 'builder',
      scope: 'data',
      base: 'v2',
      request: `POST ${oneDataConnectionPath}/preview`,
      summary: 'Preview a table of a data connection',
      description: 'Returns the first rows of a table. Returns 412 if the database cannot be used.',
      find,
      body: previewBody,
      response: preview,
      otherStatuses: [412],
      handler: ({ found, body, left }) =>
        reading.withSession(store.open(found), async (session, connection) => {
          const schema = body.schema ?? engines.defaultSchema(connection.settings);
          const filter = { schema, names: [body.table], limit: 1 };
          const [table] = (await engines.listTables(found.engine, session, filter)).tables;
          if (!table) {
            throw unprocessable([
              { path: 'table', message: `${schema}.${body.table} is not a table that the user may read` },
            ]);
          }
          const select = selectOf(engines, found.engine, table, body.limit, timeoutMs());
          return session.read({ ...select, signal: left });
        }),
    }),
  ];
};
