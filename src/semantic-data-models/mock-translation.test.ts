import { expect, test } from 'vitest';
import { translateByRules } from './mock-translation.ts';
import type { SemanticModel } from './ossie.ts';

const expression = (text: string) => ({ dialects: [{ dialect: 'ANSI_SQL', expression: text }] });
const field = (name: string, more: object = {}) => ({ name, expression: expression(name), ...more });

const model: SemanticModel = {
  name: 'shop',
  datasets: [
    {
      name: 'orders',
      source: 'orders',
      fields: [
        field('amount'),
        field('order_date', { datatype: 'Date' }),
        field('status', { label: 'State' }),
      ],
    },
    { name: 'customers', source: 'customers', fields: [field('name'), field('status')] },
    {
      name: 'countries',
      source: 'countries',
      fields: [field('country', { ai_context: { synonyms: ['Land'] } })],
    },
    { name: 'visits', source: 'visits', fields: [field('page')] },
  ],
  relationships: [
    { name: 'a', from: 'orders', to: 'customers', from_columns: ['c'], to_columns: ['id'] },
    { name: 'b', from: 'customers', to: 'countries', from_columns: ['c'], to_columns: ['id'] },
  ],
  metrics: [
    {
      name: 'total_revenue',
      expression: expression('SUM(orders.amount)'),
      ai_context: { synonyms: ['turnover'] },
    },
    { name: 'order_count', expression: expression('COUNT(orders.id)') },
    { name: 'count', expression: expression('COUNT(visits.id)') },
  ],
};

test.each([
  ['What is the total revenue?', ['total_revenue'], []],
  ['TURNOVER by country!', ['total_revenue'], ['countries.country']],
  ['turnover per land and state', ['total_revenue'], ['countries.country', 'orders.status']],
  ['turnover by status', ['total_revenue'], ['orders.status']],
  [
    'turnover and order count by month',
    ['total_revenue', 'order_count'],
    [{ field: 'orders.order_date', granularity: 'month' }],
  ],
  ['order count by page', ['order_count'], []],
  ['count by page', ['count'], ['visits.page']],
])('%s', (question, metrics, dimensions) => {
  expect(translateByRules(model, question)).toEqual({ query: { metrics, dimensions } });
});

test('SQL is taken as it stands, and a question without a metric as nothing', () => {
  expect(translateByRules(model, ' SQL: select 1\nfrom orders')).toEqual({ sql: 'select 1\nfrom orders' });
  for (const question of ['How are you?', 'discounts by country', 'totalrevenue']) {
    expect(translateByRules(model, question), question).toBeNull();
  }
});
