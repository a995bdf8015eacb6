import { type Engine, engineNames, engines, SqlRefusal } from '@agent-platform/sql';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { hasMariaDb, mariaDbNote } from '../harness/mariadb.ts';
import type { SqlEngine } from '../harness/sql-engines.ts';
import { askTyped, openTyped } from '../harness/typed-table.ts';

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
  ['SELECT sum(d * 0.1) = 1, sum(d / 0.1) = 100, avg(d) * 3 > 9.99 FROM t', [[true, true, true]]],
  ['SELECT sum(d / d * 0.1) = 0.3, sum(coalesce(d / d * 0.1, 0)) = 0.3 FROM t', [[true, true]]],
  // What is no quotient keeps all its digits, whatever it is ordered by.
  [
    'SELECT sum(12345678901234567.25) OVER (ORDER BY f) = 12345678901234567.25 FROM t ORDER BY f LIMIT 1',
    [[true]],
  ],
  ['SELECT round(avg(id * 0.01 + 1), 2), round(avg(id * 0.01), 3) FROM t WHERE id < 3', [[1.02, 0.015]]],
  ['SELECT round(x, 2) FROM (SELECT (d + 0.18) / 10 AS x FROM t WHERE id = 1) q', [[0.27]]],
  ['SELECT round(x, 2) FROM (SELECT (d + 0.35) / 10 AS x FROM t WHERE id = 1) q', [[0.29]]],
  ['SELECT id FROM t WHERE d / 0.1 = 25', [[1]]],
  ['SELECT id FROM t ORDER BY ni, id', [[2], [1], [3]]],
  ['SELECT id FROM t ORDER BY ni DESC, id', [[2], [1], [3]]],
  ['SELECT id FROM t ORDER BY ni NULLS FIRST, id', [[1], [3], [2]]],
  ['SELECT id FROM t ORDER BY ni DESC NULLS FIRST, id DESC', [[3], [1], [2]]],
  ['SELECT sum(id) OVER (ORDER BY id) FROM t ORDER BY id', [[1], [3], [6]]],
  [
    'SELECT lag(t.id, 1, 0) OVER (ORDER BY t.id NULLS FIRST) FROM t ORDER BY t.id NULLS FIRST',
    [[0], [1], [2]],
  ],
  ['SELECT max(t.id) OVER (ORDER BY t.id) FROM (SELECT t.id FROM t) t ORDER BY t.id', [[1], [2], [3]]],
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
  opened = await openTyped(inject('postgresUrl'));
});
afterAll(() => Promise.all(opened.map((engine) => engine.close())));

describe('a query means the same on every engine', () => {
  for (const engine of engines) {
    const skipped = engine === 'mysql' && !hasMariaDb;
    it.skipIf(skipped)(`${engineNames[engine]}${skipped ? mariaDbNote : ''}`, async () => {
      const one = opened.find((each) => each.engine === engine)!;
      const wrong: string[] = [];
      for (const [sql, expected] of queries) {
        const found = await askTyped(one, sql).catch((error) => [[error.message]]);
        if (JSON.stringify(found) !== JSON.stringify(expected))
          wrong.push(`${sql}\n  is ${JSON.stringify(found)}\n not ${JSON.stringify(expected)}`);
      }
      expect(wrong.join('\n\n')).toBe('');
    });
    it.skipIf(skipped)(
      `${engineNames[engine]}: a subquery for one value that has several is an error`,
      async () => {
        const one = opened.find((each) => each.engine === engine)!;
        const sql = (where: string) =>
          `SELECT id, (SELECT c.s FROM t c WHERE ${where}) AS s FROM t ORDER BY id`;
        expect((await askTyped(one, sql('c.id = t.id'))).map(([id]) => id)).toEqual([1, 2, 3]);
        expect((await askTyped(one, sql('c.id > 5'))).map(([, s]) => s)).toEqual([null, null, null]);
        await expect(askTyped(one, sql('c.id <= t.id'))).rejects.toThrow();
      },
    );
    it.skipIf(skipped)(`${engineNames[engine]}: what it does not have is refused by its name`, async () => {
      const one = opened.find((each) => each.engine === engine)!;
      for (const [expression, values] of refusals) {
        const found = askTyped(one, `SELECT ${expression} FROM t`);
        if (engine in values) expect(await found, expression).toEqual([[values[engine]]]);
        else {
          await expect(found, expression).rejects.toThrow(SqlRefusal);
          await expect(found, expression).rejects.toThrow(engineNames[engine]);
        }
      }
    });
  }

  it('SQLite: tells the case of all letters, not of ASCII alone', async () => {
    const sqlite = opened.find(({ engine }) => engine === 'sqlite')!;
    const sql =
      "SELECT lower('ÄÖß'), upper('äöß'), 'MÜLLER' ILIKE 'mül%', 'MÜLLER' LIKE 'mül%' FROM t LIMIT 1";
    expect(await askTyped(sqlite, sql)).toEqual([['äöß', 'ÄÖß', true, false]]);
  });
});
