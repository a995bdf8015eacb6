import { describe, expect, it } from 'vitest';
import { salesModel } from '../../../tests/harness/sales-model.ts';
import type { Dialect } from '../../data-connections/index.ts';
import type { SemanticModel } from '../ossie.ts';
import { checkModel } from './document.ts';

const postgres: Dialect = { engine: 'postgres', database: 'shop', defaultSchema: 'public' };
const mysql: Dialect = { engine: 'mysql', database: 'shop', defaultSchema: 'shop' };
const sqlite: Dialect = { engine: 'sqlite', database: null, defaultSchema: 'main' };

type Change = (model: SemanticModel) => void;

const changed = (change: Change): SemanticModel => {
  const model = structuredClone(salesModel);
  change(model);
  return model;
};

const check = (change: Change, dialect = postgres) =>
  checkModel({ semantic_model: changed(change), verified_queries: [] }, dialect);

const nothing: Change = () => {};
const field = (m: SemanticModel, i = 2) => m.datasets[0]!.fields![i]!;
const write = (expression: string, dialect = 'ANSI_SQL') => ({ dialects: [{ dialect, expression }] });

it('accepts a model on every engine', () => {
  for (const dialect of [postgres, mysql, sqlite]) expect(check(nothing, dialect).faults).toEqual([]);
});

const datasets = 'semantic_model.datasets';
describe('static rules', () => {
  it.each<[name: string, change: Change, path: string, message: RegExp, dialect?: Dialect]>([
    [
      'no datasets',
      (m) => {
        m.datasets = [];
      },
      datasets,
      /must have a dataset/,
    ],
    [
      'a dataset that is no object',
      (m) => {
        m.datasets[1] = 'x' as never;
      },
      `${datasets}[1]`,
      /./,
    ],
    [
      'a name that is none',
      (m) => {
        m.datasets[0]!.name = 'my orders';
      },
      `${datasets}[0].name`,
      /letters/,
    ],
    [
      'a name of 129 characters',
      (m) => {
        field(m).name = 'x'.repeat(129);
      },
      `${datasets}[0].fields[2].name`,
      /128/,
    ],
    [
      'two datasets of a name',
      (m) => {
        m.datasets[1]!.name = 'ORDERS';
      },
      `${datasets}[1].name`,
      /another/,
    ],
    [
      'two fields of a name',
      (m) => {
        field(m).name = 'Status';
      },
      `${datasets}[0].fields[2].name`,
      /another/,
    ],
    [
      'two metrics of a name',
      (m) => {
        m.metrics![1]!.name = 'Revenue';
      },
      'semantic_model.metrics[1].name',
      /another/,
    ],
    [
      'two relationships of a name',
      (m) => {
        m.relationships![3]!.name = 'buyer';
      },
      'semantic_model.relationships[3].name',
      /another/,
    ],
    [
      'a datatype that is none',
      (m) => {
        field(m).datatype = 'Number' as never;
      },
      `${datasets}[0].fields[2].datatype`,
      /one of Integer/,
    ],
    [
      'a query as source',
      (m) => {
        m.datasets[0]!.source = 'select * from orders';
      },
      `${datasets}[0].source`,
      /query/,
    ],
    [
      'a source with too many parts',
      (m) => {
        m.datasets[0]!.source = 'a.b.c.d';
      },
      `${datasets}[0].source`,
      /three parts/,
    ],
    [
      'a source of another database',
      (m) => {
        m.datasets[0]!.source = 'other.public.orders';
      },
      `${datasets}[0].source`,
      /shop/,
    ],
    [
      'a source that ends with a point',
      (m) => {
        m.datasets[0]!.source = 'public.';
      },
      `${datasets}[0].source`,
      /must name/,
    ],
    [
      'three parts on MySQL',
      (m) => {
        m.datasets[0]!.source = 'a.b.c';
      },
      `${datasets}[0].source`,
      /two parts/,
      mysql,
    ],
    [
      'an injected source',
      (m) => {
        m.datasets[0]!.source = 'orders"; drop table x; --';
      },
      `${datasets}[0].source`,
      /must name/,
    ],
    [
      'no expression for the engine',
      (m) => {
        field(m).expression = write('amount', 'SNOWFLAKE');
      },
      `${datasets}[0].fields[2].expression`,
      /dialect_missing/,
    ],
    [
      'an expression that does not parse',
      (m) => {
        field(m).expression = write('amount +');
      },
      `${datasets}[0].fields[2].expression`,
      /parsed/,
    ],
    [
      'an expression with a subquery',
      (m) => {
        field(m).expression = write('(select 1)');
      },
      `${datasets}[0].fields[2].expression`,
      /subquery/,
    ],
    [
      'an aggregate in a field',
      (m) => {
        field(m).expression = write('sum(amount)');
      },
      `${datasets}[0].fields[2].expression`,
      /aggregate/,
    ],
    [
      'a window in a field',
      (m) => {
        field(m).expression = write('sum(amount) over ()');
      },
      `${datasets}[0].fields[2].expression`,
      /window/,
    ],
    [
      'a function that is not allowed',
      (m) => {
        field(m).expression = write('pg_sleep(1)');
      },
      `${datasets}[0].fields[2].expression`,
      /pg_sleep/,
    ],
    [
      'a function that the engine lacks',
      (m) => {
        field(m).expression = write("split_part(status, '-', 1)");
      },
      `${datasets}[0].fields[2].expression`,
      /SQLite/,
      sqlite,
    ],
    [
      'a field of another dataset',
      (m) => {
        field(m).expression = write('customers.name');
      },
      `${datasets}[0].fields[2].expression`,
      /customers/,
    ],
    [
      'a relationship from nowhere',
      (m) => {
        m.relationships![2]!.from = 'ordres';
      },
      'semantic_model.relationships[2].from',
      /orders/,
    ],
    [
      'a relationship to no key',
      (m) => {
        m.relationships![2]!.to_columns = ['name'];
      },
      'semantic_model.relationships[2].to_columns',
      /primary key/,
    ],
    [
      'a relationship to part of a key',
      (m) => {
        m.relationships![0] = {
          ...m.relationships![0]!,
          name: 'x',
          from: 'returns',
          to: 'lines',
          to_columns: ['order_id'],
        };
      },
      'semantic_model.relationships[0].to_columns',
      /primary key/,
    ],
    [
      'columns that do not pair',
      (m) => {
        m.relationships![2]!.from_columns = ['a', 'b'];
      },
      'semantic_model.relationships[2].to_columns',
      /as many/,
    ],
    [
      'a metric without an aggregate',
      (m) => {
        m.metrics![0]!.expression = write('1 + 1');
      },
      'semantic_model.metrics[0].expression',
      /no aggregate/,
    ],
    [
      'a metric with a field outside',
      (m) => {
        m.metrics![0]!.expression = write('sum(orders.amount) + orders.id');
      },
      'semantic_model.metrics[0].expression',
      /aggregate/,
    ],
    [
      'count(*)',
      (m) => {
        m.metrics![0]!.expression = write('count(*)');
      },
      'semantic_model.metrics[0].expression',
      /dataset\.field/,
    ],
    [
      'a metric of an unknown field',
      (m) => {
        m.metrics![0]!.expression = write('sum(orders.amont)');
      },
      'semantic_model.metrics[0].expression',
      /orders\.amount/,
    ],
    [
      'a metric of a column of the database',
      (m) => {
        m.metrics![0]!.expression = write('sum(orders.buyer_id)');
      },
      'semantic_model.metrics[0].expression',
      /buyer_id/,
    ],
    [
      'a metric over datasets that no one reaches',
      (m) => {
        m.metrics![0]!.expression = write('sum(lines.quantity * employees.salary)');
      },
      'semantic_model.metrics[0].expression',
      /no one dataset/,
    ],
    [
      'a metric along two paths',
      (m) => {
        m.metrics![0]!.expression = write('count(CASE WHEN orders.id > 1 THEN customers.id END)');
      },
      'semantic_model.metrics[0].expression',
      /several ways/,
    ],
    [
      'a metric that the engine lacks',
      (m) => {
        m.metrics![0]!.expression = write('median(orders.amount)');
      },
      'semantic_model.metrics[0].expression',
      /MySQL/,
      mysql,
    ],
    [
      'a metric with a window',
      (m) => {
        m.metrics![0]!.expression = write('sum(orders.amount) over ()');
      },
      'semantic_model.metrics[0].expression',
      /window/,
    ],
    [
      'a metric with a subquery',
      (m) => {
        m.metrics![0]!.expression = write('sum(orders.amount) / (select 1)');
      },
      'semantic_model.metrics[0].expression',
      /subquery/,
    ],
    [
      'a metric of text',
      (m) => {
        m.metrics![0]!.expression = write('sum(orders.status)');
      },
      'semantic_model.metrics[0].expression',
      /number/,
    ],
    [
      '101 datasets',
      (m) => {
        m.datasets = Array.from({ length: 101 }, (_, i) => ({ name: `d${i}`, source: 't' }));
      },
      datasets,
      /100/,
    ],
    [
      '501 fields',
      (m) => {
        m.datasets[0]!.fields = Array.from({ length: 501 }, (_, i) => ({
          name: `f${i}`,
          expression: write('a'),
        }));
      },
      `${datasets}[0].fields`,
      /500/,
    ],
  ])('%s', (_, change, path, message, dialect) => {
    const { faults } = check(change, dialect);
    const fault = faults.find((one) => one.path === path);
    expect(fault, JSON.stringify(faults)).toBeDefined();
    expect(fault!.message).toMatch(message);
  });

  it('keeps keys that are not of Ossie, and warns', () => {
    const { model, faults, warnings } = check((m) => {
      Object.assign(m.datasets[0]!, { color: 'red' });
      Object.assign(field(m), { aggregation: 'sum' });
    });
    expect(faults).toEqual([]);
    expect((model as SemanticModel).datasets[0]).toMatchObject({ color: 'red' });
    expect(warnings.map(({ code, path }) => [code, path])).toEqual([
      ['unknown_key', `${datasets}[0].color`],
      ['unknown_key', `${datasets}[0].fields[2].aggregation`],
    ]);
  });
});
