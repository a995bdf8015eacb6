import {
  build,
  type Expression,
  engineNames,
  engines,
  parseExpression,
  parseSelect,
  print,
  resolve,
  SqlRefusal,
  type Table,
} from '@agent-platform/sql';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { comparable, openSqlEngines, type SqlEngine } from '../harness/sql-engines.ts';

const { output, select } = build;

const columns = [
  { name: 'id', datatype: 'Integer' },
  { name: 'n', datatype: 'Integer' },
  { name: 'd', datatype: 'Decimal' },
  { name: 's', datatype: 'String' },
  { name: 'day', datatype: 'Date' },
  { name: 'b', datatype: 'Boolean' },
] as const;
const tableOf = (schema: string): Table => ({
  name: 't',
  source: { schema, table: 't' },
  columns: [...columns],
});

/** Text of an expression of each type, as a user may write it; parentheses only where they are needed. */
const { number, text, day, truth } = fc.letrec<{ number: string; text: string; day: string; truth: string }>(
  (tie) => {
    const [number, text, day, truth] = [tie('number'), tie('text'), tie('day'), tie('truth')];
    const whole = fc.integer({ min: 0, max: 20 }).map(String);
    const format = (template: string, ...parts: fc.Arbitrary<string>[]) =>
      fc
        .tuple(...parts)
        .map((values) => values.reduce((sql, value, i) => sql.replaceAll(`$${i}`, () => value), template));
    const oneOf = (leaves: fc.Arbitrary<string>[], branches: fc.Arbitrary<string>[]) =>
      fc.oneof({ maxDepth: 4, depthSize: 'small', withCrossShrink: true }, ...leaves, ...branches);
    return {
      number: oneOf(
        [fc.constantFrom('id', 'n', 'd', 'NULL', '2.5', '-3'), whole],
        [
          format('($0 + $1)', number, number),
          format('($0 - $1) * $2', number, number, whole),
          format(
            '$0 / $1',
            fc.constantFrom('id', 'n', '7'),
            number.map((one) => `(${one})`),
          ),
          format('mod(CAST($0 AS integer), $1)', number, whole),
          format('coalesce($0, $1)', number, number),
          format('greatest($0, $1, $2)', number, number, number),
          format('CASE WHEN $0 THEN $1 ELSE $2 END', truth, number, number),
          format('abs($0)', number),
          format('length($0)', text),
          format('datediff(day, $0, $1)', day, day),
          format("date_part('month', $0)", day),
        ],
      ),
      text: oneOf(
        [fc.constantFrom('s', "'it''s'", "''", "'100%_\\'", "'Ab cd'", 'NULL')],
        [
          format('concat($0, $1)', text, text),
          format('$0 || $1', text, text),
          format('lower($0)', text),
          format('substring($0, $1, $2)', text, fc.integer({ min: -2, max: 4 }).map(String), whole),
          format('left($0, $1)', text, fc.integer({ min: -2, max: 4 }).map(String)),
          format('right($0, $1)', text, fc.integer({ min: -2, max: 4 }).map(String)),
          format("replace($0, 'b', $1)", text, text),
          format('CASE WHEN $0 THEN $1 END', truth, text),
        ],
      ),
      day: oneOf(
        [fc.constantFrom('day', "date '2024-02-29'", "date '2023-12-31'")],
        [
          format(
            'dateadd($0, $1, $2)',
            fc.constantFrom('day', 'week', 'month', 'quarter', 'year'),
            fc.integer({ min: -20, max: 20 }).map(String),
            day,
          ),
          format("date_trunc('$0', $1)", fc.constantFrom('day', 'week', 'month', 'quarter', 'year'), day),
          format('coalesce($0, $1)', day, day),
        ],
      ),
      truth: oneOf(
        [fc.constantFrom('b', 'TRUE', 'FALSE', 's IS NULL')],
        [
          format('$0 = $1', number, number),
          format('$0 < $1', number, number),
          format('$0 >= $1', day, day),
          format("$0 >= '2024-01-01'", day),
          format('($0 AND $1)', truth, truth),
          format('($0 OR $1)', truth, truth),
          format('NOT ($0)', truth),
          format('($0) IS NOT TRUE', truth),
          format('$0 IS DISTINCT FROM $1', number, number),
          format('$0 IN ($1, $2)', number, number, number),
          format('$0 BETWEEN $1 AND $2', number, number, number),
          format("$0 LIKE '%$1%'", text, fc.constantFrom('b', '_', '\\%', 'A', '*', '[')),
          format("contains($0, 'b')", text),
          format("starts_with($0, 'A')", text),
        ],
      ),
    };
  },
);

let opened: SqlEngine[];
beforeAll(async () => {
  opened = await openSqlEngines(inject('postgresUrl'));
  await Promise.all(
    opened.map(({ execute }) =>
      execute(
        'create table t (id integer, n integer, d numeric(10,2), s varchar(50), day date, b boolean)',
        `insert into t values (1, 5, 2.5, 'Ab c', '2024-01-31', TRUE), (2, NULL, -1.25, NULL, NULL, FALSE), (3, -4, NULL, 'x%_b', '2023-12-31', NULL)`,
      ),
    ),
  );
});
afterAll(() => Promise.all(opened.map((engine) => engine.close())));

const run = async (engine: SqlEngine, sql: string): Promise<unknown[][]> => {
  const resolved = resolve(parseSelect(sql), [tableOf(engine.schema)]);
  const rows = await engine.query(print(resolved, engine.engine));
  return rows.map((row) => row.map((value, i) => comparable(value, resolved.columns[i]!.datatype)));
};

/** Whole seconds of work on few rows: many expressions in one statement. */
const runs = { numRuns: 20, seed: 20_260_131 };

const isClose = (a: unknown, b: unknown): boolean =>
  a === b ||
  (typeof a === 'number' &&
    typeof b === 'number' &&
    Math.abs(a - b) <= 1e-6 * Math.max(1, Math.abs(a), Math.abs(b)));

describe('random queries', () => {
  it('have the same result on every engine', async () => {
    const queries = fc.tuple(
      fc.array(number, { minLength: 3, maxLength: 6 }),
      fc.array(text, { minLength: 3, maxLength: 6 }),
      fc.array(fc.oneof(day, truth), { minLength: 3, maxLength: 6 }),
      truth,
    );
    await fc.assert(
      fc.asyncProperty(queries, async ([numbers, texts, others, where]) => {
        const outputs = [...numbers, ...texts, ...others].map((one, i) => `${one} AS c${i}`);
        const sql = `SELECT ${outputs.join(', ')} FROM t WHERE ${where} OR id > 1 ORDER BY id`;
        const results = await Promise.all(
          opened.map((engine) =>
            run(engine, sql).catch((error) => {
              throw new Error(`${engineNames[engine.engine]}: ${error.message}\n${sql}`);
            }),
          ),
        );
        const [first] = results;
        for (const [i, rows] of results.entries()) {
          expect(rows.length, sql).toBe(first!.length);
          for (const [r, row] of rows.entries())
            for (const [c, value] of row.entries()) {
              const wanted = first![r]![c];
              if (!isClose(value, wanted))
                throw new Error(
                  `${engineNames[opened[i]!.engine]}: ${outputs[c]} of row ${r} is ${JSON.stringify(value)}, not ${JSON.stringify(wanted)}`,
                );
            }
        }
      }),
      runs,
    );
  });

  it('group, join and order in the same way', async () => {
    const query = fc.record({
      key: fc.oneof(number, text, day),
      value: number,
      where: truth,
      join: fc.constantFrom('JOIN', 'LEFT JOIN'),
      order: fc.constantFrom('', ' DESC', ' NULLS FIRST', ' DESC NULLS FIRST'),
    });
    await fc.assert(
      fc.asyncProperty(query, async ({ key, value, where, join, order }) => {
        const sql = `WITH keyed AS (SELECT id, ${key} AS k, ${value} AS v FROM t WHERE ${where})
          SELECT keyed.k, count(*) AS n, sum(keyed.v) AS total, count(t.d) AS c
          FROM keyed ${join} t ON t.id <= keyed.id GROUP BY keyed.k ORDER BY 2${order}, 3${order}, 4`;
        const results = await Promise.all(
          opened.map((engine) =>
            run(engine, sql).catch((error) => {
              throw new Error(`${engineNames[engine.engine]}: ${error.message}\n${sql}`);
            }),
          ),
        );
        // Keys are compared by the collation of the database, so that only the groups themselves are compared.
        const groups = results.map((rows) => rows.map(([, ...rest]) => rest));
        for (const [i, found] of groups.entries())
          expect(
            found.every((row, r) => row.every((one, c) => isClose(one, groups[0]![r]?.[c]))),
            `${engineNames[opened[i]!.engine]} ${JSON.stringify(found)} ${JSON.stringify(groups[0])}\n${sql}`,
          ).toBe(true);
      }),
      runs,
    );
  });
});

const withoutPlaces = (tree: unknown): unknown =>
  JSON.parse(JSON.stringify(tree, (key, value) => (key === 'at' ? undefined : value)));

/** What every engine prints as it was written: no function, no division, nothing that is cast. */
const literal = fc.letrec<{ value: Expression; truth: Expression }>((tie) => {
  const leaf: fc.Arbitrary<Expression> = fc.oneof(
    fc
      .constantFrom('id', 'n', 'd', 'we "ird', 'select')
      .map((name): Expression => ({ kind: 'column', table: 'x', name })),
    fc
      .integer({ min: 0, max: 1e6 })
      .map((n): Expression => ({ kind: 'constant', type: 'Integer', value: String(n), bound: false })),
  );
  const [value, truth] = [tie('value'), tie('truth')];
  return {
    value: fc.oneof(
      { maxDepth: 5 },
      leaf,
      fc.record({
        kind: fc.constant('arithmetic' as const),
        operator: fc.constantFrom('+' as const, '-' as const, '*' as const),
        left: value,
        right: value,
      }),
      fc.record({
        kind: fc.constant('case' as const),
        operand: fc.constant(null),
        whens: fc.array(fc.record({ when: truth, result: value }), { minLength: 1, maxLength: 2 }),
        otherwise: fc.option(value),
      }),
    ),
    truth: fc.oneof(
      { maxDepth: 5 },
      fc.record({
        kind: fc.constant('compare' as const),
        operator: fc.constantFrom('=' as const, '<>' as const, '<' as const, '>=' as const),
        left: value,
        right: value,
      }),
      fc.record({ kind: fc.constant('is_null' as const), arg: value, not: fc.boolean() }),
      fc.record({ kind: fc.constant('not' as const), arg: truth }),
      // The grammar joins `a AND b AND c` into one.
      fc.record({
        kind: fc.constant('or' as const),
        args: fc
          .tuple(
            fc.record({ kind: fc.constant('is_null' as const), arg: value, not: fc.boolean() }),
            fc.record({ kind: fc.constant('not' as const), arg: truth }),
          )
          .map((args) => [...args] as Expression[]),
      }),
      fc.record({
        kind: fc.constant('in' as const),
        arg: value,
        items: fc.array(value, { minLength: 1, maxLength: 3 }),
        not: fc.boolean(),
      }),
      fc.record({
        kind: fc.constant('between' as const),
        arg: value,
        low: value,
        high: value,
        not: fc.boolean(),
      }),
    ),
  };
});

describe('trees', () => {
  const table: Table = {
    name: 'x',
    source: { schema: 'public', table: 'x' },
    columns: ['id', 'n', 'd', 'we "ird', 'select'].map((name) => ({ name, datatype: 'Integer' })),
  };

  it('are printed for PostgreSQL and parsed again as the same trees', () => {
    fc.assert(
      fc.property(literal.truth, (tree) => {
        const resolved = resolve(
          select({ outputs: [output(tree, 'c')], from: [{ kind: 'table', name: 'x', alias: null }] }),
          [table],
        );
        const { sql, parameters } = print(resolved, 'postgres');
        const text = /^SELECT (.*) AS "c" FROM "public"\."x" AS "x"$/s.exec(sql)?.[1];
        expect(parameters).toEqual([]);
        expect(withoutPlaces(parseExpression(text!))).toEqual(withoutPlaces(tree));
      }),
      { numRuns: 100, seed: 1 },
    );
  });

  it('end in a tree or in a refusal, whatever the text', () => {
    const words = [
      'SELECT',
      'FROM',
      't',
      'id',
      '(',
      ')',
      ',',
      '*',
      "'",
      '"',
      '--',
      '/*',
      '*/',
      ';',
      '$$',
      '1',
      '.',
      'WITH',
      'AS',
      'UNION',
      'JOIN',
      'ON',
      'WHERE',
      'NULL',
      '::',
      'é',
      '\0',
      'lower',
      'OVER',
      'CASE',
      'END',
      '=',
      'IN',
      'LIMIT',
      'GROUP BY',
      'ORDER BY',
    ];
    const texts = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 60 }),
      fc.array(fc.constantFrom(...words), { maxLength: 25 }).map((parts) => `SELECT ${parts.join(' ')}`),
    );
    fc.assert(
      fc.property(texts, (sql) => {
        try {
          const resolved = resolve(parseSelect(sql), [tableOf('public')]);
          for (const engine of engines) print(resolved, engine);
        } catch (error) {
          if (!(error instanceof SqlRefusal)) throw error;
        }
      }),
      { numRuns: 500, seed: 2 },
    );
  });
});
