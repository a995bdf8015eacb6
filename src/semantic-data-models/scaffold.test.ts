import { describe, expect, test } from 'vitest';
import type { TableInfo } from '../data-connections/index.ts';
import { scaffoldModel, snakeCase } from './scaffold.ts';

const table = (name: string, columns: Record<string, string>, more: Partial<TableInfo> = {}): TableInfo => ({
  schema: 'public',
  name,
  kind: 'table',
  comment: null,
  row_estimate: null,
  columns: Object.entries(columns).map(([column, datatype]) => ({
    name: column,
    type: 'x',
    datatype: datatype as 'String',
    nullable: true,
    comment: null,
  })),
  primary_key: [],
  unique_keys: [],
  foreign_keys: [],
  ...more,
});
const scaffold = (...tables: TableInfo[]) =>
  scaffoldModel('m', tables, { defaultSchema: 'public', withSchema: true });

const customers = table('customers', { id: 'Integer', name: 'String' }, { primary_key: ['id'] });
const orders = table(
  'OrderItems',
  {
    id: 'Integer',
    customer_id: 'Integer',
    payer: 'Integer',
    amount: 'Decimal',
    'Zip Code': 'Integer',
    order: 'Integer',
    at: 'DateTime',
  },
  {
    primary_key: ['id'],
    comment: 'Lines',
    foreign_keys: [
      { columns: ['customer_id'], to_schema: 'public', to_table: 'customers', to_columns: ['id'] },
      { columns: ['payer'], to_schema: 'public', to_table: 'customers', to_columns: ['id'] },
      { columns: ['payer'], to_schema: 'public', to_table: 'elsewhere', to_columns: ['id'] },
    ],
  },
);

describe('a scaffold', () => {
  test('has a dataset for each table and a field for each column', () => {
    const { datasets } = scaffold(orders, customers);
    expect(datasets.map(({ name, source, description }) => [name, source, description])).toEqual([
      ['order_items', 'public."OrderItems"', 'Lines'],
      ['customers', 'public.customers', undefined],
    ]);
    expect(
      datasets[0]!.fields.map(({ name, expression, dimension }) => [
        name,
        expression.dialects[0]!.expression,
        dimension?.is_time,
      ]),
    ).toEqual([
      ['id', 'id', undefined],
      ['customer_id', 'customer_id', undefined],
      ['payer', 'payer', undefined],
      ['amount', 'amount', undefined],
      ['zip_code', '"Zip Code"', undefined],
      ['order', '"order"', undefined],
      ['at', 'at', true],
    ]);
  });

  test('takes relationships from foreign keys, named by their columns when there are several', () => {
    expect(scaffold(orders, customers).relationships).toEqual([
      {
        name: 'order_items_to_customers_via_customer_id',
        from: 'order_items',
        to: 'customers',
        from_columns: ['customer_id'],
        to_columns: ['id'],
      },
      expect.objectContaining({ name: 'order_items_to_customers_via_payer' }),
    ]);
  });

  test('counts rows and adds up numbers that are measures', () => {
    expect(
      scaffold(orders, customers).metrics.map(({ name, expression }) => [
        name,
        expression.dialects[0]!.expression,
      ]),
    ).toEqual([
      ['order_items_count', 'COUNT(order_items.id)'],
      ['customers_count', 'COUNT(customers.id)'],
      ['total_amount', 'SUM(order_items.amount)'],
      ['total_order', 'SUM(order_items."order")'],
    ]);
  });

  test('is the same for the same tables in another order, and each name is there once', () => {
    const other = table('customers', { a: 'Decimal' }, { schema: 'archive' });
    const third = table('Customers', { a: 'Decimal', A: 'Float' });
    const model = scaffold(customers, third, other);
    expect(scaffold(other, customers, third)).toEqual(model);
    expect(model.datasets.map(({ name }) => name)).toEqual(['archive_customers', 'customers', 'customers_2']);
    expect(model.datasets[1]!.fields.map(({ name }) => name)).toEqual(['a', 'a_2']);
    expect(model.metrics.map(({ name }) => name)).toEqual([
      'customers_2_count',
      'total_archive_customers_a',
      'total_customers_a',
      'total_a_2',
    ]);
  });
});

test.each([
  ['OrderItems', 'order_items'],
  ['HTTPRequest2', 'httprequest2'],
  ['Größe (cm)', 'grosse_cm'],
  ['1st', '_1st'],
  ['日本', '_'],
  ['a'.repeat(200), 'a'.repeat(128)],
])('%s is %s in snake case', (from, to) => {
  expect(snakeCase(from)).toBe(to === 'httprequest2' ? 'http_request2' : to);
});

test('a scaffold adds up no column that is a key, a code, a number or a year by its name', () => {
  const names = ['weight', 'serial_no', 'customer_id', 'sort_key', 'tax_code', 'year', 'zip', 'zip_code'];
  const columns = Object.fromEntries(names.map((name) => [name, 'Integer']));
  expect(scaffold(table('parcels', columns)).metrics.map(({ name }) => name)).toEqual(['total_weight']);
});
