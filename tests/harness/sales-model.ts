import type { Datatype, Engine } from '@agent-platform/sql';
import type { SemanticModel } from '../../src/semantic-data-models/ossie.ts';

/** A small company: orders with lines, returns, customers who buy and who receive, regions, and an employee's manager. */

const field = (name: string, datatype?: Datatype, expression = name, more: object = {}) => ({
  name,
  expression: { dialects: [{ dialect: 'ANSI_SQL', expression }] },
  ...(datatype === undefined ? {} : { datatype }),
  ...more,
});
const metric = (name: string, expression: string) => ({
  name,
  expression: { dialects: [{ dialect: 'ANSI_SQL', expression }] },
});
const relationship = (name: string, from: string, column: string, to: string, key = 'id') => ({
  name,
  from,
  to,
  from_columns: [column],
  to_columns: [key],
});

export const salesModel: SemanticModel = {
  name: 'sales',
  datasets: [
    {
      name: 'orders',
      source: 'orders',
      primary_key: ['id'],
      fields: [
        field('id', 'Integer'),
        field('status', 'String'),
        field('amount', 'Decimal', 'amount', { label: 'Amount', description: 'Without tax.' }),
        field('order_date', 'Date', 'order_date', { dimension: { is_time: true } }),
        field('created_at', 'DateTime'),
        field('paid_at', 'DateTimeTz'),
        field('with_tax', undefined, 'round(amount * 1.2, 2)'),
        field('is_big', 'Boolean', 'amount >= 100'),
      ],
    },
    {
      name: 'lines',
      source: 'order_lines',
      primary_key: ['order_id', 'line'],
      fields: [field('quantity', 'Integer'), field('product', 'String'), field('price', 'Decimal')],
    },
    {
      name: 'returns',
      source: 'returns',
      primary_key: ['id'],
      fields: [field('id', 'Integer'), field('reason', 'String')],
    },
    {
      name: 'customers',
      source: 'customers',
      primary_key: ['id'],
      unique_keys: [['email']],
      fields: [field('id', 'Integer'), field('name', 'String'), field('email', 'String')],
    },
    {
      name: 'regions',
      source: 'regions',
      primary_key: ['code'],
      fields: [field('name', 'String', 'region_name', { label: 'Region' })],
    },
    {
      name: 'employees',
      source: 'employees',
      primary_key: ['id'],
      fields: [field('name', 'String'), field('salary', 'Decimal')],
    },
  ],
  relationships: [
    relationship('lines_to_orders', 'lines', 'order_id', 'orders'),
    relationship('returns_to_orders', 'returns', 'order_id', 'orders'),
    relationship('buyer', 'orders', 'buyer_id', 'customers'),
    relationship('receiver', 'orders', 'receiver_id', 'customers'),
    relationship('customers_to_regions', 'customers', 'region', 'regions', 'code'),
    relationship('manager', 'employees', 'manager_id', 'employees'),
  ],
  metrics: [
    metric('revenue', 'SUM(orders.amount)'),
    metric('order_count', 'COUNT(orders.id)'),
    metric('average_order', 'SUM(orders.amount) / COUNT(orders.id)'),
    metric('open_orders', "COUNT(CASE WHEN orders.status = 'open' THEN orders.id END)"),
    metric('items', 'SUM(lines.quantity)'),
    metric('line_value', 'SUM(lines.quantity * lines.price)'),
    metric('share_of_order', 'SUM(lines.quantity * lines.price / orders.amount)'),
    metric('return_count', 'COUNT(returns.id)'),
    metric('return_rate', 'COUNT(returns.id) / COUNT(orders.id)'),
    metric('customer_count', 'COUNT(DISTINCT customers.id)'),
    metric('orders_per_customer', 'COUNT(orders.id) / COUNT(customers.id)'),
    metric('salaries', 'SUM(employees.salary)'),
  ],
};

const types = {
  postgres: { decimal: 'numeric(10,2)', text: 'text', timestamp: 'timestamp', zoned: 'timestamptz' },
  mysql: { decimal: 'decimal(10,2)', text: 'varchar(100)', timestamp: 'datetime', zoned: 'timestamp' },
  sqlite: { decimal: 'numeric', text: 'text', timestamp: 'text', zoned: 'text' },
  duckdb: { decimal: 'decimal(10,2)', text: 'varchar', timestamp: 'timestamp', zoned: 'timestamptz' },
} as const;

/** Statements that make the tables of the model and fill them. */
export const salesTables = (engine: Engine): string[] => {
  const { decimal, text, timestamp, zoned } = types[engine];
  return [
    `create table regions (code ${text}, region_name ${text})`,
    `create table customers (id integer, name ${text}, email ${text}, region ${text})`,
    `create table orders (id integer, status ${text}, amount ${decimal}, order_date date, created_at ${timestamp}, paid_at ${zoned} null, buyer_id integer, receiver_id integer)`,
    `create table order_lines (order_id integer, line integer, quantity integer, product ${text}, price ${decimal})`,
    `create table returns (id integer, order_id integer, reason ${text})`,
    `create table employees (id integer, name ${text}, salary ${decimal}, manager_id integer)`,
    "insert into regions values ('n', 'North'), ('s', 'South'), ('w', 'West')",
    `insert into customers values (1, 'Ann', 'a@x', 'n'), (2, 'Bob', 'b@x', 's'), (3, 'Cid', 'c@x', null), (4, '100%_\\', 'd@x', 'n')`,
    `insert into orders values
      (1, 'open', 100, '2024-01-31', '2024-01-31 23:30:00', '2024-01-31 23:30:00', 1, 2),
      (2, 'open', 50.5, '2024-02-01', '2024-02-01 00:10:00', '2024-02-01 00:10:00', 1, 1),
      (3, 'closed', 20, '2024-02-29', '2024-02-29 12:00:00', null, 2, 1),
      (4, 'closed', 0, '2023-12-31', '2023-12-31 22:59:59', '2023-12-31 22:59:59', 3, 3),
      (5, null, 10, null, '2024-03-31 01:30:00', '2024-03-31 01:30:00', null, 2)`,
    `insert into order_lines values (1, 1, 2, 'pen', 25), (1, 2, 1, 'ink', 50), (2, 1, 5, 'pen', 10.1), (3, 1, 1, 'pad', 20), (4, 1, 3, 'pen', 0)`,
    "insert into returns values (1, 1, 'broken'), (2, 1, 'late'), (3, 3, 'broken')",
    "insert into employees values (1, 'Eve', 300, null), (2, 'Fay', 200, 1), (3, 'Gus', 100, 1)",
  ];
};
