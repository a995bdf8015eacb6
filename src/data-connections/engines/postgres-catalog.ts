import type { Session, TableFilter, TableInfo, TableList } from './engine.ts';
import { datatypeOfType } from './postgres-types.ts';

const catalogTimeoutMs = 15_000;

/** Columns and keys come as JSON, so that a page of tables is one statement. */
const tablesSql = `with page as (
    select c.oid, n.nspname::text collate "C" as schema, c.relname::text collate "C" as name, c.relkind, c.reltuples
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where c.relkind in ('r', 'p', 'v', 'm', 'f')
      and n.nspname not in ('pg_catalog', 'information_schema') and n.nspname !~ '^pg_(toast|temp)'
      and has_schema_privilege(n.oid, 'USAGE')
      and (has_table_privilege(c.oid, 'SELECT') or has_any_column_privilege(c.oid, 'SELECT'))
      and ($1::text is null or n.nspname = $1) and ($2::json is null or c.relname in (select json_array_elements_text($2::json)))
      and ($3::text is null or position(lower($3) in lower(c.relname::text)) > 0)
      and ($4::text is null or (n.nspname::text collate "C", c.relname::text collate "C") > ($4, $5))
    order by 2, 3 limit $6::int
  )
  select schema, name,
    case relkind when 'v' then 'view' when 'm' then 'materialized_view' when 'f' then 'foreign_table' else 'table' end,
    obj_description(oid, 'pg_class'),
    case when relkind <> 'v' and reltuples >= 0 then reltuples::bigint end,
    (select json_agg(json_build_array(a.attname, format_type(a.atttypid, a.atttypmod), b.typname, b.typtype,
        not a.attnotnull, col_description(a.attrelid, a.attnum)) order by a.attnum)
      from pg_attribute a join pg_type t on t.oid = a.atttypid
        join pg_type b on b.oid = case when t.typtype = 'd' then t.typbasetype else t.oid end
      where a.attrelid = page.oid and a.attnum > 0 and not a.attisdropped
        and has_column_privilege(a.attrelid, a.attnum, 'SELECT')),
    (select json_agg(json_build_array(i.indisprimary, (
        select json_agg(a.attname order by k.position) from unnest(i.indkey::int2[]) with ordinality as k (number, position)
          join pg_attribute a on a.attrelid = i.indrelid and a.attnum = k.number
        where k.position <= i.indnkeyatts)) order by i.indexrelid)
      from pg_index i
      where i.indrelid = page.oid and i.indisunique and i.indisvalid and i.indpred is null and i.indexprs is null),
    (select json_agg(json_build_array(
        (select json_agg(a.attname order by k.position) from unnest(f.conkey) with ordinality as k (number, position)
          join pg_attribute a on a.attrelid = f.conrelid and a.attnum = k.number),
        n.nspname, c.relname,
        (select json_agg(a.attname order by k.position) from unnest(f.confkey) with ordinality as k (number, position)
          join pg_attribute a on a.attrelid = f.confrelid and a.attnum = k.number)) order by f.conname)
      from pg_constraint f join pg_class c on c.oid = f.confrelid join pg_namespace n on n.oid = c.relnamespace
      where f.conrelid = page.oid and f.contype = 'f' and f.conparentid = 0)
  from page order by 1, 2`;

type ColumnRow = [
  name: string,
  type: string,
  base: string,
  kind: string,
  nullable: boolean,
  comment: string | null,
];
type KeyRow = [primary: boolean, columns: string[]];
type ForeignKeyRow = [columns: string[], schema: string, table: string, toColumns: string[]];

const listOf = <T>(json: unknown): T[] => (json === null ? [] : (JSON.parse(String(json)) as T[]));

const tableOf = (row: readonly unknown[]): TableInfo => {
  const [schema, name, kind, comment, estimate, columns, keys, foreign] = row;
  const unique = listOf<KeyRow>(keys);
  return {
    schema: String(schema),
    name: String(name),
    kind: kind as TableInfo['kind'],
    comment: comment as string | null,
    row_estimate: estimate === null ? null : Number(estimate),
    columns: listOf<ColumnRow>(columns).map(([column, type, base, typtype, nullable, about]) => ({
      name: column,
      type,
      datatype: datatypeOfType(base, typtype),
      nullable,
      comment: about,
    })),
    primary_key: unique.find(([primary]) => primary)?.[1] ?? [],
    unique_keys: unique.filter(([primary]) => !primary).map(([, names]) => names),
    foreign_keys: listOf<ForeignKeyRow>(foreign).map(([from, toSchema, toTable, to]) => ({
      columns: from,
      to_schema: toSchema,
      to_table: toTable,
      to_columns: to,
    })),
  };
};

/** The tables that the user may read, with the columns that the user may read. */
export const listPostgresTables = async (session: Session, filter: TableFilter): Promise<TableList> => {
  const { schema, names, search, after, limit } = filter;
  const { rows, truncated } = await session.read({
    sql: tablesSql,
    parameters: [
      schema ?? null,
      names ? JSON.stringify(names) : null,
      search ?? null,
      after?.schema ?? null,
      after?.name ?? null,
      limit + 1,
    ],
    limit,
    timeoutMs: catalogTimeoutMs,
    maxCharacters: Number.POSITIVE_INFINITY,
  });
  return { tables: rows.map(tableOf), more: truncated };
};
