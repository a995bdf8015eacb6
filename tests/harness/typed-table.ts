import { type Datatype, type Engine, parseSelect, print, resolve, type Table } from '@agent-platform/sql';
import { comparable, openSqlEngines, type SqlEngine } from './sql-engines.ts';

/** One table with a column of each datatype on every engine, and SQL over it. */

const columns: [
  name: string,
  datatype: Datatype,
  types: [pg: string, my: string, lite: string, duck: string],
][] = [
  ['id', 'Integer', ['int', 'int', 'integer', 'integer']],
  ['i', 'Integer', ['bigint', 'bigint', 'integer', 'bigint']],
  ['d', 'Decimal', ['numeric(10,2)', 'decimal(10,2)', 'numeric', 'decimal(10,2)']],
  ['f', 'Float', ['double precision', 'double', 'real', 'double']],
  ['b', 'Boolean', ['boolean', 'boolean', 'integer', 'boolean']],
  ['s', 'String', ['text', 'varchar(100)', 'text', 'varchar']],
  ['digits', 'String', ['text', 'varchar(100)', 'text', 'varchar']],
  ['day', 'Date', ['date', 'date', 'text', 'date']],
  ['ts', 'DateTime', ['timestamp', 'datetime(3)', 'text', 'timestamp']],
  ['tz', 'DateTimeTz', ['timestamptz', 'timestamp(3)', 'text', 'timestamptz']],
  ['tm', 'Time', ['time', 'time', 'text', 'time']],
  ['ni', 'Integer', ['int', 'int', 'integer', 'integer']],
  ['ns', 'String', ['text', 'varchar(10)', 'text', 'varchar']],
  ['nd', 'Date', ['date', 'date', 'text', 'date']],
];
const order: Engine[] = ['postgres', 'mysql', 'sqlite', 'duckdb'];

const rows = [
  "1, 7, 2.50, 2.5, TRUE, 'Hello, Wörld', '42', '2024-01-31', '2024-02-29 13:45:30.250', '2024-12-30 23:30:00', '10:20:30', NULL, NULL, NULL",
  "2, -7, -2.50, 3.5, FALSE, 'hello 100%_x', ' -17 ', '2024-03-15', '2025-01-01 00:00:00', '2025-06-01 12:00:00', '23:59:59', 5, 'x', '2023-12-31'",
  "3, 0, 10.00, -2.5, NULL, 'a-b-c', 'abc', '2023-12-31', '2023-12-31 23:59:59', '2024-02-29 00:00:00', '00:00:00', NULL, NULL, NULL",
];

const tableOf = (schema: string): Table => ({
  name: 't',
  source: { schema, table: 't' },
  columns: columns.map(([name, datatype]) => ({ name, datatype })),
});

/** All engines of this machine, with the table `t`. The caller closes them. */
export const openTyped = async (postgresUrl: string): Promise<SqlEngine[]> => {
  const opened = await openSqlEngines(postgresUrl);
  await Promise.all(
    opened.map(async ({ engine, execute }) => {
      const types = columns.map(([name, , types]) => `${name} ${types[order.indexOf(engine)]}`);
      await execute(`create table t (${types.join(', ')})`);
      for (const row of rows) {
        // SQLite gets other forms of the same moments, which are text there.
        const values =
          engine === 'sqlite'
            ? row
                .replace('2024-02-29 13:45:30.250', '2024-02-29T13:45:30.250')
                .replace('2024-12-30 23:30:00', '2024-12-31T00:30:00+01:00')
            : row;
        await execute(`insert into t values (${values})`);
      }
    }),
  );
  return opened;
};

/** The rows of a query over `t`, in a form that does not depend on the driver. */
export const askTyped = async (engine: SqlEngine, sql: string): Promise<unknown[][]> => {
  const resolved = resolve(parseSelect(sql), [tableOf(engine.schema)]);
  const printed = print(resolved, engine.engine);
  const found = await engine.query(printed).catch((error) => {
    throw new Error(`${error.message}\n${printed.sql}`);
  });
  return found.map((row) => row.map((value, i) => comparable(value, resolved.columns[i]!.datatype)));
};
