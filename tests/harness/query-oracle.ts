import type { Datatype, Engine } from '@agent-platform/sql';
import { Temporal } from 'temporal-polyfill';
import type { SemanticModel } from '../../src/semantic-data-models/ossie.ts';

/**
 * Random structured queries against a second computation, which knows no SQL: it walks from each row to the rows that it
 * belongs to. Keys are NULL or lead nowhere, groups are empty, values repeat.
 */

type Row = Record<string, string | number | boolean | null>;
export const rows: Record<'regions' | 'customers' | 'orders' | 'lines', Row[]> = {
  regions: [
    { id: 1, name: 'north' },
    { id: 2, name: 'south' },
    { id: 3, name: null },
  ],
  customers: [
    { id: 1, city: 'oslo', vip: true, region_id: 1 },
    { id: 2, city: 'bergen', vip: false, region_id: 1 },
    { id: 3, city: 'rome', vip: null, region_id: 2 },
    { id: 4, city: null, vip: false, region_id: null },
    // Its region does not exist.
    { id: 5, city: 'oslo', vip: true, region_id: 99 },
    { id: 6, city: 'paris', vip: false, region_id: 3 },
  ],
  orders: [
    { id: 1, customer_id: 1, amount: 100.25, day: '2024-12-29', status: 'open' },
    { id: 2, customer_id: 1, amount: 50.5, day: '2024-12-30', status: 'closed' },
    { id: 3, customer_id: 2, amount: null, day: '2025-01-01', status: 'open' },
    { id: 4, customer_id: 3, amount: 0, day: '2025-01-05', status: null },
    { id: 5, customer_id: null, amount: 7.75, day: null, status: 'closed' },
    { id: 6, customer_id: 99, amount: 20, day: '2025-03-31', status: 'open' },
    { id: 7, customer_id: 5, amount: -20, day: '2025-03-31', status: 'lost' },
    { id: 8, customer_id: 1, amount: 50.5, day: '2024-02-29', status: 'closed' },
  ],
  lines: [
    { order_id: 1, qty: 2, price: 10.5 },
    { order_id: 1, qty: 3, price: 0.25 },
    { order_id: 1, qty: 1, price: null },
    { order_id: 2, qty: 4, price: 1.25 },
    { order_id: 3, qty: null, price: 9.99 },
    { order_id: 7, qty: -1, price: 20 },
    { order_id: null, qty: 6, price: 0.5 },
    { order_id: 99, qty: 7, price: 0.1 },
  ],
};
type Name = keyof typeof rows;

export const types: Record<Engine, Record<string, string>> = {
  postgres: { Integer: 'int', Decimal: 'numeric(10,2)', String: 'text', Date: 'date', Boolean: 'boolean' },
  mysql: {
    Integer: 'int',
    Decimal: 'decimal(10,2)',
    String: 'varchar(50)',
    Date: 'date',
    Boolean: 'boolean',
  },
  sqlite: { Integer: 'integer', Decimal: 'numeric', String: 'text', Date: 'text', Boolean: 'integer' },
  duckdb: {},
};
export const datatypes: Record<string, Datatype> = {
  ...{ id: 'Integer', region_id: 'Integer', customer_id: 'Integer', order_id: 'Integer', qty: 'Integer' },
  ...{ amount: 'Decimal', price: 'Decimal', name: 'String', city: 'String', status: 'String' },
  ...{ day: 'Date', vip: 'Boolean' },
};

const parents: Partial<Record<Name, [column: string, to: Name]>> = {
  lines: ['order_id', 'orders'],
  orders: ['customer_id', 'customers'],
  customers: ['region_id', 'regions'],
};
export const names = Object.keys(rows) as Name[];
/** The datasets that one reaches, itself first. */
const reach = (name: Name): Name[] => [name, ...(parents[name] ? reach(parents[name][1]) : [])];

/** A row with the rows that it belongs to; what it belongs to may not exist. */
type Joined = Partial<Record<Name, Row>>;
const joined = (base: Name, row: Row): Joined => {
  const parent = parents[base];
  const above = parent && rows[parent[1]].find(({ id }) => id === row[parent[0]]);
  return { [base]: row, ...(above ? joined(parent[1], above) : {}) };
};

export type Value = string | number | boolean | null;
const numbers = (values: Value[]) => values.filter((value) => value !== null) as number[];
const aggregates = {
  sum: (values: Value[]) =>
    numbers(values).length === 0 ? null : numbers(values).reduce((a, b) => a + b, 0),
  count: (values: Value[]) => numbers(values).length,
  countDistinct: (values: Value[]) => new Set(numbers(values)).size,
  avg: (values: Value[]) =>
    numbers(values).length === 0 ? null : numbers(values).reduce((a, b) => a + b, 0) / numbers(values).length,
  min: (values: Value[]) => [...numbers(values)].sort((a, b) => (a < b ? -1 : 1))[0] ?? null,
  max: (values: Value[]) => [...numbers(values)].sort((a, b) => (a < b ? 1 : -1))[0] ?? null,
};
interface Aggregate {
  base: Name;
  of: keyof typeof aggregates;
  value(row: Joined): Value;
}
const part = (base: Name, of: Aggregate['of'], value: Aggregate['value']): Aggregate => ({ base, of, value });
const field = (dataset: Name, name: string) => (row: Joined) => row[dataset]?.[name] ?? null;
const times = (a: Value, b: Value) => (a === null || b === null ? null : Number(a) * Number(b));
const over = (a: Value, b: Value) =>
  a === null || b === null || Number(b) === 0 ? null : Number(a) / Number(b);

interface Metric {
  sql: string;
  parts: Aggregate[];
  of?(values: Value[]): Value;
}
export const metrics: Record<string, Metric> = {
  revenue: { sql: 'SUM(orders.amount)', parts: [part('orders', 'sum', field('orders', 'amount'))] },
  order_count: { sql: 'COUNT(orders.id)', parts: [part('orders', 'count', field('orders', 'id'))] },
  mean_order: { sql: 'AVG(orders.amount)', parts: [part('orders', 'avg', field('orders', 'amount'))] },
  first_day: { sql: 'MIN(orders.day)', parts: [part('orders', 'min', field('orders', 'day'))] },
  items: { sql: 'SUM(lines.qty)', parts: [part('lines', 'sum', field('lines', 'qty'))] },
  dearest: { sql: 'MAX(lines.price)', parts: [part('lines', 'max', field('lines', 'price'))] },
  line_value: {
    sql: 'SUM(lines.qty * lines.price)',
    parts: [part('lines', 'sum', ({ lines }) => times(lines!.qty!, lines!.price!))],
  },
  // Each order once, and then once for each of its lines.
  statuses: {
    sql: 'COUNT(DISTINCT orders.status)',
    parts: [part('orders', 'countDistinct', field('orders', 'status'))],
  },
  bought_in: {
    sql: 'COUNT(DISTINCT CASE WHEN lines.qty > 0 THEN customers.city END)',
    parts: [
      part('lines', 'countDistinct', (row) =>
        Number(row.lines!.qty ?? 0) > 0 ? field('customers', 'city')(row) : null,
      ),
    ],
  },
  customer_count: {
    sql: 'COUNT(customers.id)',
    parts: [part('customers', 'count', field('customers', 'id'))],
  },
  items_per_order: {
    sql: 'SUM(lines.qty) / COUNT(orders.id)',
    parts: [part('lines', 'sum', field('lines', 'qty')), part('orders', 'count', field('orders', 'id'))],
    of: ([items, orders]) => over(items!, orders!),
  },
  revenue_per_customer: {
    sql: 'SUM(orders.amount) / COUNT(DISTINCT customers.id)',
    parts: [
      part('orders', 'sum', field('orders', 'amount')),
      part('customers', 'countDistinct', field('customers', 'id')),
    ],
    of: ([revenue, customers]) => over(revenue!, customers!),
  },
};

const day = (text: Value) => Temporal.PlainDate.from(String(text));
const periods: Record<string, (date: Temporal.PlainDate) => Temporal.PlainDate> = {
  week: (date) => date.subtract({ days: date.dayOfWeek - 1 }),
  month: (date) => date.with({ day: 1 }),
  quarter: (date) => date.with({ day: 1, month: date.month - ((date.month - 1) % 3) }),
  year: (date) => date.with({ day: 1, month: 1 }),
};
interface Dimension {
  asked: string | { field: string; granularity: string };
  dataset: Name;
  value(row: Joined): Value;
}
const plain = (dataset: Name, name: string): Dimension => ({
  asked: `${dataset}.${name}`,
  dataset,
  value: field(dataset, name),
});
export const dimensions: Dimension[] = [
  plain('orders', 'status'),
  plain('customers', 'city'),
  plain('customers', 'vip'),
  plain('regions', 'name'),
  ...Object.entries(periods).map(
    ([granularity, begin]): Dimension => ({
      asked: { field: 'orders.day', granularity },
      dataset: 'orders',
      value: (row) => {
        const value = field('orders', 'day')(row);
        return value === null ? null : begin(day(value)).toString();
      },
    }),
  ),
];

interface Filter {
  asked: { field: string; operator: string; values?: Value[] };
  dataset: Name;
  holds(row: Joined): boolean;
}
const filter = (
  dataset: Name,
  name: string,
  operator: string,
  values: Value[],
  test: (value: Value) => boolean,
): Filter => ({
  asked: { field: `${dataset}.${name}`, operator, ...(values.length > 0 ? { values } : {}) },
  dataset,
  holds: (row) => test(field(dataset, name)(row)),
});
const given = (test: (value: string | number | boolean) => boolean) => (value: Value) =>
  value !== null && test(value);
export const filters: Filter[] = [
  filter(
    'orders',
    'status',
    'in',
    ['open', 'lost'],
    given((value) => value === 'open' || value === 'lost'),
  ),
  filter(
    'orders',
    'status',
    'not_equals',
    ['open'],
    given((value) => value !== 'open'),
  ),
  filter(
    'orders',
    'amount',
    'gt',
    [20],
    given((value) => Number(value) > 20),
  ),
  filter(
    'orders',
    'day',
    'gte',
    ['2025-01-01'],
    given((value) => String(value) >= '2025-01-01'),
  ),
  filter('customers', 'city', 'is_null', [], (value) => value === null),
  filter(
    'customers',
    'vip',
    'equals',
    [true],
    given((value) => value === true),
  ),
  filter(
    'regions',
    'name',
    'not_in',
    ['south'],
    given((value) => value !== 'south'),
  ),
  filter('regions', 'name', 'is_not_null', [], (value) => value !== null),
];

interface Asked {
  metrics: string[];
  dimensions: Dimension[];
  filters: Filter[];
  having: { metric: string; least: number } | null;
}

/** The rows of the answer; null if something cannot be reached. */
export const expected = ({
  metrics: asked,
  dimensions: by,
  filters: where,
  having,
}: Asked): Value[][] | null => {
  const computed = [...new Set([...asked, ...(having ? [having.metric] : [])])];
  const parts = computed.flatMap((name) => metrics[name]!.parts);
  const bases = [...new Set(parts.map(({ base }) => base))];
  const needed = [...by, ...where].map(({ dataset }) => dataset);
  if (bases.some((base) => needed.some((dataset) => !reach(base).includes(dataset)))) return null;
  const groups = new Map<string, { key: Value[]; of: Map<Name, Joined[]> }>();
  const groupOf = (key: Value[]) => {
    const found = groups.get(JSON.stringify(key)) ?? { key, of: new Map() };
    groups.set(JSON.stringify(key), found);
    return found;
  };
  for (const base of bases) {
    if (by.length === 0) groupOf([]).of.set(base, []);
    for (const row of rows[base].map((each) => joined(base, each))) {
      if (!where.every(({ holds }) => holds(row))) continue;
      const { of } = groupOf(by.map(({ value }) => value(row)));
      of.set(base, [...(of.get(base) ?? []), row]);
    }
  }
  const valueIn = (name: string, of: Map<Name, Joined[]>): Value => {
    const { parts: own, of: combine = ([value]) => value! } = metrics[name]!;
    return combine(
      own.map(({ base, of: aggregate, value }) => {
        const found = of.get(base);
        return found ? (aggregates[aggregate](found.map(value)) as Value) : null;
      }),
    );
  };
  return [...groups.values()]
    .filter(({ of }) => {
      const value = having ? valueIn(having.metric, of) : null;
      return !having || (value !== null && Number(value) >= having.least);
    })
    .map(({ key, of }) => [...key, ...asked.map((name) => valueIn(name, of))]);
};

const expression = (text: string) => ({ dialects: [{ dialect: 'ANSI_SQL', expression: text }] });
export const model: SemanticModel = {
  name: 'm',
  datasets: names.map((name) => ({
    name,
    source: name,
    ...(name === 'lines' ? {} : { primary_key: ['id'] }),
    fields: Object.keys(rows[name][0]!).map((column) => ({
      name: column,
      datatype: datatypes[column]!,
      expression: expression(column),
    })),
  })),
  relationships: Object.entries(parents).map(([from, [column, to]]) => ({
    name: `${from}_to_${to}`,
    from,
    to,
    from_columns: [column],
    to_columns: ['id'],
  })),
  metrics: Object.entries(metrics).map(([name, { sql }]) => ({ name, expression: expression(sql) })),
};
