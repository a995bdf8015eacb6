import { describe, expect, it } from 'vitest';
import { refusalOf, tables } from '../tests/refusals.ts';
import { engines, parseSelect, print, type RefusalReason, resolve, SqlRefusal } from './index.ts';

const attacks: [sql: string, reason: RefusalReason, name?: string | null][] = [
  // Other statements, and more than one
  ['DROP TABLE orders', 'not_a_select'],
  ['DELETE FROM orders', 'not_a_select'],
  ['INSERT INTO orders VALUES (1)', 'not_a_select'],
  ['UPDATE orders SET id = 1', 'not_a_select'],
  ['EXPLAIN ANALYZE SELECT 1', 'not_a_select'],
  ["COPY orders TO '/tmp/x'", 'not_a_select'],
  ['SET ROLE postgres', 'not_a_select'],
  ['DO $$ BEGIN PERFORM pg_sleep(1); END $$', 'not_a_select'],
  ['CALL f()', 'not_a_select'],
  ['BEGIN', 'not_a_select'],
  ['VALUES (1)', 'not_a_select', 'VALUES'],
  ['SELECT * FROM (VALUES (1)) v', 'not_a_select', 'VALUES'],
  ['SELECT 1 UNION VALUES (2)', 'not_a_select', 'VALUES'],
  ['TABLE orders', 'not_a_select', 'TABLE'],
  ['SELECT 1 UNION TABLE orders', 'not_a_select', 'TABLE'],
  ['SELECT (TABLE orders)', 'not_a_select', 'TABLE'],
  ['SELECT id INTO stolen FROM orders', 'not_a_select', 'SELECT INTO'],
  ['WITH d AS (DELETE FROM orders RETURNING *) SELECT * FROM d', 'not_a_select'],
  ['WITH d AS (INSERT INTO orders VALUES (1) RETURNING id) SELECT * FROM d', 'not_a_select'],
  ['SELECT 1; DROP TABLE orders', 'multiple_statements'],
  ['SELECT 1;;SELECT 2', 'multiple_statements'],
  ['', 'syntax_error'],
  ['-- nothing', 'syntax_error'],
  [';', 'syntax_error'],
  ['SELECT', 'not_supported'],
  ['SELECT 1 FROM', 'syntax_error'],
  ['SELECT 1\0; DROP TABLE orders', 'syntax_error'],
  ["SELECT 'a\0b'", 'syntax_error'],
  ["SELECT '\ud800'", 'syntax_error'],
  ["SELECT 'unfinished", 'syntax_error'],
  ['SELECT /* unfinished', 'syntax_error'],
  // Functions with effects, of the catalog, or hidden behind a schema
  ['SELECT pg_sleep(10)', 'function_not_allowed', 'pg_sleep'],
  ['SELECT PG_SLEEP(10)', 'function_not_allowed', 'pg_sleep'],
  ['SELECT "pg_sleep"(10)', 'function_not_allowed', 'pg_sleep'],
  ['SELECT U&"pg\\005fsleep"(10)', 'function_not_allowed', 'pg_sleep'],
  ['SELECT pg_catalog.pg_sleep(10)', 'function_not_allowed', 'pg_catalog.pg_sleep'],
  ['SELECT pg_catalog.lower(status) FROM orders', 'function_not_allowed', 'pg_catalog.lower'],
  ['SELECT public.lower(status) FROM orders', 'function_not_allowed', 'public.lower'],
  ['SELECT pg/**/_sleep(1)', 'syntax_error'],
  ['SELECT pg_sleep/**/(1)', 'function_not_allowed', 'pg_sleep'],
  ["SELECT set_config('role', 'postgres', false)", 'function_not_allowed', 'set_config'],
  ["SELECT current_setting('is_superuser')", 'function_not_allowed'],
  ["SELECT pg_read_file('/etc/passwd')", 'function_not_allowed'],
  ["SELECT dblink('host=evil', 'select 1')", 'function_not_allowed'],
  ["SELECT lo_import('/etc/passwd')", 'function_not_allowed'],
  ["SELECT query_to_xml('select 1', true, true, '')", 'function_not_allowed'],
  ['SELECT pg_terminate_backend(1)', 'function_not_allowed'],
  ["SELECT nextval('s')", 'function_not_allowed'],
  ["SELECT load_file('/etc/passwd')", 'function_not_allowed'],
  ['SELECT sleep(10)', 'function_not_allowed'],
  ['SELECT benchmark(1000000, 1)', 'function_not_allowed'],
  ["SELECT load_extension('x')", 'function_not_allowed'],
  ["SELECT readfile('/etc/passwd')", 'function_not_allowed'],
  ['SELECT zeroblob(1000000000)', 'function_not_allowed'],
  ['SELECT randomblob(1000000000)', 'function_not_allowed'],
  ["SELECT printf('%1000000000d', 1)", 'function_not_allowed'],
  ["SELECT repeat('x', 1000000000)", 'function_not_allowed'],
  ["SELECT lpad('x', 1000000000)", 'function_not_allowed'],
  ["SELECT read_csv('/etc/passwd')", 'function_not_allowed'],
  ["SELECT getenv('HOME')", 'function_not_allowed'],
  ['SELECT current_user', 'function_not_allowed', 'current_user'],
  ['SELECT session_user', 'function_not_allowed'],
  ['SELECT current_catalog', 'function_not_allowed'],
  ['SELECT version()', 'function_not_allowed'],
  ['SELECT constructor()', 'function_not_allowed', 'constructor'],
  ['SELECT __proto__()', 'function_not_allowed', '__proto__'],
  ['SELECT "toString"()', 'function_not_allowed', 'toString'],
  ["SELECT at_time_zone(day, 'UTC') FROM orders", 'function_not_allowed', 'at_time_zone'],
  ["SELECT day AT TIME ZONE 'x'' || pg_sleep(1)' FROM orders", 'function_not_allowed', 'timezone'],
  ['SELECT "||"(1, 2)', 'function_not_allowed', '||'],
  ["SELECT overlay('a' placing 'b' from 1)", 'function_not_allowed', 'overlay'],
  ['SELECT (1, 2) OVERLAPS (3, 4)', 'function_not_allowed', 'overlaps'],
  ["SELECT COLLATION FOR ('a')", 'function_not_allowed'],
  ["SELECT 'a' IS NORMALIZED", 'function_not_allowed'],
  ["SELECT substring('a' SIMILAR 'b' ESCAPE '#')", 'not_supported'],
  ['SELECT extract(timezone FROM now())', 'not_supported', 'timezone'],
  ["SELECT date_trunc('month''); DROP TABLE orders; --', day) FROM orders", 'not_supported'],
  ["SELECT date_part('constructor', day) FROM orders", 'not_supported'],
  // Functions in FROM
  ["SELECT * FROM pg_ls_dir('/')", 'function_not_allowed', 'pg_ls_dir'],
  ['SELECT * FROM generate_series(1, 1000000000)', 'function_not_allowed', 'generate_series'],
  ["SELECT * FROM dblink('x', 'y') AS t(a int)", 'function_not_allowed', 'dblink'],
  ['SELECT * FROM ROWS FROM (pg_sleep(1))', 'function_not_allowed', 'pg_sleep'],
  ['SELECT * FROM orders, LATERAL pg_sleep(1)', 'function_not_allowed', 'pg_sleep'],
  ["SELECT * FROM read_csv('/etc/passwd')", 'function_not_allowed', 'read_csv'],
  ["SELECT * FROM lower('x')", 'function_not_allowed', 'lower'],
  ['SELECT * FROM unnest(ARRAY[1])', 'function_not_allowed', 'unnest'],
  ["SELECT * FROM XMLTABLE('/a' PASSING '<a/>' COLUMNS b text)", 'not_supported'],
  ["SELECT * FROM JSON_TABLE('{}', '$' COLUMNS (a int))", 'not_supported'],
  ['SELECT * FROM current_date', 'function_not_allowed'],
  // Tables and columns that no one has given
  ['SELECT * FROM pg_class', 'unknown_table', 'pg_class'],
  ['SELECT * FROM pg_catalog.pg_authid', 'unknown_table', 'pg_catalog.pg_authid'],
  ['SELECT * FROM information_schema.tables', 'unknown_table', 'information_schema.tables'],
  ['SELECT * FROM public.orders', 'unknown_table', 'public.orders'],
  ['SELECT * FROM a.b.orders', 'unknown_table', 'a.b.orders'],
  ['SELECT * FROM sqlite_master', 'unknown_table'],
  ["SELECT * FROM '/etc/passwd'", 'syntax_error'],
  ['SELECT * FROM "/etc/passwd"', 'unknown_table', '/etc/passwd'],
  ['SELECT * FROM "data.csv"', 'unknown_table', 'data.csv'],
  ['SELECT * FROM constructor', 'unknown_table', 'constructor'],
  ['SELECT * FROM "orders"" AS x; DROP TABLE orders; --"', 'unknown_table'],
  ['SELECT * FROM ORDERS_', 'unknown_table', 'orders_'],
  ['SELECT total FROM orders', 'unknown_column', 'total'],
  ['SELECT ctid FROM orders', 'unknown_column', 'ctid'],
  ['SELECT orders.xmin FROM orders', 'unknown_column', 'orders.xmin'],
  ['SELECT tableoid FROM orders', 'unknown_column', 'tableoid'],
  ['SELECT rowid, _rowid_ FROM orders', 'unknown_column', 'rowid'],
  ['SELECT orders FROM orders', 'unknown_column', 'orders'],
  ['SELECT o FROM orders o', 'unknown_column', 'o'],
  ['SELECT (o).id FROM orders o', 'not_supported'],
  ['SELECT (orders).* FROM orders', 'not_supported'],
  ['SELECT public.orders.id FROM orders', 'unknown_column', 'public.orders.id'],
  ['SELECT x.* FROM orders', 'unknown_table', 'x'],
  ['SELECT "id""; DROP TABLE orders; --" FROM orders', 'unknown_column'],
  ['SELECT a.id FROM orders b', 'unknown_column', 'a.id'],
  ['SELECT id FROM orders a, orders b', 'unknown_column', 'id'],
  ['SELECT b.id FROM orders a, (SELECT a.id) b', 'unknown_column', 'a.id'],
  ['SELECT constructor FROM orders', 'unknown_column', 'constructor'],
  ['SELECT * FROM orders a JOIN orders b ON c.id = a.id JOIN orders c ON true', 'unknown_column', 'c.id'],
  ['WITH a AS (SELECT * FROM b), b AS (SELECT 1) SELECT * FROM a', 'unknown_table', 'b'],
  ['WITH a AS (SELECT * FROM a) SELECT * FROM a', 'unknown_table', 'a'],
  ['SELECT * FROM (WITH c AS (SELECT 1 AS x) SELECT * FROM c) q, c', 'unknown_table', 'c'],
  ['WITH orders AS (SELECT id FROM orders) SELECT amount FROM orders', 'unknown_column', 'amount'],
  // The rest of the grammar
  ['WITH RECURSIVE r AS (SELECT 1 UNION ALL SELECT 1 FROM r) SELECT * FROM r', 'not_supported', 'RECURSIVE'],
  ['WITH a AS MATERIALIZED (SELECT 1) SELECT * FROM a', 'not_supported', 'MATERIALIZED'],
  ['SELECT * FROM orders FOR UPDATE', 'not_supported', 'FOR UPDATE'],
  ['SELECT * FROM orders FOR KEY SHARE SKIP LOCKED', 'not_supported'],
  ['SELECT * FROM orders TABLESAMPLE SYSTEM (1)', 'not_supported', 'TABLESAMPLE'],
  ['SELECT * FROM ONLY orders', 'not_supported', 'ONLY'],
  ['SELECT * FROM LATERAL (SELECT 1) x', 'not_supported'],
  ['SELECT DISTINCT ON (id) id FROM orders', 'not_supported', 'DISTINCT ON'],
  ['SELECT id FROM orders GROUP BY ROLLUP (id)', 'not_supported', 'GROUP BY'],
  ['SELECT id FROM orders GROUP BY GROUPING SETS ((id), ())', 'not_supported', 'GROUP BY'],
  ['SELECT grouping(id) FROM orders GROUP BY id', 'not_supported', 'GroupingFunc'],
  ['SELECT id FROM orders ORDER BY id FETCH FIRST 1 ROWS WITH TIES', 'not_supported', 'WITH TIES'],
  ['SELECT id FROM orders ORDER BY id USING <', 'not_supported'],
  ['SELECT id FROM orders LIMIT (SELECT 1)', 'not_supported', 'LIMIT'],
  ['SELECT id FROM orders LIMIT -1', 'not_supported', 'LIMIT'],
  ["SELECT id FROM orders LIMIT '1'", 'not_supported', 'LIMIT'],
  ['SELECT 1 OPERATOR(pg_catalog.+) 1', 'not_supported', 'OPERATOR(pg_catalog.+)'],
  ['SELECT 1 OPERATOR(evil.+) 1', 'not_supported', 'OPERATOR(evil.+)'],
  ["SELECT status ~ 'a' FROM orders", 'not_supported', '~'],
  ["SELECT status SIMILAR TO 'a' FROM orders", 'not_supported'],
  ['SELECT 1 << 2', 'not_supported', '<<'],
  ['SELECT 1 @@ 2', 'not_supported', '@@'],
  ['SELECT @ 1', 'not_supported', '@'],
  ['SELECT 2 ^ 3', 'not_supported', '^'],
  ['SELECT id = ANY (ARRAY[1]) FROM orders', 'not_supported', '='],
  ['SELECT id > ALL (SELECT 1) FROM orders', 'not_supported'],
  ['SELECT ARRAY[1]', 'not_supported', 'A_ArrayExpr'],
  ['SELECT ARRAY(SELECT 1)', 'not_supported'],
  ['SELECT ROW(1, 2)', 'not_supported', 'RowExpr'],
  ['SELECT (1, 2) = (1, 2)', 'not_supported', 'RowExpr'],
  ['SELECT 1 WHERE (1, 2) IN (SELECT 1, 2)', 'not_supported'],
  ['SELECT $1', 'not_supported', 'ParamRef'],
  ['SELECT lower(VARIADIC status) FROM orders', 'not_supported', 'lower'],
  ['SELECT lower(a => status) FROM orders', 'not_supported', 'NamedArgExpr'],
  ['SELECT lower(status) OVER () FROM orders', 'not_supported', 'lower'],
  ['SELECT lower(DISTINCT status) FROM orders', 'not_supported', 'lower'],
  ['SELECT lower(status) FILTER (WHERE true) FROM orders', 'not_supported', 'lower'],
  ['SELECT sum(*) FROM orders', 'not_supported', 'sum'],
  ['SELECT count() FROM orders', 'not_supported', 'count'],
  ['SELECT count(id, status) FROM orders', 'not_supported', 'count'],
  ['SELECT status COLLATE "C" FROM orders', 'not_supported', 'CollateClause'],
  ['SELECT XMLELEMENT(NAME a)', 'not_supported', 'XmlExpr'],
  ["SELECT JSON_OBJECT('a': 1)", 'not_supported'],
  ["SELECT 'pg_class'::regclass", 'not_supported', 'regclass'],
  ["SELECT 'pg_sleep'::regproc", 'not_supported', 'regproc'],
  ["SELECT 'x'::pg_catalog.regclass", 'not_supported', 'regclass'],
  ["SELECT 'x'::evil.text", 'not_supported', 'evil.text'],
  ["SELECT '{1}'::integer[]", 'not_supported'],
  ['SELECT \'1\'::"char"', 'not_supported', 'char'],
  ["SELECT 'x'::json", 'not_supported', 'json'],
  ["SELECT 'x'::constructor", 'not_supported', 'constructor'],
  ['SELECT 1::numeric(1000, 0)', 'not_supported'],
  ["SELECT B'101'", 'not_supported'],
  ["SELECT X'ff'", 'not_supported'],
  ['SELECT 1e400', 'not_supported', '1e400'],
  ["SELECT interval '1 day'", 'not_supported'],
  ["SELECT interval 'P1D' + day FROM orders", 'not_supported', 'interval'],
  ["SELECT day + interval '99999999 days' FROM orders", 'not_supported', 'interval'],
  ['SELECT day - now() FROM orders', 'not_supported'],
  ['SELECT DEFAULT', 'not_supported'],
  ['SELECT sum(id) OVER (w ORDER BY id) FROM orders WINDOW w AS ()', 'not_supported', 'w'],
  ['SELECT sum(id) OVER nowhere FROM orders', 'not_supported', 'nowhere'],
  ['SELECT sum(id) OVER (ORDER BY id GROUPS 1 PRECEDING) FROM orders', 'not_supported', 'GROUPS'],
  ['SELECT sum(id) OVER (ORDER BY id RANGE 1 PRECEDING) FROM orders', 'not_supported', 'RANGE'],
  [
    'SELECT sum(id) OVER (ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING EXCLUDE TIES) FROM orders',
    'not_supported',
    'EXCLUDE',
  ],
  ['SELECT rank() FROM orders', 'not_supported', 'rank'],
  ['SELECT lag(id, id) OVER () FROM orders', 'not_supported', 'lag'],
  ['SELECT count(DISTINCT id) OVER () FROM orders', 'not_supported', 'count'],
  // Meanings that engines would guess
  ['SELECT id, sum(amount) FROM orders', 'not_supported', 'id'],
  ['SELECT * FROM orders GROUP BY id', 'not_supported', 'status'],
  ['SELECT id FROM orders HAVING sum(amount) > 1', 'not_supported', 'id'],
  ['SELECT id FROM orders GROUP BY id ORDER BY amount', 'not_supported', 'amount'],
  ['SELECT cast(amount as integer) FROM orders GROUP BY cast(amount as text)', 'not_supported', 'amount'],
  ['SELECT id, (SELECT orders.status) FROM orders GROUP BY id', 'not_supported', 'status'],
  ['SELECT id FROM orders WHERE sum(amount) > 1', 'not_supported', 'sum'],
  ['SELECT id FROM orders WHERE row_number() OVER () = 1', 'not_supported', 'row_number'],
  ['SELECT sum(sum(amount)) FROM orders', 'not_supported', 'sum'],
  ['SELECT sum(amount) FROM orders GROUP BY sum(amount)', 'not_supported', 'sum'],
  ['SELECT sum(amount) FROM orders GROUP BY 1', 'not_supported', 'GROUP BY'],
  ['SELECT id FROM orders WHERE (SELECT sum(orders.amount)) > 1', 'not_supported', 'sum'],
  ["SELECT id FROM orders WHERE day = 'yesterday'", 'not_supported', 'yesterday'],
  ["SELECT id FROM orders WHERE day = '2024-02-30'", 'not_supported', '2024-02-30'],
  ["SELECT id FROM orders WHERE day > '31.01.2024'", 'not_supported'],
  ["SELECT id FROM orders WHERE id = 'one'", 'not_supported', 'one'],
  ['SELECT id FROM orders WHERE status = 5', 'not_supported', '='],
  ['SELECT id FROM orders WHERE day = 20240131', 'not_supported', '='],
  ['SELECT id FROM orders WHERE id', 'not_supported', 'WHERE'],
  ["SELECT id FROM orders WHERE status LIKE 'a\\'", 'not_supported', 'LIKE'],
  ['SELECT status + 1 FROM orders', 'not_supported', '+'],
  ['SELECT lower(id) FROM orders', 'not_supported', 'lower'],
  ['SELECT sum(status) FROM orders', 'not_supported', 'sum'],
  ['SELECT month(status) FROM orders', 'not_supported', 'extract'],
  ['SELECT coalesce(id, status) FROM orders', 'not_supported', 'coalesce'],
  ['SELECT CASE WHEN id THEN 1 END FROM orders', 'not_supported', 'CASE'],
  ['SELECT cast(day as integer) FROM orders', 'not_supported', 'Integer'],
  ['SELECT id, status FROM orders UNION SELECT 1', 'not_supported', 'UNION'],
  ['SELECT id FROM orders UNION SELECT day FROM orders', 'not_supported', 'UNION'],
  ['SELECT DISTINCT id FROM orders ORDER BY amount', 'not_supported', 'ORDER BY'],
  ['SELECT id FROM orders UNION SELECT 1 ORDER BY id + 1', 'not_supported', 'ORDER BY'],
  ['SELECT id FROM orders ORDER BY 2', 'not_supported', 'ORDER BY'],
  ['SELECT id FROM orders, orders', 'not_supported', 'orders'],
  ['SELECT (SELECT id, status FROM orders)', 'not_supported'],
  ['SELECT id FROM orders WHERE id IN (SELECT status FROM orders)', 'not_supported', 'IN'],
  ['WITH a AS (SELECT 1), a AS (SELECT 2) SELECT * FROM a', 'not_supported', 'a'],
];

describe('SQL that is refused', () => {
  for (const [sql, reason, name] of attacks) {
    it(JSON.stringify(sql), () => {
      const { details } = refusalOf(sql);
      expect(details.reason).toBe(reason);
      if (name !== undefined) expect(details.name).toBe(name);
    });
  }
});

describe('limits', () => {
  const nested = (n: number, open: string, close: string) => `SELECT ${open.repeat(n)}1${close.repeat(n)}`;

  it('refuses what is nested deeply, and works afterwards', () => {
    for (const sql of [
      nested(5_000, '(', ')'),
      `SELECT ${'- '.repeat(5_000)}id FROM orders`,
      nested(5_000, 'abs(', ')'),
      nested(150, 'abs(', ')'),
      `SELECT ${'1 + '.repeat(200)}1`,
      `SELECT ${'(SELECT '.repeat(500)}1${')'.repeat(500)}`,
      `SELECT ${'CASE WHEN true THEN '.repeat(500)}1${' END'.repeat(500)}`,
      `SELECT 1 ${'UNION SELECT 1 '.repeat(300)}`,
    ]) {
      const refusal = refusalOf(sql.slice(0, 50_000));
      expect(['not_supported', 'syntax_error']).toContain(refusal.reason);
      expect(parseSelect('SELECT 1').kind).toBe('select');
    }
    expect(refusalOf(`SELECT ${'1 + '.repeat(200)}1`).message).toContain('100 levels');
  });

  it('refuses more characters, nodes and joins than allowed, and takes the most that is', () => {
    expect(refusalOf(`SELECT '${'x'.repeat(50_000)}'`).message).toContain('50000 characters');
    expect(refusalOf(`SELECT 1 IN (${'1,'.repeat(6_000)}1)`).message).toContain('5000 nodes');
    const joins = (n: number) =>
      `SELECT count(*) FROM orders o0 ${Array.from({ length: n }, (_, i) => `CROSS JOIN orders o${i + 1}`).join(' ')}`;
    expect(refusalOf(joins(21)).message).toContain('20 joins');
    expect(
      refusalOf(`SELECT 1 FROM orders o0, ${Array.from({ length: 21 }, (_, i) => `orders o${i + 1}`)}`)
        .message,
    ).toContain('20 joins');
    expect(resolve(parseSelect(joins(20)), tables).columns).toHaveLength(1);
    expect(resolve(parseSelect(`SELECT '${'😀'.repeat(49_000)}'`), tables).columns).toHaveLength(1);
    expect(
      resolve(parseSelect(`SELECT id IN (${'1,'.repeat(4_900)}1) FROM orders`), tables).columns,
    ).toHaveLength(1);
  });

  it('stays small where functions print their arguments several times', () => {
    const sql = `SELECT ${'round('.repeat(30)}id${', 2)'.repeat(30)} FROM orders`;
    const resolved = resolve(parseSelect(sql), tables);
    expect(print(resolved, 'postgres').sql.length).toBeLessThan(10_000);
    const deep = resolve(
      parseSelect(`SELECT ${'trunc('.repeat(30)}id${', 2)'.repeat(30)} FROM orders`),
      tables,
    );
    expect(() => print(deep, 'duckdb')).toThrow(SqlRefusal);
    const wide = resolve(
      parseSelect(`SELECT greatest(${Array.from({ length: 400 }, (_, i) => `id + ${i}`)}) FROM orders`),
      tables,
    );
    expect(() => print(wide, 'mysql')).toThrow(SqlRefusal);
  });

  it('takes chains of WITH queries that each read the one before twice', () => {
    const ctes = Array.from({ length: 18 }, (_, i) =>
      i === 0
        ? 'c0 AS (SELECT id FROM orders)'
        : `c${i} AS (SELECT a.id FROM c${i - 1} a JOIN c${i - 1} b ON a.id = b.id GROUP BY a.id)`,
    );
    const resolved = resolve(parseSelect(`WITH ${ctes.join(', ')} SELECT id FROM c17 GROUP BY id`), tables);
    for (const engine of engines) expect(print(resolved, engine).sql.length).toBeLessThan(10_000);
  });
});
