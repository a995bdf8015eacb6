import {
  type Datatype,
  type Engine,
  engineNames,
  parseSelect,
  print,
  resolve,
  type Table,
} from '@agent-platform/sql';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { openSqlEngines, type SqlEngine } from '../harness/sql-engines.ts';

/** Numbers at the ends of what engines hold, and columns that are not what the model says of them. */

const types: [name: string, datatype: Datatype, types: Record<Engine, string>][] = [
  ['id', 'Integer', { postgres: 'int', mysql: 'int', sqlite: 'integer', duckdb: 'integer' }],
  ['q', 'Integer', { postgres: 'int', mysql: 'int', sqlite: 'integer', duckdb: 'integer' }],
  ['big', 'Integer', { postgres: 'bigint', mysql: 'bigint', sqlite: 'integer', duckdb: 'bigint' }],
  [
    'd',
    'Decimal',
    { postgres: 'numeric', mysql: 'decimal(38,6)', sqlite: 'numeric', duckdb: 'decimal(38,6)' },
  ],
  ['f', 'Float', { postgres: 'double precision', mysql: 'double', sqlite: 'real', duckdb: 'double' }],
  ['seen', 'DateTime', { postgres: 'timestamp', mysql: 'datetime', sqlite: 'text', duckdb: 'timestamp' }],
  [
    'tz',
    'DateTimeTz',
    { postgres: 'timestamptz', mysql: 'timestamp', sqlite: 'text', duckdb: 'timestamptz' },
  ],
];

const rows = [
  "(1, 7, 9223372036854775806, 12345678901234567890.123456, 0.1, '2026-01-31 08:00:00', '2026-01-31 23:30:00')",
  "(2, 8, 9007199254740993, -0.5, 1e-25, '2026-01-31 09:30:00', '2026-01-31 08:00:00')",
  '(3, null, null, null, 1e200, null, null)',
];

let engines: SqlEngine[];
beforeAll(async () => {
  engines = await openSqlEngines(inject('postgresUrl'));
  for (const { engine, execute } of engines) {
    const columns = types.map(([name, , of]) => `${name} ${of[engine]}${engine === 'mysql' ? ' null' : ''}`);
    await execute(`create table t (${columns.join(', ')})`, `insert into t values ${rows.join(', ')}`);
  }
});
afterAll(() => Promise.all(engines.map((engine) => engine.close())));

type Declared = Partial<Record<string, Datatype | null>>;

const firstOf = async (engine: SqlEngine, expression: string, declared: Declared): Promise<unknown> => {
  const columns = types.map(([name, datatype]) => ({
    name,
    datatype: name in declared ? declared[name]! : datatype,
  }));
  const table: Table = { name: 't', source: { schema: engine.schema, table: 't' }, columns };
  const sql = /^select/i.test(expression) ? expression : `SELECT ${expression} FROM t WHERE id = 1`;
  const printed = print(resolve(parseSelect(sql), [table]), engine.engine);
  const [first] = await engine.query(printed).then(
    (found) => found.map(([value]) => value),
    () => ['refused'],
  );
  return first;
};

const isNear = (found: unknown, wanted: number): boolean =>
  found !== null && Math.abs(Number(found) - wanted) <= 1e-14 * Math.abs(wanted);

const refused = 'refused';
const cases: [expression: string, wanted: number | string | null, declared?: Declared, besides?: Engine[]][] =
  [
    // A whole number that the model calls a Float, or of which it says nothing
    ['q / 2', 3.5, { q: 'Float' }],
    ['q / 3', 7 / 3, { q: 'Float' }],
    ['SELECT avg(q / 3) FROM t WHERE id = 1', 7 / 3, { q: 'Float' }],
    ['SELECT sum(q) / 2 FROM t', 7.5, { q: 'Float' }],
    ['SELECT avg(q) / 4 FROM t', 1.875, { q: 'Float' }],
    ['q / 3', 7 / 3, { q: null }],
    // A double that the model calls a Decimal, or of which it says nothing
    ['SELECT f / 3 FROM t WHERE id = 2', 1e-25 / 3, { f: 'Decimal' }],
    ['SELECT f / 3 FROM t WHERE id = 3', 1e200 / 3, { f: null }],
    ['SELECT avg(f) FROM t WHERE id = 2', 1e-25, { f: null }],
    ['SELECT avg(f) FROM t WHERE id = 3', 1e200, { f: 'Decimal' }],
    ['SELECT round(f, 2) FROM t WHERE id = 3', 1e200],
    ['SELECT trunc(f, 2) FROM t WHERE id = 3', 1e200],
    // Quotients keep their digits
    ['7 / 3', 7 / 3],
    ['SELECT avg(id) / 7 FROM t WHERE id < 3', 1.5 / 7],
    ['0.000001 / 300', 0.000001 / 300],
    // What is too large for a type is refused, and not the greatest number
    ['cast(d as integer)', refused],
    ['SELECT cast(f as integer) FROM t WHERE id = 3', refused],
    ['cast(-d as bigint)', refused],
    ["cast(concat('9999999999', '9999999999') as integer)", refused],
    ['cast(d as numeric(10, 2))', refused],
    ['cast(99999999.995 as numeric(10, 2))', refused],
    ['cast(q as numeric(2, 2))', refused],
    ["cast(concat('123456789', '.5') as numeric(10, 2))", refused],
    ['cast(99999999.994 as numeric(10, 2))', 99999999.99],
    ['cast(big as integer) - 9223372036854775800', 6],
    ['SELECT cast(d as integer) FROM t WHERE id = 2', -1],
    ['SELECT cast(d as integer) FROM t WHERE id = 3', null],
    ['SELECT cast(d as numeric(10, 2)) FROM t WHERE id = 3', null],
    ['big * 2 + q', refused, {}, ['sqlite']],
    ['SELECT sum(big) FROM t', 9.2323792361095168e18, {}, ['sqlite']],
    // A moment that the model calls a Date is a day
    ['SELECT count(DISTINCT seen) FROM t', 1, { seen: 'Date' }, ['mysql', 'duckdb']],
    ["SELECT count(*) FROM t WHERE seen = '2026-01-31'", 2, { seen: 'Date' }, ['mysql', 'duckdb']],
  ];

describe('a number is right or refused', () => {
  it.each(cases)('%s is %s (%j)', async (expression, wanted, declared = {}, besides = []) => {
    for (const engine of engines) {
      if (besides.includes(engine.engine)) continue;
      const found = await firstOf(engine, expression, declared);
      const isRight = typeof wanted === 'number' ? isNear(found, wanted) : found === wanted;
      expect(isRight, `${engineNames[engine.engine]}: ${found}`).toBe(true);
    }
  });
});

/** Text as SQL may write it, and what it is. Nothing of it may end the literal, or be a comment, on any engine. */
const texts: [literal: string, value: string][] = [
  ["$$a'b$$", "a'b"],
  ["$tag$ '; DROP TABLE t; $tag$", " '; DROP TABLE t; "],
  ["E'\\'; DROP TABLE t; --'", "'; DROP TABLE t; --"],
  ["E'\\x41\\u0042'", 'AB'],
  ["U&'\\0027; DROP TABLE t; --'", "'; DROP TABLE t; --"],
  ["U&'!0027' UESCAPE '!'", "'"],
  ["'a'\n'b'", 'ab'],
  ["'\\'", '\\'],
  ["'a\\''b'", "a\\'b"],
  ["'/*! sleep(1) */ -- #'", '/*! sleep(1) */ -- #'],
  ["'\u02bc; DROP TABLE t; --'", '\u02bc; DROP TABLE t; --'],
  ["'\u202e\u0000'".replace('\u0000', ''), '\u202e'],
  ["'? $1 :name ??'", '? $1 :name ??'],
  ["'\u{1d4b3}'", '\u{1d4b3}'],
  ["/* ' */ 'x' -- '", 'x'],
  ["/*!50000 'y' */ 'x'", 'x'],
  ["concat('a', '''', '\\', '\"')", `a'\\"`],
];

describe('text', () => {
  it('is what it was written as on every engine, whatever quotes it', async () => {
    for (const engine of engines)
      for (const [literal, value] of texts)
        expect(await firstOf(engine, `SELECT ${literal}\n FROM t WHERE id = 1`, {}), literal).toBe(value);
  });

  it('may be a name of a column, with quotes and of any length', async () => {
    for (const engine of engines)
      for (const name of ['a""b;--', 'x'.repeat(65), 'ä'.repeat(40), '$1', '\\', '?', "'"])
        expect(Number(await firstOf(engine, `SELECT q AS "${name}" FROM t WHERE id = 1`, {})), name).toBe(7);
  });
});
