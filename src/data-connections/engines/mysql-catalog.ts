import type { Session, TableFilter, TableInfo, TableList } from './engine.ts';
import { QueryFailure } from './failures.ts';
import { datatypeOfColumn } from './mysql-types.ts';

const catalogTimeoutMs = 15_000;

const systemSchemas = `('mysql', 'information_schema', 'performance_schema', 'sys')`;

/** The current user as information_schema names it: `'user'@'host'`. */
const grantee = `concat('''', substring(current_user(), 1, char_length(current_user()) -
  char_length(substring_index(current_user(), '@', -1)) - 1), '''@''', substring_index(current_user(), '@', -1), '''')`;
/** DROP is what TRUNCATE needs. */
const writes = `('INSERT', 'UPDATE', 'DELETE', 'DROP', 'SUPER')`;

/** The user may change a table that is no system table. Columns also tell the privileges of roles. */
export const writableSql = `select
  exists (select 1 from information_schema.USER_PRIVILEGES where GRANTEE = ${grantee} and PRIVILEGE_TYPE in ${writes})
  or exists (select 1 from information_schema.SCHEMA_PRIVILEGES
    where GRANTEE = ${grantee} and PRIVILEGE_TYPE in ${writes} and TABLE_SCHEMA not in ${systemSchemas})
  or exists (select 1 from information_schema.TABLE_PRIVILEGES
    where GRANTEE = ${grantee} and PRIVILEGE_TYPE in ${writes} and TABLE_SCHEMA not in ${systemSchemas})
  or exists (select 1 from information_schema.COLUMNS where TABLE_SCHEMA not in ${systemSchemas}
    and (find_in_set('insert', PRIVILEGES) > 0 or find_in_set('update', PRIVILEGES) > 0))`;

const read = async (session: Session, sql: string, parameters: string[], limit: number) => {
  const { rows, truncated } = await session.read({
    sql,
    parameters,
    limit,
    timeoutMs: catalogTimeoutMs,
    maxCharacters: Number.POSITIVE_INFINITY,
  });
  return { rows: rows.map((row) => row.map((value) => (value === null ? null : String(value)))), truncated };
};

const mostDetails = 200_000;

/** The rows of `sql`, in which `TABLES` stands for the condition that the row is of one of the tables. */
const details = async (session: Session, sql: string, tables: readonly TableInfo[]) => {
  const condition = tables.map(() => '(TABLE_SCHEMA = ? and TABLE_NAME = ?)').join(' or ');
  const { rows, truncated } = await read(
    session,
    sql.replace('TABLES', `(${condition})`),
    tables.flatMap(({ schema, name }) => [schema, name]),
    mostDetails,
  );
  if (truncated) throw new QueryFailure('too_large', 'The tables have too many columns to be listed.');
  return rows;
};

const keyOf = (schema: string | null | undefined, name: string | null | undefined) => `${schema}\0${name}`;

const addColumns = async (session: Session, tables: Map<string, TableInfo>): Promise<void> => {
  const rows = await details(
    session,
    `select TABLE_SCHEMA, TABLE_NAME, COLUMN_NAME, COLUMN_TYPE, DATA_TYPE, IS_NULLABLE, COLUMN_COMMENT
      from information_schema.COLUMNS where TABLES and find_in_set('select', PRIVILEGES) > 0
      order by ORDINAL_POSITION`,
    [...tables.values()],
  );
  for (const [schema, table, name, type, dataType, nullable, comment] of rows) {
    tables.get(keyOf(schema, table))?.columns.push({
      name: name!,
      type: type!,
      datatype: datatypeOfColumn(dataType!, type!),
      nullable: nullable === 'YES',
      comment: comment || null,
    });
  }
};

/** TABLE_CONSTRAINTS hides keys from a user who may only SELECT; STATISTICS does not. */
const addKeys = async (session: Session, tables: Map<string, TableInfo>): Promise<void> => {
  const rows = await details(
    session,
    `select TABLE_SCHEMA, TABLE_NAME, INDEX_NAME, COLUMN_NAME, SUB_PART
      from information_schema.STATISTICS where TABLES and NON_UNIQUE = 0
      order by INDEX_NAME, SEQ_IN_INDEX`,
    [...tables.values()],
  );
  const keys = new Map<string, { table: TableInfo; name: string; columns: (string | null)[] }>();
  for (const [schema, table, name, column, part] of rows) {
    const info = tables.get(keyOf(schema, table));
    if (!info) continue;
    const key = `${keyOf(schema, table)}\0${name}`;
    const found = keys.get(key) ?? { table: info, name: name!, columns: [] };
    keys.set(key, found);
    // Neither an expression nor the beginning of a column is unique as a column.
    found.columns.push(part === null ? (column ?? null) : null);
  }
  for (const { table, name, columns } of keys.values()) {
    const whole = columns.filter((column) => column !== null);
    if (whole.length < columns.length) continue;
    if (name === 'PRIMARY') table.primary_key = whole;
    else table.unique_keys.push(whole);
  }
};

const addForeignKeys = async (session: Session, tables: Map<string, TableInfo>): Promise<void> => {
  const rows = await details(
    session,
    `select TABLE_SCHEMA, TABLE_NAME, CONSTRAINT_NAME, COLUMN_NAME, REFERENCED_TABLE_SCHEMA, REFERENCED_TABLE_NAME,
        REFERENCED_COLUMN_NAME
      from information_schema.KEY_COLUMN_USAGE where TABLES and REFERENCED_TABLE_NAME is not null
      order by CONSTRAINT_NAME, ORDINAL_POSITION`,
    [...tables.values()],
  );
  const keys = new Map<string, TableInfo['foreign_keys'][number]>();
  for (const [schema, table, name, column, toSchema, toTable, toColumn] of rows) {
    const key = `${keyOf(schema, table)}\0${name}`;
    let found = keys.get(key);
    if (!found) {
      found = { columns: [], to_schema: toSchema!, to_table: toTable!, to_columns: [] };
      keys.set(key, found);
      tables.get(keyOf(schema, table))?.foreign_keys.push(found);
    }
    found.columns.push(column!);
    found.to_columns.push(toColumn!);
  }
};

/** The tables of all databases that the user may read, by the bytes of their names. */
export const listMysqlTables = async (session: Session, filter: TableFilter): Promise<TableList> => {
  const conditions: [condition: string, ...parameters: string[]][] = [];
  if (filter.schema !== undefined) conditions.push(['TABLE_SCHEMA = ?', filter.schema]);
  if (filter.names) {
    conditions.push([`TABLE_NAME in (${filter.names.map(() => '?').join(', ')})`, ...filter.names]);
  }
  if (filter.search !== undefined) {
    conditions.push(['locate(lower(?), lower(TABLE_NAME)) > 0', filter.search]);
  }
  if (filter.after) {
    conditions.push([
      '(cast(TABLE_SCHEMA as binary), cast(TABLE_NAME as binary)) > (cast(? as binary), cast(? as binary))',
      filter.after.schema,
      filter.after.name,
    ]);
  }
  const { rows, truncated } = await read(
    session,
    `select TABLE_SCHEMA, TABLE_NAME, TABLE_TYPE, TABLE_COMMENT, TABLE_ROWS from information_schema.TABLES
      where TABLE_SCHEMA not in ${systemSchemas} and TABLE_TYPE in ('BASE TABLE', 'SYSTEM VERSIONED', 'VIEW')
        and (TABLE_SCHEMA, TABLE_NAME) in (select TABLE_SCHEMA, TABLE_NAME from information_schema.COLUMNS
          where TABLE_SCHEMA not in ${systemSchemas} and find_in_set('select', PRIVILEGES) > 0)
        ${conditions.map(([condition]) => `and ${condition}`).join(' ')}
      order by cast(TABLE_SCHEMA as binary), cast(TABLE_NAME as binary) limit ${filter.limit + 1}`,
    conditions.flatMap(([, ...parameters]) => parameters),
    filter.limit,
  );
  const tables = new Map<string, TableInfo>();
  for (const [schema, name, type, comment, estimate] of rows) {
    const view = type === 'VIEW';
    tables.set(keyOf(schema, name), {
      schema: schema!,
      name: name!,
      kind: view ? 'view' : 'table',
      // information_schema gives every view the comment VIEW.
      comment: view || !comment ? null : comment,
      row_estimate: view || estimate == null ? null : Number(estimate),
      columns: [],
      primary_key: [],
      unique_keys: [],
      foreign_keys: [],
    });
  }
  if (tables.size > 0) {
    await addColumns(session, tables);
    await addKeys(session, tables);
    await addForeignKeys(session, tables);
  }
  return { tables: [...tables.values()], more: truncated };
};
