import { describe, it } from 'vitest';
import { expectFault, type FaultCase, mysql, write } from '../../../tests/harness/model-changes.ts';

describe('static rules of relationships and metrics', () => {
  it.each<FaultCase>([
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
  ])('%s', (_, change, path, message, dialect) => expectFault(change, path, message, dialect));
});
