import { engineNames } from '@agent-platform/sql';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import {
  datatypes,
  dimensions,
  expected,
  filters,
  metrics,
  model,
  names,
  rows,
  types,
  type Value,
} from '../../../tests/harness/query-oracle.ts';
import { comparable, openSqlEngines, type SqlEngine } from '../../../tests/harness/sql-engines.ts';
import type { Dialect } from '../../data-connections/index.ts';
import { compile } from './compile.ts';

let engines: SqlEngine[];
beforeAll(async () => {
  engines = (await openSqlEngines(inject('postgresUrl'))).filter(({ engine }) => engine !== 'duckdb');
  const literal = (value: Value) => (typeof value === 'string' ? `'${value}'` : String(value));
  for (const { engine, execute } of engines)
    for (const name of names) {
      const columns = Object.keys(rows[name][0]!);
      await execute(
        `create table ${engine === 'mysql' ? `\`${name}\`` : name} (${columns.map((each) => `${each} ${types[engine][datatypes[each]!]}`).join(', ')})`,
        `insert into ${engine === 'mysql' ? `\`${name}\`` : name} values ${rows[name].map((row) => `(${columns.map((each) => literal(row[each]!)).join(', ')})`).join(', ')}`,
      );
    }
});
afterAll(() => Promise.all(engines.map((engine) => engine.close())));

const run = async (engine: SqlEngine, query: Record<string, unknown>, limit = 1_000) => {
  const dialect = { engine: engine.engine, database: engine.schema, defaultSchema: engine.schema } as Dialect;
  const compiled = compile(model, dialect, { query }, { limit });
  const printed = { ...compiled, parameters: [...compiled.parameters] as string[] };
  const found = await engine.query(printed).catch((error) => {
    throw new Error(`${engineNames[engine.engine]}: ${error.message}\n${compiled.sql}`);
  });
  return found.map((row) => row.map((value, i) => comparable(value, compiled.columns[i]!.datatype)));
};

const rounded = (list: readonly (readonly unknown[])[]) =>
  list.map((row) => row.map((value) => (typeof value === 'number' ? Number(value.toPrecision(9)) : value)));
const sorted = (list: readonly (readonly unknown[])[]) =>
  rounded(list).sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));

const asked = fc.record({
  metrics: fc.uniqueArray(fc.constantFrom(...Object.keys(metrics)), { minLength: 1, maxLength: 4 }),
  dimensions: fc.uniqueArray(fc.constantFrom(...dimensions), { maxLength: 3 }),
  filters: fc.uniqueArray(fc.constantFrom(...filters), { maxLength: 2 }),
  having: fc.option(
    fc.record({
      metric: fc.constantFrom('revenue', 'items', 'order_count', 'items_per_order', 'customer_count'),
      least: fc.constantFrom(0, 1, 2, 50),
    }),
    { freq: 2 },
  ),
});

it('answers are those of another computation, or a refusal where a row belongs to nothing of the kind', async () => {
  let answered = 0;
  await fc.assert(
    fc.asyncProperty(asked, async (one) => {
      const query = {
        metrics: one.metrics,
        dimensions: one.dimensions.map((each) => each.asked),
        filters: [
          ...one.filters.map((each) => each.asked),
          ...(one.having ? [{ metric: one.having.metric, operator: 'gte', values: [one.having.least] }] : []),
        ],
      };
      const wanted = expected(one);
      if (wanted) answered++;
      for (const engine of engines) {
        const what = `${engineNames[engine.engine]} ${JSON.stringify(query)}`;
        if (!wanted) {
          await expect(run(engine, query), what).rejects.toMatchObject({
            context: { reason: 'unreachable' },
          });
          continue;
        }
        expect(sorted(await run(engine, query)), what).toEqual(sorted(wanted));
        const [by] = one.metrics as [string];
        const at = one.dimensions.length;
        for (const direction of ['asc', 'desc']) {
          const top = await run(engine, { ...query, order: [{ by, direction }], offset: 1 }, 3);
          const values = rounded(wanted).map((row) => row[at] as string | number | null);
          const sign = direction === 'asc' ? -1 : 1;
          const inOrder = values
            .sort((a, b) => (a === null ? 1 : b === null ? -1 : a < b ? sign : a > b ? -sign : 0))
            // One row more is read, which shows that there are more.
            .slice(1, 5);
          // Which of several rows with the same value come is not said; their values are.
          expect(
            rounded(top).map((row) => row[at]),
            `${what} ${direction}`,
          ).toEqual(inOrder);
        }
      }
    }),
    { numRuns: 40, seed: 20_261_122 },
  );
  expect(answered).toBeGreaterThan(12);
});
