import { describe, expect, it } from 'vitest';
import {
  check,
  expectFault,
  type FaultCase,
  field,
  mysql,
  nothing,
  postgres,
  sqlite,
  write,
} from '../../../tests/harness/model-changes.ts';
import type { SemanticModel } from '../ossie.ts';

it('accepts a model on every engine', () => {
  for (const dialect of [postgres, mysql, sqlite]) expect(check(nothing, dialect).faults).toEqual([]);
});

const datasets = 'semantic_model.datasets';
describe('static rules', () => {
  it.each<FaultCase>([
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
  ])('%s', (_, change, path, message, dialect) => expectFault(change, path, message, dialect));

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
