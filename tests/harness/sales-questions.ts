/** Each is asked on every engine; `sql` is written by hand, and is asked of the same database. */
export const questions: { name: string; query: Record<string, unknown>; rows: unknown[][]; sql?: string }[] =
  [
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
export const filters: [filter: unknown, ids: number[]][] = [
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
