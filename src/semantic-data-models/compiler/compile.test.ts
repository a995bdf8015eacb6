import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { salesModel, salesTables } from '../../../tests/harness/sales-model.ts';
import { comparable, openSqlEngines, type SqlEngine } from '../../../tests/harness/sql-engines.ts';
import type { Dialect } from '../../data-connections/index.ts';
import { ApiError } from '../../lib/errors.ts';
import { engineNames } from '../../sql/index.ts';
import type { SemanticModel } from '../ossie.ts';
import { compile } from './compile.ts';
import { checkModel } from './document.ts';

let engines: SqlEngine[];
beforeAll(async () => {
  // Data frames have no data connection.
  engines = (await openSqlEngines(inject('postgresUrl'))).filter(({ engine }) => engine !== 'duckdb');
  await Promise.all(engines.map(({ engine, execute }) => execute(...salesTables(engine))));
});
afterAll(() => Promise.all(engines.map((engine) => engine.close())));

const dialectOf = ({ engine, schema }: SqlEngine): Dialect => ({
  engine: engine as Dialect['engine'],
  database: schema,
  defaultSchema: schema,
});
const now = Temporal.Instant.from('2024-02-15T12:00:00Z');

const run = async (
  engine: SqlEngine,
  request: Parameters<typeof compile>[2],
  model: SemanticModel = salesModel,
) => {
  const compiled = compile(model, dialectOf(engine), request, { limit: 100, now });
  const printed = { ...compiled, parameters: [...compiled.parameters] as string[] };
  const rows = await engine.query(printed).catch((error) => {
    throw new Error(`${error.message}\n${compiled.sql}`);
  });
  return {
    compiled,
    rows: rows.map((row) => row.map((value, i) => comparable(value, compiled.columns[i]!.datatype))),
  };
};

/** The order of rows is not told, unless it is asked for. */
const sorted = (rows: unknown[][]): unknown[][] =>
  [...rows].sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));

/** Each is asked on every engine; `sql` is written by hand, and is asked of the same database. */
const questions: { name: string; query: Record<string, unknown>; rows: unknown[][]; sql?: string }[] = [
  {
    name: 'a metric alone',
    query: { metrics: ['revenue'] },
    rows: [[180.5]],
    sql: 'select sum(amount) from orders',
  },
  {
    name: 'a metric by a field of its base',
    query: { metrics: ['revenue', 'order_count'], dimensions: ['orders.status'] },
    rows: [
      ['open', 150.5, 2],
      ['closed', 20, 2],
      [null, 10, 1],
    ],
    sql: 'select status, sum(amount), count(id) from orders group by status',
  },
  {
    name: 'a metric of lines by a field of the order does not multiply orders',
    query: { metrics: ['items', 'revenue'], dimensions: ['orders.status'] },
    rows: [
      ['open', 8, 150.5],
      ['closed', 4, 20],
      [null, null, 10],
    ],
  },
  {
    name: 'a metric over two datasets has the many as its base',
    query: { metrics: ['share_of_order'], dimensions: ['orders.id'], order: [{ by: 'id' }] },
    rows: [
      [1, 1],
      [2, 1],
      [3, 1],
      [4, null],
    ],
    sql: 'select o.id, sum(l.quantity * l.price * 1.0 / nullif(o.amount, 0)) from order_lines l left join orders o on o.id = l.order_id group by o.id order by o.id',
  },
  {
    name: 'a ratio of two bases is computed from their merged values',
    query: { metrics: ['return_rate', 'return_count'], dimensions: ['orders.status'] },
    rows: [
      ['open', 1, 2],
      ['closed', 0.5, 1],
      [null, null, null],
    ],
  },
  {
    name: 'several bases without dimensions',
    query: { metrics: ['revenue', 'items', 'return_count', 'customer_count', 'salaries'] },
    rows: [[180.5, 12, 3, 4, 600]],
    sql: 'select (select sum(amount) from orders), (select sum(quantity) from order_lines), (select count(*) from returns), (select count(*) from customers), (select sum(salary) from employees)',
  },
  {
    name: 'a ratio divides by all customers, also those without orders',
    query: { metrics: ['orders_per_customer'] },
    rows: [[1.25]],
  },
  {
    name: 'the same dataset in two roles',
    query: {
      metrics: ['order_count'],
      dimensions: [
        { field: 'customers.name', via: ['buyer'], as: 'buyer' },
        { field: 'customers.name', via: ['receiver'], as: 'receiver' },
      ],
    },
    rows: [
      ['Ann', 'Ann', 1],
      ['Ann', 'Bob', 1],
      ['Bob', 'Ann', 1],
      ['Cid', 'Cid', 1],
      [null, 'Bob', 1],
    ],
    sql: 'select b.name, r.name, count(*) from orders o left join customers b on b.id = o.buyer_id left join customers r on r.id = o.receiver_id group by b.name, r.name',
  },
  {
    name: 'two steps, through a role',
    query: { metrics: ['revenue'], dimensions: [{ field: 'regions.name', via: ['receiver'] }] },
    rows: [
      ['North', 70.5],
      ['South', 110],
      [null, 0],
    ],
    sql: 'select g.region_name, sum(o.amount) from orders o left join customers c on c.id = o.receiver_id left join regions g on g.code = c.region group by g.region_name',
  },
  {
    name: 'a dataset joined to itself',
    query: {
      metrics: ['salaries'],
      dimensions: [{ field: 'employees.name', via: ['manager'], as: 'manager' }],
    },
    rows: [
      ['Eve', 300],
      [null, 300],
    ],
    sql: 'select m.name, sum(e.salary) from employees e left join employees m on m.id = e.manager_id group by m.name',
  },
  {
    name: 'granularities of a date',
    query: {
      metrics: ['order_count'],
      dimensions: [{ field: 'orders.order_date', granularity: 'month' }],
      order: [{ by: 'order_date_month', direction: 'desc' }],
    },
    rows: [
      ['2024-02-01', 2],
      ['2024-01-01', 1],
      ['2023-12-01', 1],
      [null, 1],
    ],
  },
  {
    name: 'granularities of moments',
    query: {
      metrics: ['order_count'],
      dimensions: [
        { field: 'orders.created_at', granularity: 'quarter' },
        { field: 'orders.paid_at', granularity: 'day', as: 'paid' },
      ],
      order: [{ by: 'paid' }, { by: 'orders.created_at' }],
    },
    rows: [
      ['2023-10-01 00:00:00', '2023-12-31 00:00:00', 1],
      ['2024-01-01 00:00:00', '2024-01-31 00:00:00', 1],
      ['2024-01-01 00:00:00', '2024-02-01 00:00:00', 1],
      ['2024-01-01 00:00:00', '2024-03-31 00:00:00', 1],
      ['2024-01-01 00:00:00', null, 1],
    ],
  },
  {
    name: 'rows without metrics',
    query: {
      dimensions: ['orders.id', { field: 'customers.name', via: ['buyer'] }],
      filters: [{ field: 'orders.amount', operator: 'gt', values: [15] }],
      order: [{ by: 'orders.id', direction: 'desc' }],
    },
    rows: [
      [3, 'Bob'],
      [2, 'Ann'],
      [1, 'Ann'],
    ],
  },
  {
    name: 'rows are those of the dataset that reaches the others',
    query: { dimensions: ['lines.product', 'orders.status'], order: [{ by: 'product' }, { by: 'status' }] },
    rows: [
      ['ink', 'open'],
      ['pad', 'closed'],
      ['pen', 'closed'],
      ['pen', 'open'],
      ['pen', 'open'],
    ],
    sql: 'select l.product, o.status from order_lines l left join orders o on o.id = l.order_id order by 1, 2',
  },
  {
    name: 'distinct rows, with an offset',
    query: { dimensions: ['lines.product'], distinct: true, order: [{ by: 'product' }], offset: 1 },
    rows: [['pad'], ['pen']],
  },
  {
    name: 'names that clash become dataset_field',
    query: {
      dimensions: ['lines.product', 'orders.id', { field: 'customers.id', via: ['buyer'] }],
      filters: [{ field: 'lines.product', operator: 'equals', values: ['pad'] }],
    },
    rows: [['pad', 3, 2]],
  },
  {
    name: 'filters on fields hold for every base, filters on metrics for groups',
    query: {
      metrics: ['revenue', 'items'],
      dimensions: ['orders.status'],
      filters: [
        { field: 'orders.amount', operator: 'gte', values: [20] },
        { metric: 'items', operator: 'gt', values: [1] },
      ],
    },
    rows: [['open', 150.5, 8]],
  },
  {
    name: 'a filter on a metric that is not shown',
    query: {
      metrics: ['revenue'],
      dimensions: ['orders.status'],
      filters: [{ not: { metric: 'order_count', operator: 'lt', values: [2] } }],
    },
    rows: [
      ['open', 150.5],
      ['closed', 20],
    ],
  },
  {
    name: 'fields with expressions',
    query: { metrics: ['open_orders'], dimensions: ['orders.is_big', 'orders.with_tax'] },
    rows: [
      [true, 120, 1],
      [false, 60.6, 1],
      [false, 24, 0],
      [false, 0, 0],
      [false, 12, 0],
    ],
  },
];

/** Filters on the rows of orders: which ids are left. */
const filters: [filter: unknown, ids: number[]][] = [
  [{ field: 'orders.status', operator: 'equals', values: ['open'] }, [1, 2]],
  [{ field: 'orders.status', operator: 'not_equals', values: ['open'] }, [3, 4]],
  [{ field: 'orders.status', operator: 'in', values: ['open', 'closed'] }, [1, 2, 3, 4]],
  [{ field: 'orders.status', operator: 'not_in', values: ['open', 'x'] }, [3, 4]],
  [{ field: 'orders.status', operator: 'is_null' }, [5]],
  [{ field: 'orders.status', operator: 'is_not_null', values: [] }, [1, 2, 3, 4]],
  [{ field: 'orders.status', operator: 'contains', values: ['los'] }, [3, 4]],
  [{ field: 'orders.status', operator: 'contains', values: ['LOS'] }, []],
  [{ field: 'orders.status', operator: 'not_contains', values: ['los'] }, [1, 2]],
  [{ field: 'orders.status', operator: 'starts_with', values: ['o'] }, [1, 2]],
  [{ field: 'orders.status', operator: 'starts_with', values: ['%'] }, []],
  [{ field: 'orders.status', operator: 'ends_with', values: ['ed'] }, [3, 4]],
  [{ field: 'orders.status', operator: 'equals', values: ["open' OR '1'='1"] }, []],
  [{ field: 'orders.amount', operator: 'between', values: [20, '50.5'] }, [2, 3]],
  [{ field: 'orders.amount', operator: 'lt', values: [50.5] }, [3, 4, 5]],
  [{ field: 'orders.amount', operator: 'lte', values: ['50.5'] }, [2, 3, 4, 5]],
  [{ field: 'orders.id', operator: 'in', values: ['1', 3] }, [1, 3]],
  [{ field: 'orders.is_big', operator: 'equals', values: [true] }, [1]],
  [{ field: 'orders.is_big', operator: 'not_equals', values: [true] }, [2, 3, 4, 5]],
  [{ field: 'orders.order_date', operator: 'gte', values: ['2024-02-01'] }, [2, 3]],
  [{ field: 'orders.created_at', operator: 'lt', values: ['2024-02-01T00:10:00'] }, [1, 4]],
  [{ field: 'orders.paid_at', operator: 'gte', values: ['2024-02-01T01:10:00+01:00'] }, [2, 5]],
  [{ field: 'orders.order_date', operator: 'in_period', values: ['this_month'] }, [2, 3]],
  [{ field: 'orders.order_date', operator: 'in_period', values: ['last_month'] }, [1]],
  [{ field: 'orders.created_at', operator: 'in_period', values: ['this_quarter'] }, [1, 2, 3, 5]],
  [{ field: 'orders.paid_at', operator: 'in_period', values: ['last_year'] }, [4]],
  [{ field: 'orders.order_date', operator: 'in_period', values: ['last_30_days'] }, [1, 2]],
  [{ field: 'orders.order_date', operator: 'in_period', values: ['last_12_months'] }, [1, 2, 3, 4]],
  [
    {
      or: [
        { field: 'orders.id', operator: 'equals', values: [5] },
        {
          and: [
            { field: 'orders.status', operator: 'equals', values: ['open'] },
            { not: { field: 'orders.id', operator: 'equals', values: [1] } },
          ],
        },
      ],
    },
    [2, 5],
  ],
  [{ field: 'customers.name', via: ['receiver'], operator: 'equals', values: ['Ann'] }, [2, 3]],
  [{ field: 'regions.name', via: ['buyer'], operator: 'equals', values: ['South'] }, [3]],
];

describe('structured queries', () => {
  it.each(questions)('$name', async ({ query, rows, sql }) => {
    for (const engine of engines) {
      const found = await run(engine, { query });
      const ordered = 'order' in query;
      const name = engineNames[engine.engine];
      expect(ordered ? found.rows : sorted(found.rows), name).toEqual(ordered ? rows : sorted(rows));
      if (sql === undefined) continue;
      const written = await engine.ask(sql);
      const plain = written.map((row) =>
        row.map((value, i) => comparable(value, found.compiled.columns[i]!.datatype)),
      );
      expect(ordered ? plain : sorted(plain), name).toEqual(ordered ? found.rows : sorted(found.rows));
    }
  });

  it('filters', async () => {
    for (const engine of engines) {
      for (const [filter, ids] of filters) {
        const query = { dimensions: ['orders.id'], filters: [filter], order: [{ by: 'id' }] };
        const { rows } = await run(engine, { query });
        expect(rows.flat(), `${engineNames[engine.engine]} ${JSON.stringify(filter)}`).toEqual(ids);
      }
    }
  });

  it('takes `%`, `_` and `\\` in text as they stand', async () => {
    for (const engine of engines) {
      for (const value of ['100%', '%_', '_\\', '%_\\']) {
        const query = {
          dimensions: ['customers.id'],
          filters: [{ field: 'customers.name', operator: 'contains', values: [value] }],
        };
        expect((await run(engine, { query })).rows, value).toEqual([[4]]);
      }
    }
  });

  it('reads times in a zone on PostgreSQL, and is refused elsewhere', async () => {
    const query = {
      metrics: ['order_count'],
      dimensions: [
        { field: 'orders.paid_at', granularity: 'month' },
        { field: 'orders.created_at', granularity: 'hour' },
      ],
      timezone: 'Europe/Berlin',
      order: [{ by: 'created_at_hour' }],
    };
    for (const engine of engines) {
      if (engine.engine !== 'postgres') {
        await expect(run(engine, { query })).rejects.toThrow('query.timezone: must be UTC');
        continue;
      }
      // In the night of 31 March 2024 clocks went from 2 to 3.
      expect((await run(engine, { query })).rows).toEqual([
        ['2023-12-01 00:00:00', '2023-12-31 23:00:00', 1],
        ['2024-02-01 00:00:00', '2024-02-01 00:00:00', 1],
        ['2024-02-01 00:00:00', '2024-02-01 01:00:00', 1],
        [null, '2024-02-29 13:00:00', 1],
        ['2024-03-01 00:00:00', '2024-03-31 03:00:00', 1],
      ]);
      const today = {
        dimensions: ['orders.id'],
        filters: [{ field: 'orders.paid_at', operator: 'in_period', values: ['today'] }],
        timezone: 'Europe/Berlin',
        as_of: '2024-02-01T05:00:00Z',
        order: [{ by: 'id' }],
      };
      expect((await run(engine, { query: today })).rows).toEqual([[1], [2]]);
    }
  });

  it('says of each column what it is', async () => {
    const query = {
      metrics: ['revenue'],
      dimensions: [
        { field: 'regions.name', via: ['buyer'] },
        { field: 'ORDERS.Order_Date', granularity: 'year' },
      ],
    };
    const { compiled } = await run(engines[0]!, { query });
    expect(compiled.columns).toEqual([
      { name: 'name', label: 'Region', description: null, datatype: 'String', role: 'dimension' },
      { name: 'order_date_year', label: null, description: null, datatype: 'Date', role: 'dimension' },
      { name: 'revenue', label: null, description: null, datatype: 'Decimal', role: 'metric' },
    ]);
    expect(compiled.query).toBe(query);
    expect(compiled.tables).toEqual(['orders', 'customers', 'regions']);
  });

  it('binds values, and limits rows to one more than asked for', () => {
    const query = {
      metrics: ['order_count'],
      filters: [
        { field: 'orders.status', operator: 'equals', values: ['secret'] },
        { field: 'orders.amount', operator: 'gt', values: [12345] },
        { field: 'orders.order_date', operator: 'gt', values: ['2024-01-01'] },
        { field: 'orders.is_big', operator: 'equals', values: [true] },
      ],
    };
    for (const engine of engines) {
      const { sql, parameters } = compile(salesModel, dialectOf(engine), { query }, { limit: 7 });
      const typed = engine.engine === 'postgres';
      expect(parameters).toEqual(['secret', 12345, '2024-01-01', typed ? true : 1]);
      expect(sql).not.toMatch(/secret|12345|2024/);
      expect(sql).toMatch(/ LIMIT 8$/);
    }
  });
});

const refusalOf = (request: Parameters<typeof compile>[2], model = salesModel): ApiError => {
  try {
    compile(model, { engine: 'postgres', database: 'd', defaultSchema: 'public' }, request, { limit: 1 });
  } catch (error) {
    if (error instanceof ApiError && error.status === 422) return error;
    throw error;
  }
  throw new Error(`accepted: ${JSON.stringify(request)}`);
};

describe('what is refused', () => {
  const dimension = (field: string, more: object = {}) => ({ dimensions: [{ field, ...more }] });
  const filter = (one: object) => ({ dimensions: ['orders.id'], filters: [one] });
  it.each<[query: object, path: string, context: object]>([
    [{ metrics: ['revenu'] }, 'query.metrics[0]', { reason: 'unknown_metric', suggestions: ['revenue'] }],
    [
      dimension('orders.statsu'),
      'query.dimensions[0]',
      { reason: 'unknown_field', suggestions: ['orders.status'] },
    ],
    [{ dimensions: ['status'] }, 'query.dimensions[0]', { suggestions: ['orders.status'] }],
    [{ dimensions: ['customer.id'] }, 'query.dimensions[0]', { reason: 'unknown_field' }],
    [
      { metrics: ['revenue'], dimensions: ['lines.product'] },
      'query.dimensions[0]',
      { reason: 'unreachable', field: 'lines.product', metric: 'revenue' },
    ],
    [
      { metrics: ['revenue'], filters: [{ field: 'lines.product', operator: 'is_null' }] },
      'query.filters[0]',
      { reason: 'unreachable', field: 'lines.product', metric: 'revenue' },
    ],
    [
      { metrics: ['revenue'], dimensions: ['customers.name'] },
      'query.dimensions[0]',
      { reason: 'ambiguous_path', candidates: [['buyer'], ['receiver']] },
    ],
    [
      { metrics: ['items'], dimensions: ['regions.name'] },
      'query.dimensions[0]',
      {
        reason: 'ambiguous_path',
        candidates: [
          ['lines_to_orders', 'buyer', 'customers_to_regions'],
          ['lines_to_orders', 'receiver', 'customers_to_regions'],
        ],
      },
    ],
    [{ dimensions: ['lines.product', 'returns.reason'] }, 'query.dimensions', { reason: 'ambiguous_path' }],
    [{ dimensions: ['orders.id', 'employees.name'] }, 'query.dimensions', { reason: 'ambiguous_path' }],
    [
      dimension('customers.name', { via: ['byer'] }),
      'query.dimensions[0].via[0]',
      { reason: 'unknown_relationship', suggestions: ['buyer'] },
    ],
    [
      { metrics: ['revenue'], dimensions: [{ field: 'customers.name', via: ['manager'] }] },
      'query.dimensions[0]',
      { reason: 'unreachable' },
    ],
    [dimension('orders.order_date', { granularity: 'hour' }), 'query.dimensions[0].granularity', {}],
    [dimension('orders.status', { granularity: 'day' }), 'query.dimensions[0].granularity', {}],
    [dimension('orders.order_date', { granularity: 'decade' }), 'query.dimensions[0]', {}],
    [{ metrics: ['revenue', 'Revenue'] }, 'query.metrics[1]', {}],
    [{ dimensions: ['orders.id', 'orders.id'] }, 'query.dimensions[0]', {}],
    [
      { metrics: ['revenue'], dimensions: [{ field: 'orders.id', as: 'revenue' }] },
      'query.dimensions[0]',
      {},
    ],
    [{ metrics: ['revenue'], order: [{ by: 'revnue' }] }, 'query.order[0].by', { suggestions: ['revenue'] }],
    [{ metrics: ['revenue'], order: [{ by: 'orders.id' }] }, 'query.order[0].by', {}],
    [{}, 'query', {}],
    [{ metrics: ['revenue'], offset: 1_000_001 }, 'query.offset', {}],
    [{ metrics: ['revenue'], timezone: 'Mars/Olympus' }, 'query.timezone', {}],
    [{ metrics: ['revenue'], as_of: 'yesterday' }, 'query.as_of', {}],
    [{ metrics: Array.from({ length: 21 }, () => 'revenue') }, 'query.metrics', {}],
    [filter({ field: 'orders.amount', operator: 'gt', values: ['many'] }), 'query.filters[0].values[0]', {}],
    [filter({ field: 'orders.amount', operator: 'gt', values: [true] }), 'query.filters[0].values[0]', {}],
    [filter({ field: 'orders.id', operator: 'equals', values: [1.5] }), 'query.filters[0].values[0]', {}],
    [filter({ field: 'orders.status', operator: 'equals', values: [1] }), 'query.filters[0].values[0]', {}],
    [
      filter({ field: 'orders.is_big', operator: 'equals', values: ['true'] }),
      'query.filters[0].values[0]',
      {},
    ],
    [
      filter({ field: 'orders.order_date', operator: 'gt', values: ['2024-02-30'] }),
      'query.filters[0].values[0]',
      {},
    ],
    [filter({ field: 'orders.amount', operator: 'contains', values: ['1'] }), 'query.filters[0]', {}],
    [
      filter({ field: 'orders.status', operator: 'equals', values: [null] }),
      'query.filters[0].values[0]',
      {},
    ],
    [filter({ field: 'orders.status', operator: 'equals', values: [] }), 'query.filters[0].values', {}],
    [filter({ field: 'orders.status', operator: 'between', values: ['a'] }), 'query.filters[0].values', {}],
    [filter({ field: 'orders.status', operator: 'is_null', values: ['a'] }), 'query.filters[0].values', {}],
    [filter({ field: 'orders.status', operator: 'in_period', values: ['today'] }), 'query.filters[0]', {}],
    [
      filter({ field: 'orders.order_date', operator: 'in_period', values: ['soon'] }),
      'query.filters[0].values[0]',
      {},
    ],
    [filter({ field: 'orders.status', operator: 'like', values: ['a'] }), 'query.filters[0].operator', {}],
    [filter({ operator: 'is_null' }), 'query.filters[0]', {}],
    [
      filter({
        or: [
          { field: 'orders.id', operator: 'is_null' },
          { metric: 'revenue', operator: 'gt', values: [1] },
        ],
      }),
      'query.filters[0]',
      {},
    ],
    [
      filter({
        not: { not: { not: { not: { not: { not: { field: 'orders.id', operator: 'is_null' } } } } } },
      }),
      'query.filters',
      {},
    ],
  ])('%j', (query, path, context) => {
    const { context: found, message } = refusalOf({ query: query as Record<string, unknown> });
    expect((found.details as { path: string }[])[0]!.path, message).toBe(path);
    expect(found).toMatchObject(context);
  });

  it('takes the most that is allowed', () => {
    const nested = { not: { not: { not: { not: { field: 'orders.id', operator: 'is_null' } } } } };
    const many = Array.from({ length: 49 }, () => ({ field: 'orders.id', operator: 'is_null' }));
    const query = { dimensions: ['orders.id'], filters: [nested, ...many] };
    expect(
      compile(
        salesModel,
        { engine: 'postgres', database: 'd', defaultSchema: 'public' },
        { query },
        { limit: 1 },
      ).sql,
    ).toBeTruthy();
    expect(refusalOf({ query: { ...query, filters: [...query.filters, many[0]] } }).message).toContain('50');
  });
});

describe('SQL over a model', () => {
  it('has datasets as tables and fields as columns', async () => {
    for (const engine of engines) {
      const sql = `WITH big AS (SELECT * FROM orders WHERE with_tax > 20)
        SELECT c.name, count(*) AS n, sum(b.amount) / count(*) AS mean
        FROM big b JOIN customers c ON c.id = b.id GROUP BY c.name ORDER BY n DESC, c.name`;
      const { compiled, rows } = await run(engine, { sql });
      expect(rows).toEqual([
        ['Ann', 1, 100],
        ['Bob', 1, 50.5],
        ['Cid', 1, 20],
      ]);
      expect(compiled.columns.map(({ name, datatype, role }) => [name, datatype, role])).toEqual([
        ['name', 'String', 'column'],
        ['n', 'Integer', 'column'],
        ['mean', 'Decimal', 'column'],
      ]);
      expect(compiled.sql).toMatch(/^WITH "orders" AS \(SELECT /);
      expect(compiled.query).toBeNull();
    }
  });

  it('knows no table and no column of the database', () => {
    expect(refusalOf({ sql: 'SELECT * FROM order_lines' }).context).toMatchObject({
      reason: 'unknown_table',
      name: 'order_lines',
      position: 15,
      suggestions: ['lines'],
    });
    expect(refusalOf({ sql: 'SELECT buyer_id FROM orders' }).context).toMatchObject({
      reason: 'unknown_column',
      position: 8,
    });
    expect(refusalOf({ sql: 'SELECT "key:buyer_id" FROM orders' }).context).toMatchObject({
      reason: 'unknown_column',
    });
    expect(refusalOf({ sql: 'SELECT pg_sleep(1)' }).context).toMatchObject({
      reason: 'function_not_allowed',
      name: 'pg_sleep',
    });
  });

  it('casts text of the database to text on PostgreSQL, so that an enum is text', async () => {
    const engine = engines.find((each) => each.engine === 'postgres')!;
    await engine.execute(
      "create type mood as enum ('sad', 'ok')",
      'create table moods (id uuid, mood mood)',
      "insert into moods values ('7d444840-9dc0-11d1-b245-5ffdce74fad2', 'sad'), ('7d444840-9dc0-11d1-b245-5ffdce74fad3', 'ok')",
    );
    const model: SemanticModel = {
      name: 'm',
      datasets: [
        {
          name: 'moods',
          source: 'moods',
          fields: ['id', 'mood'].map((name) => ({
            name,
            datatype: 'String',
            expression: { dialects: [{ dialect: 'POSTGRESQL', expression: name }] },
          })),
        },
      ],
    };
    expect(checkModel({ semantic_model: model, verified_queries: [] }, dialectOf(engine)).faults).toEqual([]);
    const { rows } = await run(
      engine,
      {
        sql: "SELECT mood FROM moods WHERE id = '7d444840-9dc0-11d1-b245-5ffdce74fad2' OR mood LIKE 'o%' ORDER BY mood",
      },
      model,
    );
    expect(rows).toEqual([['ok'], ['sad']]);
  });
});
