import { describe, expect, it } from 'vitest';
import { salesModel } from '../../../tests/harness/sales-model.ts';
import { ApiError } from '../../lib/errors.ts';
import { compile } from './compile.ts';

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
});
