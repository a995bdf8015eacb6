import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { hasMariaDb, noMariaDb } from '../../tests/harness/mariadb.ts';
import { comparable, openSqlEngines, type SqlEngine } from '../../tests/harness/sql-engines.ts';
import {
  type Engine,
  engineNames,
  engines,
  parseSelect,
  print,
  resolve,
  SqlRefusal,
  type Table,
} from './index.ts';

const columns: [
  name: string,
  datatype: Table['columns'][number]['datatype'],
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

/** Of row 1 unless it has FROM. */
type Case = [expression: string, expected: unknown];

const cases: Case[] = [
  // Division and remainder
  ['i / 2', 3.5],
  ['7 / 2', 3.5],
  ['i / 0', null],
  ['d / (i - 7)', null],
  ['f / 2', 1.25],
  ['i / ni', null],
  ['10 / 4 * 4', 10],
  ['i % 4', 3],
  ['-7 % 4', -3],
  ['mod(i, 0)', null],
  ['mod(d, 2)', 0.5],
  ['f % 2', 0.5],
  ['- - i', 7],
  ['-(i) + 2', -5],
  ['2 + 3 * 4 - 1', 13],
  ["i + '3'", 10],
  // Rounding
  ['round(2.5)', 3],
  ['round(-2.5)', -3],
  ['round(f)', 2],
  ['round(2.345, 2)', 2.35],
  ['round(f, 0)', 3],
  ['round(1234.5, -2)', 1200],
  ['trunc(2.9)', 2],
  ['trunc(-2.9)', -2],
  ['trunc(2.379, 2)', 2.37],
  ['trunc(-2.379, 2)', -2.37],
  ['truncate(1299, -2)', 1200],
  ['floor(-2.5)', -3],
  ['ceil(2.1)', 3],
  ['ceiling(-2.1)', -2],
  ['abs(-3)', 3],
  ['sign(-2.5)', -1],
  ['power(2, 10)', 1024],
  ['sqrt(16)', 4],
  ['round(exp(2), 3)', 7.389],
  ['round(ln(7), 3)', 1.946],
  ['log10(1000)', 3],
  ['log(2, 8)', 3],
  ['log(100)', 2],
  // Casts
  ['cast(2.5 as integer)', 3],
  ['cast(-2.5 as integer)', -3],
  ['cast(f as bigint)', 2],
  ['cast(d as integer)', 3],
  ["cast('12' as integer)", 12],
  ['cast(digits as integer)', 42],
  ['cast(digits as numeric)', 42],
  ['cast(digits as double precision)', 42],
  ['cast(b as integer)', 1],
  ['cast(i as text)', '7'],
  ['cast(b as text)', 'true'],
  ['cast(day as text)', '2024-01-31'],
  ['cast(ts as text)', '2024-02-29 13:45:30.25'],
  ['cast(tz as text)', '2024-12-30 23:30:00+00'],
  ['cast(tm as text)', '10:20:30'],
  ['cast(ts as date)', '2024-02-29'],
  ['cast(ts as time)', '13:45:30.25'],
  ['cast(day as timestamp)', '2024-01-31 00:00:00'],
  ["cast('2024-05-06' as date)", '2024-05-06'],
  ["cast(concat('2024-05', '-06') as date)", '2024-05-06'],
  ["cast(concat('2024-05-06', ' 07:08:09') as timestamp)", '2024-05-06 07:08:09'],
  ['cast(1.006 as numeric(10, 2))', 1.01],
  ['cast(i as boolean)', true],
  ["cast(concat('y', 'es') as boolean)", true],
  ['cast(s as varchar(5))', 'Hello'],
  ['cast(NULL as date)', null],
  ["date '2024-02-29'", '2024-02-29'],
  ["timestamp '2024-02-29T01:02:03'", '2024-02-29 01:02:03'],
  ["time '01:02:03'", '01:02:03'],
  // Text
  ["concat(s, NULL, ns, '!')", 'Hello, Wörld!'],
  ["concat(i, '-', b)", '7-true'],
  ["s || '!'", 'Hello, Wörld!'],
  ["ns || '!'", null],
  ["'n' || i", 'n7'],
  ['length(s)', 12],
  ['lower(s)', 'hello, wörld'],
  ["upper('abc')", 'ABC'],
  ["trim('  x ')", 'x'],
  ["ltrim('  x ')", 'x '],
  ["rtrim('  x ')", '  x'],
  ["trim(both 'x' from 'xxaxx')", 'a'],
  ["trim(leading 'x' from 'xxaxx')", 'axx'],
  ['left(s, 5)', 'Hello'],
  ['left(s, -7)', 'Hello'],
  ['right(s, 5)', 'Wörld'],
  ['right(s, -7)', 'Wörld'],
  ['left(s, 0)', ''],
  ['right(s, 0)', ''],
  ['right(s, 100)', 'Hello, Wörld'],
  ['left(s, i - 2)', 'Hello'],
  ['substring(s, 8)', 'Wörld'],
  ['substring(s, 8, 2)', 'Wö'],
  ['substring(s from 1 for 5)', 'Hello'],
  ['substring(s, 0, 3)', 'He'],
  ['substring(s, -1, 3)', 'H'],
  ['substr(s, i, 2)', ' W'],
  ["replace(s, 'l', 'L')", 'HeLLo, WörLd'],
  ["replace(s, 'h', 'x')", 'Hello, Wörld'],
  ["position('W' in s)", 8],
  ["position('w' in s)", 0],
  ["strpos(s, 'l')", 3],
  ["charindex('l', s)", 3],
  ["contains(s, 'Wör')", true],
  ["contains(s, 'wör')", false],
  ["contains(s, '')", true],
  ["starts_with(s, 'Hell')", true],
  ["startswith(s, 'hell')", false],
  ["endswith(s, 'ld')", true],
  ["ends_with(s, 'LD')", false],
  ["ends_with(s, '')", true],
  ["starts_with(ns, '')", null],
  ["s LIKE 'Hello%'", true],
  ["s LIKE 'hello%'", false],
  ["s ILIKE 'hello%'", true],
  ["s NOT LIKE 'hello%'", true],
  ["s LIKE 'H_llo, W_rld'", true],
  ["'100%' LIKE '100\\%'", true],
  ["'1000' LIKE '100\\%'", false],
  ["'a*c' LIKE 'a*c'", true],
  ["'abc' LIKE 'a*c'", false],
  ["'a[b]?' LIKE 'a[b]_'", true],
  ["'50%' LIKE '50!%' ESCAPE '!'", true],
  ["'a\\b' LIKE 'a\\\\b'", true],
  ["'it''s' = 'it''s'", true],
  ["'back\\slash'", 'back\\slash'],
  ["'日本' || '語'", '日本語'],
  // Conditions
  ['coalesce(ni, i)', 7],
  ['coalesce(ns, s)', 'Hello, Wörld'],
  ['nullif(i, 7)', null],
  ['ifnull(ni, 3)', 3],
  ['nvl(ni, 4)', 4],
  ['nvl2(ni, 1, 2)', 2],
  ['nvl2(i, 1, 2)', 1],
  ['zeroifnull(ni)', 0],
  ['nullifzero(i - 7)', null],
  ["if(i > 5, 'big', 'small')", 'big'],
  ["iff(ni > 5, 'big', 'small')", 'small'],
  ["CASE WHEN i > 100 THEN 'a' WHEN i = 7 THEN 'b' ELSE 'c' END", 'b'],
  ["CASE i WHEN 1 THEN 'a' WHEN 7 THEN 'b' END", 'b'],
  ['greatest(1, ni, 3)', 3],
  ['least(4, ni, 3)', 3],
  ['greatest(ni, ni)', null],
  ["greatest(day, '2024-02-01')", '2024-02-01'],
  ['least(i)', 7],
  ['i BETWEEN 5 AND 7', true],
  ['i NOT BETWEEN 5 AND 7', false],
  ['i IN (1, 7)', true],
  ['i NOT IN (1, 7)', false],
  ['ni IN (1, 7)', null],
  ['ni IS NULL', true],
  ['ni IS NOT NULL', false],
  ['ni = ni', null],
  ['ni IS DISTINCT FROM 1', true],
  ['ni IS NOT DISTINCT FROM NULL', true],
  ['b IS TRUE', true],
  ['(ni > 1) IS NOT TRUE', true],
  ['(ni > 1) IS UNKNOWN', true],
  ['NOT b OR i = 7', true],
  ['b AND (i = 1 OR i = 7)', true],
  ["b = 'true'", true],
  ['EXISTS (SELECT 1 FROM t x WHERE x.id = 2)', true],
  ['i IN (SELECT x.i FROM t x)', true],
  ['(SELECT max(x.id) FROM t x)', 3],
  ['i NOT IN (SELECT x.id FROM t x)', true],
  // Dates: what is cut down
  ["date_trunc('year', day)", '2024-01-01'],
  ["date_trunc('quarter', ts)", '2024-01-01 00:00:00'],
  ["date_trunc('quarter', date '2024-12-31')", '2024-10-01'],
  ["date_trunc('month', day)", '2024-01-01'],
  ["date_trunc('month', ts)", '2024-02-01 00:00:00'],
  ["date_trunc('week', day)", '2024-01-29'],
  ["date_trunc('week', date '2024-09-01')", '2024-08-26'],
  ["date_trunc('week', date '2024-09-02')", '2024-09-02'],
  ["date_trunc('week', ts)", '2024-02-26 00:00:00'],
  ["date_trunc('day', ts)", '2024-02-29 00:00:00'],
  ["date_trunc('day', tz)", '2024-12-30 00:00:00'],
  ["date_trunc('hour', ts)", '2024-02-29 13:00:00'],
  ["date_trunc('minute', ts)", '2024-02-29 13:45:00'],
  ["date_trunc('second', ts)", '2024-02-29 13:45:30'],
  ["date_trunc('hour', day)", '2024-01-31 00:00:00'],
  ["date_trunc('month', nd)", null],
  // Parts
  ['year(day)', 2024],
  ['quarter(day)', 1],
  ['month(ts)', 2],
  ["week(date '2024-12-30')", 1],
  ["week(date '2023-01-01')", 52],
  ['week(day)', 5],
  ["date_part('isoyear', date '2024-12-30')", 2025],
  ['day(ts)', 29],
  ["dayofweek(date '2024-09-02')", 1],
  ["dayofweek(date '2024-09-01')", 7],
  ["extract(dow from date '2024-09-01')", 0],
  ["extract(isodow from date '2024-09-01')", 7],
  ['dayofyear(ts)', 60],
  ['hour(ts)', 13],
  ['minute(ts)', 45],
  ['second(ts)', 30],
  ['hour(day)', 0],
  ['hour(tm)', 10],
  ['extract(second from ts)', 30.25],
  ["date_part('millisecond', ts)", 30250],
  ['extract(epoch from tz)', 1735601400],
  ['extract(year from tz)', 2024],
  ["date_part('month', day)", 1],
  // Arithmetic of dates
  ['day + 1', '2024-02-01'],
  ['day - 31', '2023-12-31'],
  ["day - date '2024-01-01'", 30],
  ["day - '2024-01-01'", 30],
  ["day + interval '1 month'", '2024-02-29 00:00:00'],
  ["day - interval '1 month 1 day'", '2023-12-30 00:00:00'],
  ["ts + interval '1 day 2 hours 30 minutes'", '2024-03-01 16:15:30.25'],
  ["ts + interval '1 year'", '2025-02-28 13:45:30.25'],
  ["ts - interval '02:00:00'", '2024-02-29 11:45:30.25'],
  ["tz + interval '1' hour", '2024-12-31 00:30:00'],
  ['dateadd(month, 1, day)', '2024-02-29'],
  ["dateadd('month', -2, day)", '2023-11-30'],
  ['dateadd(quarter, 1, day)', '2024-04-30'],
  ['dateadd(year, -1, ts)', '2023-02-28 13:45:30.25'],
  ['dateadd(week, i, day)', '2024-03-20'],
  ['dateadd(day, 1, ts)', '2024-03-01 13:45:30.25'],
  ['dateadd(hour, 25, day)', '2024-02-01 01:00:00'],
  ['dateadd(minute, 15, ts)', '2024-02-29 14:00:30.25'],
  ['dateadd(second, -31, ts)', '2024-02-29 13:44:59.25'],
  ["datediff(year, date '2023-12-31', date '2024-01-01')", 1],
  ["datediff(quarter, date '2023-12-31', date '2024-04-01')", 2],
  ["datediff(month, date '2024-01-31', date '2024-02-01')", 1],
  ["datediff(week, date '2024-09-01', date '2024-09-02')", 1],
  ["datediff(week, date '2024-09-02', date '2024-09-08')", 0],
  ["datediff(week, date '2024-09-08', date '2024-09-01')", -1],
  ["datediff('day', ts, tz)", 305],
  ["datediff(hour, timestamp '2024-01-01 00:59:59', timestamp '2024-01-01 01:00:00')", 1],
  ["datediff(minute, timestamp '1969-12-31 23:59:30', timestamp '1970-01-01 00:00:30')", 1],
  ["datediff(second, timestamp '2024-01-01 00:00:00.9', timestamp '2024-01-01 00:00:01.1')", 1],
  ['datediff(day, day, nd)', null],
  ["to_date('2024-05-06')", '2024-05-06'],
  ["to_timestamp('2024-05-06 07:08:09')", '2024-05-06 07:08:09'],
  ['current_date > day', true],
  ['now() > tz', true],
  ['CURRENT_DATE() = cast(current_timestamp as date)', true],
  ['localtimestamp > ts', true],
  // Text next to dates
  ["day = '2024-01-31'", true],
  ["day >= '2024-01-31T10:00:00Z'", true],
  ["ts > '2024-02-29'", true],
  ["ts = '2024-02-29T13:45:30.25'", true],
  ["ts = '2024-02-29 15:45:30.25+02:00'", true],
  ["tz = '2024-12-31T00:30:00+01:00'", true],
  ["ts BETWEEN '2024-02-01' AND '2024-02-29T23:59:59Z'", true],
  ["day IN ('2024-01-30', '2024-01-31')", true],
  ["tm < '10:20:31'", true],
  ['day < ts', true],
  ['tz > ts', true],
  ['cast(day as timestamp) = day', true],
];

/** Over several rows. */
const queries: [sql: string, expected: unknown[][]][] = [
  [
    'SELECT count(*), count(ni), count(DISTINCT b), sum(i), avg(i), min(day), max(length(s)) FROM t WHERE id < 3',
    [[2, 1, 2, 0, 0, '2024-01-31', 12]],
  ],
  ['SELECT avg(id) FROM t', [[2]]],
  ['SELECT avg(id) FROM t WHERE id > 1', [[2.5]]],
  ['SELECT sum(d) FILTER (WHERE i > 0), count(*) FILTER (WHERE i <= 0) FROM t', [[2.5, 2]]],
  ["SELECT string_agg(s, '|' ORDER BY id DESC) FROM t WHERE id > 1", [['a-b-c|hello 100%_x']]],
  [
    "SELECT listagg(s, ' and ''x'' ') WITHIN GROUP (ORDER BY id) FROM t WHERE id > 1",
    [["hello 100%_x and 'x' a-b-c"]],
  ],
  ["SELECT string_agg(DISTINCT 'a', ',') FROM t", [['a']]],
  ['SELECT id FROM t ORDER BY ni, id', [[2], [1], [3]]],
  ['SELECT id FROM t ORDER BY ni DESC, id', [[2], [1], [3]]],
  ['SELECT id FROM t ORDER BY ni NULLS FIRST, id', [[1], [3], [2]]],
  ['SELECT id FROM t ORDER BY ni DESC NULLS FIRST, id DESC', [[3], [1], [2]]],
  ['SELECT DISTINCT ni AS x FROM t ORDER BY x', [[5], [null]]],
  ['SELECT ni FROM t UNION SELECT 4 ORDER BY 1', [[4], [5], [null]]],
  ['SELECT id FROM t EXCEPT SELECT 2 ORDER BY id', [[1], [3]]],
  ['SELECT id FROM t INTERSECT SELECT 2', [[2]]],
  ['SELECT 1 AS x UNION ALL SELECT 2 UNION ALL SELECT 2 ORDER BY x DESC LIMIT 2 OFFSET 1', [[2], [1]]],
  [
    '(SELECT id FROM t ORDER BY id LIMIT 1) UNION ALL (SELECT id FROM t ORDER BY id DESC LIMIT 1) ORDER BY 1',
    [[1], [3]],
  ],
  ['SELECT 1 AS x UNION (SELECT 2 EXCEPT SELECT 2)', [[1]]],
  ['SELECT id FROM t ORDER BY id OFFSET 1', [[2], [3]]],
  [
    "SELECT date_trunc('year', day) AS y, count(*) AS n FROM t GROUP BY y ORDER BY n DESC, y",
    [
      ['2024-01-01', 2],
      ['2023-01-01', 1],
    ],
  ],
  [
    "SELECT concat(left(s, 2), '''x') AS k, sum(id) FROM t WHERE id <> 2 GROUP BY concat(left(s, 2), '''x') HAVING count(*) >= 1 ORDER BY sum(id)",
    [
      ["He'x", 1],
      ["a-'x", 3],
    ],
  ],
  ["SELECT upper(concat(s, '''e')) AS k FROM t GROUP BY concat(s, '''e') ORDER BY k LIMIT 1", [["A-B-C'E"]]],
  ['SELECT 5 AS five, count(*) FROM t GROUP BY five', [[5, 3]]],
  [
    'SELECT a.id, c.id FROM t a LEFT JOIN t c ON c.id = a.id + 1 ORDER BY 1',
    [
      [1, 2],
      [2, 3],
      [3, null],
    ],
  ],
  ['SELECT count(*) FROM t a CROSS JOIN t c', [[9]]],
  ['SELECT count(*) FROM t a, t c WHERE a.id = c.id', [[3]]],
  ['SELECT id, a.i FROM t a JOIN t c USING (id) WHERE id = 2', [[2, -7]]],
  ['SELECT a.id FROM t a RIGHT JOIN (t c JOIN t e ON c.id = e.id) ON a.id = c.id WHERE c.id = 3', [[3]]],
  [
    'WITH big AS (SELECT id, i FROM t WHERE i > 0), more AS (SELECT id + 10 AS id FROM big) SELECT more.id FROM more',
    [[11]],
  ],
  ['WITH t AS (SELECT * FROM t WHERE id > 1) SELECT count(*) FROM t', [[2]]],
  ['SELECT x FROM (SELECT id * 2 AS x FROM t) q WHERE x > 2 ORDER BY x', [[4], [6]]],
  ['SELECT x FROM (SELECT id, i FROM t) AS q(x, y) WHERE y = 7', [[1]]],
  ['SELECT id FROM t a WHERE EXISTS (SELECT 1 FROM t c WHERE c.id = a.id AND c.i < 0)', [[2]]],
  [
    'SELECT id, (SELECT count(*) FROM t c WHERE c.id <= a.id) AS n FROM t a ORDER BY id',
    [
      [1, 1],
      [2, 2],
      [3, 3],
    ],
  ],
  ['SELECT id FROM t WHERE id IN (SELECT id FROM t ORDER BY id DESC LIMIT 2) ORDER BY id', [[2], [3]]],
  [
    'SELECT id, row_number() OVER (ORDER BY i DESC), rank() OVER (ORDER BY b), dense_rank() OVER (ORDER BY b) FROM t ORDER BY id',
    [
      [1, 1, 2, 2],
      [2, 3, 1, 1],
      [3, 2, 3, 3],
    ],
  ],
  [
    'SELECT id, lag(i) OVER (ORDER BY id), lead(i, 1, 99) OVER (ORDER BY id), lag(i, 2, -1) OVER (ORDER BY id) FROM t ORDER BY id',
    [
      [1, null, -7, -1],
      [2, 7, 0, -1],
      [3, -7, 99, 7],
    ],
  ],
  [
    'SELECT id, sum(id) OVER (ORDER BY id ROWS BETWEEN 1 PRECEDING AND CURRENT ROW), sum(id) OVER w, first_value(id) OVER w, ntile(2) OVER w FROM t WINDOW w AS (ORDER BY id) ORDER BY id',
    [
      [1, 1, 1, 1, 1],
      [2, 3, 3, 1, 1],
      [3, 5, 6, 1, 2],
    ],
  ],
  [
    'SELECT id, round(percent_rank() OVER (ORDER BY id), 2), round(cume_dist() OVER (ORDER BY id), 2), last_value(id) OVER (ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING), nth_value(id, 2) OVER (ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) FROM t ORDER BY id',
    [
      [1, 0, 0.33, 3, 2],
      [2, 0.5, 0.67, 3, 2],
      [3, 1, 1, 3, 2],
    ],
  ],
  [
    'SELECT sum(sum(id)) OVER (), sum(id) / sum(sum(id)) OVER () FROM t GROUP BY b IS NULL ORDER BY 2',
    [
      [6, 0.5],
      [6, 0.5],
    ],
  ],
  ['SELECT id FROM t WHERE b ORDER BY id', [[1]]],
  ['SELECT ts, tz FROM t WHERE id = 3', [['2023-12-31 23:59:59', '2024-02-29 00:00:00']]],
  ['SELECT cast(digits as integer) IS NULL FROM t WHERE id = 2', [[false]]],
  ["SELECT CASE WHEN id = 1 THEN NULL ELSE 'x' END FROM t ORDER BY id LIMIT 2", [[null], ['x']]],
];

/** What an engine does not have. */
const refusals: [expression: string, values: Partial<Record<Engine, unknown>>][] = [
  ['median(id)', { postgres: 2, sqlite: 2, duckdb: 2 }],
  ['percentile_cont(0.25) WITHIN GROUP (ORDER BY id)', { postgres: 1.5, sqlite: 1.5, duckdb: 1.5 }],
  ['percentile_disc(0.25) WITHIN GROUP (ORDER BY id)', { postgres: 1, sqlite: 1, duckdb: 1 }],
  ['round(stddev(id), 6)', { postgres: 1, mysql: 1, duckdb: 1 }],
  ['round(stddev_pop(id), 4)', { postgres: 0.8165, mysql: 0.8165, duckdb: 0.8165 }],
  ['round(variance(id), 6)', { postgres: 1, mysql: 1, duckdb: 1 }],
  ['round(var_pop(id), 4)', { postgres: 0.6667, mysql: 0.6667, duckdb: 0.6667 }],
  ["max(split_part('a-b-c', '-', 2))", { postgres: 'b', mysql: 'b', duckdb: 'b' }],
  ["max(split_part('a-b-c', '-', 4))", { postgres: '', mysql: '', duckdb: '' }],
  ["count(*) FILTER (WHERE regexp_like(s, '^h.*[0-9]+'))", { postgres: 1, mysql: 1, duckdb: 1 }],
];

let opened: SqlEngine[];
beforeAll(async () => {
  opened = await openSqlEngines(inject('postgresUrl'));
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
});
afterAll(() => Promise.all(opened.map((engine) => engine.close())));

const run = async (engine: SqlEngine, sql: string): Promise<unknown[][]> => {
  const resolved = resolve(parseSelect(sql), [tableOf(engine.schema)]);
  const printed = print(resolved, engine.engine);
  const found = await engine.query(printed).catch((error) => {
    throw new Error(`${error.message}\n${printed.sql}`);
  });
  return found.map((row) => row.map((value, i) => comparable(value, resolved.columns[i]!.datatype)));
};

/** What differs on this engine: one query for all cases, and one for each if that fails. */
const differences = async (engine: SqlEngine): Promise<string[]> => {
  const one = async ([expression, expected]: Case): Promise<string[]> => {
    const [[found] = []] = await run(engine, `SELECT ${expression} FROM t WHERE id = 1`).catch((error) => [
      [`failed: ${error.message}`],
    ]);
    return found === expected
      ? []
      : [`${expression} is ${JSON.stringify(found)}, not ${JSON.stringify(expected)}`];
  };
  const all: string[] = [];
  const size = 40;
  for (let from = 0; from < cases.length; from += size) {
    const chunk = cases.slice(from, from + size);
    const sql = `SELECT ${chunk.map(([expression], i) => `${expression} AS c${i}`).join(', ')} FROM t WHERE id = 1`;
    const values = await run(engine, sql).then(
      ([row]) => row!,
      () => [],
    );
    for (const [i, each] of chunk.entries()) {
      if (values[i] !== each[1]) all.push(...(await one(each)));
    }
  }
  return all;
};

describe('an expression means the same on every engine', () => {
  for (const engine of engines) {
    const skipped = engine === 'mysql' && !hasMariaDb;
    it.skipIf(skipped)(`${engineNames[engine]}${skipped ? ` (${noMariaDb})` : ''}`, async () => {
      const one = opened.find((each) => each.engine === engine)!;
      expect(await differences(one)).toEqual([]);
    });
    it.skipIf(skipped)(`${engineNames[engine]}: queries`, async () => {
      const one = opened.find((each) => each.engine === engine)!;
      const wrong: string[] = [];
      for (const [sql, expected] of queries) {
        const found = await run(one, sql).catch((error) => [[error.message]]);
        if (JSON.stringify(found) !== JSON.stringify(expected))
          wrong.push(`${sql}\n  is ${JSON.stringify(found)}\n not ${JSON.stringify(expected)}`);
      }
      expect(wrong.join('\n\n')).toBe('');
    });
    it.skipIf(skipped)(`${engineNames[engine]}: what it does not have is refused by its name`, async () => {
      const one = opened.find((each) => each.engine === engine)!;
      for (const [expression, values] of refusals) {
        const found = run(one, `SELECT ${expression} FROM t`);
        if (engine in values) expect(await found, expression).toEqual([[values[engine]]]);
        else {
          await expect(found, expression).rejects.toThrow(SqlRefusal);
          await expect(found, expression).rejects.toThrow(engineNames[engine]);
        }
      }
    });
  }
});
