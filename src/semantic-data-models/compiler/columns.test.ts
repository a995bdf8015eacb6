import { describe, expect, it } from 'vitest';
import { salesModel } from '../../../tests/harness/sales-model.ts';
import type { Dialect } from '../../data-connections/index.ts';
import type { SemanticModel } from '../ossie.ts';
import { readColumns } from './columns.ts';

const postgres: Dialect = { engine: 'postgres', database: 'shop', defaultSchema: 'public' };
const mysql: Dialect = { engine: 'mysql', database: 'shop', defaultSchema: 'shop' };
const sqlite: Dialect = { engine: 'sqlite', database: null, defaultSchema: 'main' };

const changed = (change: (model: SemanticModel) => void): SemanticModel => {
  const model = structuredClone(salesModel);
  change(model);
  return model;
};
const field = (m: SemanticModel) => m.datasets[0]!.fields![2]!;
const datasets = 'semantic_model.datasets';

describe('the columns that a model reads', () => {
  it('are those of fields, keys and relationships, each with its path', () => {
    const read = readColumns(
      changed((m) => {
        m.datasets[0]!.source = 'Sales."Orders"';
      }),
      postgres,
    );
    expect(read[0]!.source).toEqual({ schema: 'sales', table: 'Orders' });
    expect(read[1]!.source).toEqual({ schema: 'public', table: 'order_lines' });
    const orders = read[0]!.columns;
    expect(orders).toContainEqual({ name: 'amount', path: `${datasets}[0].fields[2]`, datatype: 'Decimal' });
    // An expression over a column has no known datatype.
    expect(orders).toContainEqual({ name: 'amount', path: `${datasets}[0].fields[6]`, datatype: null });
    expect(orders).toContainEqual({ name: 'id', path: `${datasets}[0].primary_key[0]`, datatype: null });
    expect(orders).toContainEqual({
      name: 'buyer_id',
      path: 'semantic_model.relationships[2].from_columns[0]',
      datatype: null,
    });
    expect(read[3]!.columns).toContainEqual({
      name: 'email',
      path: `${datasets}[3].unique_keys[0][0]`,
      datatype: null,
    });
  });

  it("prefers the engine's own dialect, then that of Ossie, then ANSI", () => {
    const dialects = ['ANSI_SQL', 'OSSIE_SQL_2026', 'MYSQL', 'SQLITE', 'SNOWFLAKE'].map((dialect) => ({
      dialect,
      expression: `c_${dialect.toLowerCase()}`,
    }));
    const columnOf = (dialect: Dialect) => {
      const model = changed((m) => {
        field(m).expression = { dialects };
      });
      return readColumns(model, dialect)[0]!.columns.find(({ path }) => path.endsWith('fields[2]'))!.name;
    };
    expect([postgres, mysql, sqlite].map(columnOf)).toEqual(['c_ossie_sql_2026', 'c_mysql', 'c_sqlite']);
  });
});
