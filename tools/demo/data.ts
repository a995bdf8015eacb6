import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { makeShop } from '../../examples/shop.ts';
import { readInvoice } from './invoice.ts';
import { type Body, type DemoContext, must, type Part } from './part.ts';
import { print } from './terminal.ts';

/** The script of the mock model: it asks the data model, then it replies. */
const script = {
  steps: [
    {
      tool: 'query_data_model',
      args: {
        model: 'Shop',
        query: {
          metrics: ['revenue'],
          dimensions: [{ field: 'orders.ordered_on', granularity: 'month' }],
          order: [{ by: 'orders.ordered_on' }],
        },
      },
    },
    { text: 'The revenue of each month is in the result above.' },
  ],
};

/** The question that a person asks: the same number for everyone, because the model says what revenue is. */
const question = 'What is the revenue per month?';

const showRows = ({ columns, rows }: Body): void => {
  const widths = columns.map(({ name }: Body) => Math.max(12, name.length));
  const line = (cells: unknown[]) =>
    console.log(`${' '.repeat(25)}${cells.map((cell, i) => String(cell).padStart(widths[i])).join('  ')}`);
  line(columns.map(({ name }: Body) => name));
  for (const row of rows) line(row);
};

/**
 * Company data: a SQLite shop becomes a data connection, its tables a semantic data model, and an agent that has the model
 * answers "revenue per month" every minute. A person asks the same in words, and sees the SQL that was printed. An invoice
 * is read, with the place of each value.
 */
export const startData = async (context: DemoContext, dataDir: string): Promise<Part> => {
  const { api } = context;
  const databases = join(dataDir, 'databases');
  mkdirSync(databases, { recursive: true });
  makeShop(join(databases, 'shop.db'));
  const connection = await must(
    api.post('/data-connections', { name: 'Shop', engine: 'sqlite', configuration: { path: 'shop.db' } }),
  );
  print('data', `the data connection "${connection.name}" reads ${connection.configuration.path}`);
  const { warnings: _, ...scaffold } = await must(
    api.post('/semantic-data-models/scaffold-from-tables', {
      data_connection_id: connection.id,
      tables: [{ table: 'customers' }, { table: 'orders' }],
      name: 'Shop',
    }),
  );
  scaffold.semantic_model.metrics.push({
    name: 'revenue',
    description: 'What customers ordered, in euros.',
    expression: { dialects: [{ dialect: 'ANSI_SQL', expression: 'SUM(orders.amount)' }] },
    datatype: 'Decimal',
  });
  const model = await must(api.post('/semantic-data-models', scaffold));
  const { datasets, metrics } = model.semantic_model;
  print('data', `the model "${model.name}" has ${datasets.length} datasets and ${metrics.length} metrics`);
  const agent = await must(
    api.post('/agents', {
      name: 'Analyst',
      mode: 'worker',
      instructions: 'Report the revenue of each month.',
      semantic_data_model_ids: [model.id],
    }),
  );
  await must(
    api.post(`/agents/${agent.id}/schedules`, {
      cron_expression: '* * * * *',
      work_item_name: 'Revenue per month',
      message: question,
      payload: { mock: script },
    }),
  );
  const answer = await must(api.post(`/semantic-data-models/${model.id}/query`, { question }));
  print('question', question);
  print('sql', answer.sql);
  showRows(answer);
  await readInvoice(context);

  const shown = new Set<string>();
  return {
    show: async () => {
      const { records } = await must(api.get(`/work-items?agent_id=${agent.id}&status=COMPLETED`));
      for (const { id } of records.toReversed()) {
        if (shown.has(id)) continue;
        shown.add(id);
        const { data } = await must(api.get(`/work-items/${id}/messages`));
        const asked = data.some((message: Body) => JSON.stringify(message).includes('query_data_model'));
        print('Analyst', `Work Item ${id} asked the data model${asked ? ' and has its rows' : ''}`);
      }
      return shown.size > 0;
    },
  };
};
