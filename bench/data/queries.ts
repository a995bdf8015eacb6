import pg from 'pg';
import { Temporal } from 'temporal-polyfill';
import type { Dialect } from '../../src/data-connections/index.ts';
import { compile } from '../../src/semantic-data-models/compiler/compile.ts';
import { foreignPostgres } from '../../tests/harness/foreign.ts';
import { processMicros } from '../../tests/harness/proc.ts';
import { body, type Figure, medianMs, ms, type Rig, waitFigure, waitsDuring } from './rig.ts';

const requests = 3000;

const tables = [
  'create table customers (id integer primary key, country text not null)',
  'create table orders (id integer primary key, customer_id integer not null references customers (id), ordered_on date not null, amount numeric(10, 2) not null)',
  "insert into customers select n, (array['DE', 'FR', 'SE', 'US'])[1 + n % 4] from generate_series(1, 100) n",
  "insert into orders select n, 1 + n % 100, date '2026-01-01' + n % 300, n % 90 + 0.25 from generate_series(1, 1000) n",
  'analyze',
];

const query = {
  metrics: ['total_amount', 'orders_count'],
  dimensions: ['customers.country', { field: 'orders.ordered_on', granularity: 'month' }],
  filters: [{ field: 'customers.country', operator: 'in', values: ['DE', 'FR'] }],
  order: [{ by: 'total_amount', direction: 'desc' }],
};

/** What a structured query costs the platform beyond its database: two tables, two metrics, two dimensions. */
export const measureQueries = async (rig: Rig): Promise<Figure[]> => {
  const { api, platform, postgres } = rig;
  const foreign = await foreignPostgres(postgres.url, ...tables);
  const connection = await body(
    api.post('/data-connections', { name: 'Shop', engine: 'postgres', configuration: foreign.settings }),
  );
  const scaffold = await body(
    api.post('/semantic-data-models/scaffold-from-tables', {
      data_connection_id: connection.id,
      tables: [{ table: 'orders' }, { table: 'customers' }],
      save: true,
    }),
  );
  const ask = () => body(api.post(`/semantic-data-models/${scaffold.id}/query`, { query }));
  const { sql, parameters } = await ask();

  const dialect: Dialect = {
    engine: 'postgres',
    database: foreign.settings.database,
    defaultSchema: 'public',
  };
  const options = { limit: 1_000, now: Temporal.Now.instant() };
  const compileMs = await medianMs(1_000, () =>
    compile(scaffold.semantic_model, dialect, { query }, options),
  );

  // The first thousand compile the code.
  for (let i = 0; i < 1_000; i++) await ask();
  const before = processMicros(platform.pid);
  const here = await medianMs(requests, ask);
  const cpuMs = ((processMicros(platform.pid) ?? Number.NaN) - (before ?? Number.NaN)) / requests / 1_000;

  const bare = new pg.Client({ connectionString: foreign.url });
  await bare.connect();
  const askBare = async () => {
    await bare.query('begin read only');
    await bare.query(sql, parameters);
    await bare.query('rollback');
  };
  const cpu = process.cpuUsage();
  const bareMs = await medianMs(requests, askBare);
  const { user, system } = process.cpuUsage(cpu);
  await bare.end();

  const waits = await waitsDuring(rig, () =>
    Promise.all(
      Array.from({ length: 4 }, async () => {
        for (let i = 0; i < 100; i++) await ask();
      }),
    ),
  );
  return [
    {
      what: 'a structured query, CPU of the platform',
      goal: '3 ms',
      here: ms(cpuMs),
      bare: `pg ${ms((user + system) / requests / 1_000)}`,
    },
    {
      what: 'a structured query, from request to response',
      goal: '',
      here: ms(here),
      bare: `pg ${ms(bareMs)}`,
    },
    { what: 'compile it', goal: '1 ms', here: ms(compileMs), bare: '' },
    waitFigure('400 queries, 4 at a time', waits),
  ];
};
