import { describe, expect, it } from 'vitest';
import { salesModel } from '../../../tests/harness/sales-model.ts';
import type { Dialect } from '../../data-connections/index.ts';
import type { Issue } from '../issues.ts';
import type { SemanticModel } from '../ossie.ts';
import { checkModel } from './document.ts';

const postgres: Dialect = { engine: 'postgres', database: 'shop', defaultSchema: 'public' };

type Query = { name: string; sql?: string; query?: unknown };

const faultsOf = (change: (model: SemanticModel) => void, queries: Query[] = []): Issue[] => {
  const model = structuredClone(salesModel);
  change(model);
  return checkModel({ semantic_model: model, verified_queries: queries }, postgres).faults;
};
const codes = (faults: readonly Issue[]) => faults.map(({ path, code }) => [path, code]);

const write = (expression: string, dialect = 'ANSI_SQL') => ({ dialects: [{ dialect, expression }] });
const root = 'semantic_model';

describe('faults of a model', () => {
  it('are told all at once, whatever they are about, each with its code', () => {
    const faults = faultsOf(
      (m) => {
        m.datasets[0]!.source = 'a b';
        m.datasets[0]!.fields![1]!.expression = write('(');
        m.datasets[0]!.fields![2]!.expression = write('amount', 'SNOWFLAKE');
        m.datasets[1]!.fields![0]!.datatype = 'Number' as never;
        m.datasets[1]!.fields![1]!.expression = write('pg_sleep(1)');
        m.datasets[2]!.name = 'my returns';
        m.datasets[3]!.fields![2]!.name = 'NAME';
        m.relationships![2]!.to = 'custommers';
        m.relationships![3]!.to_columns = ['name'];
        m.relationships![4]!.name = 'Receiver';
        m.metrics![0]!.expression = write('1 + 1');
        m.metrics![1]!.name = 'REVENUE';
        m.metrics![3]!.expression = write('sum(orders.amont)');
        m.metrics![4]!.expression = undefined as never;
        m.metrics![5]!.expression = write('sleep(sum(lines.price))');
      },
      [
        { name: 'a', sql: 'SELECT status FROM order_lines' },
        { name: 'A', query: { metrics: ['revenues'], dimensions: ['orders.stat', 'orders.id'] } },
        { name: 'b', query: { metrics: 5, dimensions: ['orders.id', 7] } },
        { name: 'c', sql: 'DROP TABLE orders' },
      ],
    );
    expect(codes(faults).sort()).toEqual(
      [
        [`${root}.datasets[0].source`, 'invalid_source'],
        [`${root}.datasets[0].fields[1].expression`, 'syntax_error'],
        [`${root}.datasets[0].fields[2].expression`, 'dialect_missing'],
        [`${root}.datasets[1].fields[0].datatype`, 'static_rule'],
        [`${root}.datasets[1].fields[1].expression`, 'function_not_allowed'],
        [`${root}.datasets[2].name`, 'static_rule'],
        [`${root}.datasets[3].fields[2].name`, 'duplicate_name'],
        // `returns` has no valid name, so that nothing leads from it.
        [`${root}.relationships[1].from`, 'unknown_dataset'],
        [`${root}.relationships[2].to`, 'unknown_dataset'],
        [`${root}.relationships[3].to_columns`, 'no_key'],
        [`${root}.relationships[4].name`, 'duplicate_name'],
        [`${root}.metrics[0].expression`, 'not_supported'],
        [`${root}.metrics[1].name`, 'duplicate_name'],
        [`${root}.metrics[3].expression`, 'unknown_field'],
        [`${root}.metrics[4].expression`, 'static_rule'],
        [`${root}.metrics[5].expression`, 'function_not_allowed'],
        [`${root}.metrics[7].expression`, 'unknown_field'],
        [`${root}.metrics[8].expression`, 'unknown_field'],
        ['verified_queries[0].sql', 'unknown_table'],
        ['verified_queries[1].name', 'duplicate_name'],
        ['verified_queries[1].query.metrics[0]', 'unknown_metric'],
        ['verified_queries[1].query.dimensions[0]', 'unknown_field'],
        ['verified_queries[2].query.metrics', 'static_rule'],
        ['verified_queries[2].query.dimensions[1]', 'static_rule'],
        ['verified_queries[3].sql', 'not_a_select'],
      ].sort(),
    );
    expect(faults.find(({ path }) => path === `${root}.metrics[3].expression`)!.suggestions).toContain(
      'orders.amount',
    );
  });

  it('are not told again of what uses a part with a fault', () => {
    const faults = faultsOf(
      (m) => {
        m.datasets[0]!.fields![2]!.expression = write('amount +');
        m.relationships![4]!.to = 'nowhere';
        m.metrics![4]!.expression = write('sum(');
      },
      [
        { name: 'a', sql: 'SELECT sum(amount) FROM orders' },
        { name: 'b', query: { metrics: ['items', 'revenue'], dimensions: ['regions.name'] } },
        {
          name: 'c',
          query: { metrics: ['items'], filters: [{ field: 'orders.id', operator: 'equals', values: [1] }] },
        },
      ],
    );
    expect(codes(faults)).toEqual([
      [`${root}.datasets[0].fields[2].expression`, 'syntax_error'],
      [`${root}.relationships[4].to`, 'unknown_dataset'],
      [`${root}.metrics[4].expression`, 'syntax_error'],
    ]);
  });

  it('do not depend on what else is sent: whatever is in the place of a part', () => {
    const parts = [null, 1, 'x', [], {}, [null], [{}], [[]], { dialects: [null] }];
    for (const part of parts)
      for (const key of ['name', 'datasets', 'relationships', 'metrics']) {
        const { faults } = checkModel(
          { semantic_model: { ...salesModel, [key]: part }, verified_queries: [] },
          postgres,
        );
        for (const { path } of faults) expect(path).toMatch(/^semantic_model/);
      }
    for (const part of parts)
      for (const key of ['name', 'source', 'fields', 'primary_key', 'unique_keys']) {
        const faults = faultsOf((m) => Object.assign(m.datasets[3]!, { [key]: part }));
        expect(faults.every(({ path }) => path.startsWith(root))).toBe(true);
      }
  });
});

describe('verified queries', () => {
  it('are compiled, and every name in them that is not of the model is told', () => {
    const faults = faultsOf(() => {}, [
      { name: 'a', sql: 'SELECT status FROM orders' },
      { name: 'b', query: { metrics: ['revenue'] } },
      {
        name: 'c',
        query: {
          metrics: ['revenues', 'revenue', 'item'],
          dimensions: ['orders.state', { field: 'regions.name', via: ['buyers'] }],
          filters: [
            { or: [{ field: 'orders.ids', operator: 'is_null' }] },
            { metric: 'item_count', operator: 'gt', values: [1] },
          ],
        },
      },
    ]);
    expect(codes(faults)).toEqual([
      ['verified_queries[2].query.metrics[0]', 'unknown_metric'],
      ['verified_queries[2].query.metrics[2]', 'unknown_metric'],
      ['verified_queries[2].query.dimensions[0]', 'unknown_field'],
      ['verified_queries[2].query.dimensions[1].via[0]', 'unknown_relationship'],
      ['verified_queries[2].query.filters[0].or[0].field', 'unknown_field'],
      ['verified_queries[2].query.filters[1].metric', 'unknown_metric'],
    ]);
  });
});
