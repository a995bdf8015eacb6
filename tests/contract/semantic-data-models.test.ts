import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { foreignPostgres, runSql, shop } from '../harness/foreign.ts';
import { completion, startEndpoint, wireCall } from '../harness/llm-endpoint.ts';
import { hasMariaDb, mariaDbNote, sharedMariaDb } from '../harness/mariadb.ts';
import { dropDatabase } from '../harness/postgres.ts';
import { protocols, servers, startProvider } from '../harness/providers/index.ts';
import { until } from '../harness/wait.ts';
import {
  expectError,
  type Fixture,
  faults,
  newAgent,
  ok,
  onPostgres,
  setSettings,
  time,
  unknownId,
  uuid,
  withPlatform,
} from './fixture.ts';

const path = '/semantic-data-models';
let foreign: Awaited<ReturnType<typeof foreignPostgres>>;

beforeAll(async () => {
  foreign = await foreignPostgres(inject('postgresUrl'), ...shop, 'create table "A thing" (at timestamp)');
});
afterAll(() => dropDatabase(foreign.url));

const expression = (text: string, dialect = 'ANSI_SQL') => ({ dialects: [{ dialect, expression: text }] });

const shopModel = () => ({
  name: 'shop',
  description: 'What customers buy',
  owner: 'unknown keys are kept',
  datasets: [
    {
      name: 'orders',
      source: 'public.orders',
      primary_key: ['id'],
      fields: [
        { name: 'order_id', expression: expression('id'), datatype: 'Integer' },
        { name: 'amount', expression: expression('amount'), datatype: 'Decimal', label: 'Amount in euros' },
        {
          name: 'placed_on',
          expression: expression('placed_on'),
          datatype: 'Date',
          dimension: { is_time: true },
        },
      ],
    },
    {
      name: 'customers',
      source: 'customers',
      primary_key: ['id'],
      fields: [
        { name: 'customer_name', expression: expression('name'), datatype: 'String' },
        { name: 'email', expression: expression('email'), datatype: 'String' },
      ],
    },
  ],
  relationships: [
    {
      name: 'orders_to_customers',
      from: 'orders',
      to: 'customers',
      from_columns: ['customer_id'],
      to_columns: ['id'],
    },
  ],
  metrics: [
    {
      name: 'total_revenue',
      expression: expression('SUM(orders.amount)'),
      datatype: 'Decimal',
      ai_context: { synonyms: ['turnover'] },
    },
    { name: 'order_count', expression: expression('COUNT(orders.order_id)'), datatype: 'Integer' },
  ],
});

const verified = {
  name: 'Revenue of all time',
  question: 'How much did we earn?',
  query: { metrics: ['total_revenue'] },
  use_as_onboarding_question: true,
};

const connect = async (at: Fixture): Promise<string> => {
  const body = { name: 'The shop', engine: 'postgres', configuration: foreign.settings };
  return (await ok(at.api.post('/data-connections', body))).id;
};

const body = (data_connection_id: string, more: object = {}) => ({
  data_connection_id,
  semantic_model: shopModel(),
  verified_queries: [verified],
  ...more,
});

onPostgres((at) => {
  let connection: string;
  beforeAll(async () => {
    connection = await connect(at());
  });
  const create = (more: object = {}) => ok(at().api.post(path, body(connection, more)));

  test('a model is created, read, listed, replaced and deleted', async () => {
    const created = await at().api.post(path, body(connection, { description: 'x' }));
    expect(created.status, created.text).toBe(200);
    const { id, ...rest } = created.body;
    expect(id).toMatch(uuid);
    expect(rest).toEqual({
      name: 'shop',
      description: 'x',
      data_connection_id: connection,
      semantic_model: shopModel(),
      verified_queries: [
        { ...verified, verified_by: expect.any(String), verified_at: expect.stringMatching(time) },
      ],
      validation: {
        valid: true,
        checked_at: null,
        errors: [],
        warnings: [expect.objectContaining({ code: 'unknown_key', path: 'semantic_model.owner' })],
      },
      created_by: expect.any(String),
      created_at: expect.stringMatching(time),
      updated_at: expect.stringMatching(time),
    });
    expect(Object.keys(created.body.semantic_model)).toEqual(Object.keys(shopModel()));
    expect(created.headers.get('etag')).toBe('"1"');
    expect((await at().api.get(`${path}/${id}`)).body).toEqual(created.body);
    const v1 = at().test.as(
      (await ok(at().api.post('/api-keys', { name: 'v1', role: 'builder' }), 201)).value,
      '/api/v1',
    );
    expect((await v1.get(`${path}/${id}`)).status).toBe(200);

    const list = async (search: string) =>
      (await ok(at().api.get(`${path}?${search}`))).data.map((one: { id: string }) => one.id);
    expect(await list(`data_connection_id=${connection}&name=SHO`)).toEqual([id]);
    expect(await list(`data_connection_id=${unknownId}`)).toEqual([]);
    expect(await list('data_connection_id=nothing')).toEqual([]);
    expect(await list('name=hop')).toEqual([]);

    expectError(await at().api.delete(`/data-connections/${connection}`), 412, /Semantic data models/, {
      semantic_data_model_ids: [id],
    });

    const [before] = created.body.verified_queries;
    const changed = [
      { ...before, use_as_onboarding_question: false },
      { ...verified, name: 'Another', question: 'Other words?' },
    ];
    const replaced = await at().api.put(
      `${path}/${id}`,
      { ...created.body, name: 'Renamed', description: undefined, verified_queries: changed },
      { headers: { 'if-match': '"1"' } },
    );
    expect(replaced.body).toMatchObject({ name: 'Renamed', description: null });
    expect(replaced.headers.get('etag')).toBe('"2"');
    const [first, second] = replaced.body.verified_queries;
    expect(first.verified_at).toBe(before.verified_at);
    expect(second.verified_at >= before.verified_at).toBe(true);
    const stale = { headers: { 'if-match': '"1"' } };
    expectError(await at().api.put(`${path}/${id}`, body(connection), stale), 412);
    expectError(await at().api.delete(`${path}/${id}`, stale), 412);
    expect((await at().api.delete(`${path}/${id}`)).status).toBe(204);
    expectError(await at().api.delete(`${path}/${id}`), 404);
  });

  test('an agent keeps its model from being deleted', async () => {
    const { id } = await create();
    const agent = await newAgent(at(), { semantic_data_model_ids: [id] });
    expectError(await at().api.delete(`${path}/${id}`), 412, /Agents use/, { agent_ids: [agent.id] });
    const unknown = await at().api.patch(`/agents/${agent.id}`, { semantic_data_model_ids: [id, unknownId] });
    expectError(unknown, 422);
    expect(faults(unknown)).toEqual(['semantic_data_model_ids[1]']);
    await ok(at().api.patch(`/agents/${agent.id}`, { semantic_data_model_ids: [] }));
    await ok(at().api.delete(`${path}/${id}`), 204);
  });

  test.each([
    [400, { data_connection_id: undefined }, ['data_connection_id']],
    [400, { semantic_model: undefined }, ['semantic_model']],
    [422, { data_connection_id: unknownId }, ['data_connection_id']],
    [422, { semantic_model: 'x' }, ['semantic_model']],
    [400, { verified_queries: [{ name: 'x', question: 'y' }] }, ['verified_queries[0].sql']],
    [
      422,
      { verified_queries: [verified, { ...verified, name: verified.name.toUpperCase() }] },
      ['verified_queries[1].name'],
    ],
    [422, { verified_queries: [{ ...verified, sql: 'select 1' }] }, ['verified_queries[0].query']],
  ])('%i for %j', async (status, more, paths) => {
    const refused = await at().api.post(path, body(connection, more));
    expectError(refused, status);
    expect(faults(refused)).toEqual(paths);
  });

  test('all faults of a document are named at once, in create and validate alike', async () => {
    const faultsOf = async (more: object) => {
      const refused = await at().api.post(path, body(connection, more));
      expectError(refused, 422);
      return faults(refused);
    };
    const to = (name: string) => ({
      name,
      from: 'orders',
      to: name,
      from_columns: ['a'],
      to_columns: ['id'],
    });
    const joins = { ...shopModel(), relationships: [to('nothing'), to('nobody')] };
    expect(await faultsOf({ semantic_model: joins })).toEqual([
      'semantic_model.relationships[0].to',
      'semantic_model.relationships[1].to',
    ]);
    const wrong = (name: string) => ({ name, expression: expression('SUM(orders.nothing)') });
    const metrics = await faultsOf({ semantic_model: { ...shopModel(), metrics: [wrong('m'), wrong('n')] } });
    expect(metrics.map((fault) => fault.replace(/\.expression.*/, ''))).toEqual([
      'semantic_model.metrics[0]',
      'semantic_model.metrics[1]',
      'verified_queries[0].query.metrics[0]',
    ]);
    const query = { name: 'q', question: 'x', sql: 'select * from nothing' };
    const [fault, ...others] = await faultsOf({ verified_queries: [query] });
    expect([fault, others]).toEqual([expect.stringMatching(/^verified_queries\[0\]/), []]);

    const sent = {
      semantic_model: {
        ...shopModel(),
        metrics: [wrong('m'), { name: 'n m', expression: expression('1', 'X') }],
      },
      verified_queries: [query, { ...query, name: 'Q' }],
    };
    const { valid, live, issues } = await ok(at().api.post(`${path}/validate`, body(connection, sent)));
    expect([valid, live]).toEqual([false, false]);
    const errors = issues.filter((each: { severity: string }) => each.severity === 'error');
    expect(errors.map((each: { path: string; code: string }) => [each.path, each.code])).toEqual([
      ['semantic_model.metrics[1].name', 'static_rule'],
      ['semantic_model.metrics[0].expression', 'unknown_field'],
      ['semantic_model.metrics[1].expression', 'dialect_missing'],
      ['verified_queries[1].name', 'duplicate_name'],
      ['verified_queries[0].sql', 'unknown_table'],
      ['verified_queries[1].sql', 'unknown_table'],
    ]);
    expect(await faultsOf(sent)).toEqual(errors.map((each: { path: string }) => each.path));
    expect(await faultsOf({ ...sent, data_connection_id: unknownId })).toEqual([
      'data_connection_id',
      'semantic_model.metrics[1].name',
    ]);
  });

  test('the number of models is limited', async () => {
    const { data } = await ok(at().api.get(path));
    await setSettings(at(), { MAX_SEMANTIC_DATA_MODELS: data.length });
    expectError(await at().api.post(path, body(connection)), 400, /maximum/, {
      setting: 'MAX_SEMANTIC_DATA_MODELS',
    });
    await setSettings(at(), { MAX_SEMANTIC_DATA_MODELS: 500 });
  });

  test('a model goes through YAML and JSON and is the same', async () => {
    const { id } = await create();
    for (const format of ['yaml', 'json']) {
      const exported = await at().api.get(`${path}/${id}/export?format=${format}`);
      expect(exported.headers.get('content-type')).toBe(`application/${format}; charset=utf-8`);
      const imported = await ok(
        at().api.post(`${path}/import`, {
          data_connection_id: connection,
          document: exported.text,
          name: 'Copy',
        }),
      );
      expect(imported).toMatchObject({
        name: 'Copy',
        semantic_model: shopModel(),
        verified_queries: [verified],
      });
      await ok(at().api.delete(`${path}/${imported.id}`), 204);
    }
    expect((await at().api.get(`${path}/${id}/export`)).text).toMatch(/^version: 0\.2\.0\.dev0\n/);
    expectError(await at().api.get(`${path}/${id}/export?format=xml`), 422);
    const two = JSON.stringify({ version: '0.2', semantic_model: [shopModel(), shopModel()] });
    const refused = await at().api.post(`${path}/import`, { data_connection_id: connection, document: two });
    expectError(refused, 422, /has 2 models/);
    expect(faults(refused)).toEqual(['document']);
    await ok(at().api.delete(`${path}/${id}`), 204);
  });

  test('a scaffold can be created as it is, and is the same each time', async () => {
    const tables = [{ table: 'orders' }, { schema: 'public', table: 'customers' }, { table: 'A thing' }];
    const scaffold = (more: object = {}) =>
      at().api.post(`${path}/scaffold-from-tables`, { data_connection_id: connection, tables, ...more });
    const made = await ok(scaffold());
    expect(made).toMatchObject({
      data_connection_id: connection,
      verified_queries: [],
      warnings: [{ code: 'no_primary_key' }],
    });
    expect(await ok(scaffold({ describe: true, sample_values: true }))).toEqual(made);
    const { warnings: _, ...rest } = made;
    const created = await ok(at().api.post(path, rest));
    const saved = await ok(scaffold({ save: true, name: 'Saved' }));
    expect(saved).toMatchObject({ name: 'Saved', validation: { valid: true } });
    expect(await ok(at().api.post(`${path}/${created.id}/validate`, { deep: true }))).toEqual({
      valid: true,
      live: true,
      issues: [],
    });
    for (const { id } of [created, saved]) await ok(at().api.delete(`${path}/${id}`), 204);

    const unknown = await scaffold({ tables: [...tables, { table: 'nothing' }, { table: 'orders' }] });
    expectError(unknown, 422);
    expect(faults(unknown)).toEqual(['tables[3].table', 'tables[4].table']);
    expectError(await scaffold({ tables: [] }), 422);
    expectError(await scaffold({ data_connection_id: unknownId }), 422);
  });

  test('a structured query, SQL, a verified query and a question give the same number', async () => {
    const { id } = await create();
    const ask = (asked: object) => at().api.post(`${path}/${id}/query`, asked);
    const answer = await ok(
      ask({
        query: {
          metrics: ['total_revenue'],
          dimensions: ['customers.customer_name'],
          order: [{ by: 'customer_name' }],
        },
      }),
    );
    expect(answer).toEqual({
      source: 'query',
      verified_query: null,
      query: expect.objectContaining({ metrics: ['total_revenue'] }),
      sql: expect.stringMatching(/SELECT/i),
      parameters: expect.any(Array),
      columns: [
        { name: 'customer_name', label: null, description: null, datatype: 'String', role: 'dimension' },
        { name: 'total_revenue', label: null, description: null, datatype: 'Decimal', role: 'metric' },
      ],
      rows: [
        ['Ada', 12.6],
        ['Grace', null],
      ],
      row_count: 2,
      truncated: false,
      warnings: [],
      explanation: null,
      usage: null,
      duration_ms: expect.any(Number),
    });
    const total = [[12.6]];
    expect(await ok(ask({ sql: 'select sum(amount) as total from orders' }))).toMatchObject({
      source: 'sql',
      query: null,
      rows: total,
      columns: [{ name: 'total', role: 'column' }],
    });
    expect(await ok(ask({ verified_query: verified.name.toLowerCase() }))).toMatchObject({
      source: 'verified_query',
      rows: total,
      verified_query: { name: verified.name, question: verified.question, verified_by: expect.any(String) },
    });
    expect(await ok(ask({ question: ' how MUCH did we earn ' }))).toMatchObject({
      source: 'verified_query',
      rows: total,
      usage: null,
    });
    expect(await ok(ask({ question: 'What is our turnover by customer name?' }))).toMatchObject({
      source: 'generated',
      rows: { length: 2 },
      usage: { input_tokens: expect.any(Number) },
    });
    expect(await ok(ask({ question: 'SQL: select sum(amount) from orders' }))).toMatchObject({
      source: 'generated',
      rows: total,
    });
    expect(await ok(ask({ question: 'turnover', dry_run: true }))).toMatchObject({ rows: [], row_count: 0 });
    const limited = await ok(ask({ sql: 'select order_id from orders limit 100', limit: 2 }));
    expect(limited).toMatchObject({ row_count: 2, truncated: true });
    await ok(at().api.delete(`${path}/${id}`), 204);
  });

  test('what cannot be answered is refused, with a reason', async () => {
    const { id } = await create();
    const ask = (asked: object) => at().api.post(`${path}/${id}/query`, asked);
    expectError(await ask({}), 400);
    expectError(await ask({ sql: 'select 1', question: 'x' }), 422, /cannot stand next to/);
    const unknown = await ask({ verified_query: 'Revenue of all times' });
    expectError(unknown, 422, /is not a verified query/, { suggestions: [verified.name] });
    expectError(await ask({ question: 'Why?' }), 422, /names no metric/, {
      reason: 'unanswerable',
      explanation: expect.any(String),
      suggestions: [verified.question],
    });
    expectError(await ask({ question: 'turnover', agent_id: unknownId }), 404);
    expectError(await ask({ question: 'turnover', llm_id: unknownId }), 422, /LLM/, { llm_id: unknownId });
    expectError(await ask({ sql: 'select 1', limit: 10_001 }), 422, /DATA_QUERY_MAX_ROWS/);
    for (const [sql, reason] of [
      ['select * from customers; drop table customers', 'multiple_statements'],
      ['delete from orders', 'not_a_select'],
      ['select * from public.customers', 'unknown_table'],
      ['select * from pg_authid', 'unknown_table'],
      ['select password from customers', 'unknown_column'],
      [`select pg_read_file('/etc/passwd')`, 'function_not_allowed'],
      [`select * from pg_ls_dir('/')`, 'function_not_allowed'],
      ["select /* */ set_config('a', 'b', false)", 'function_not_allowed'],
    ] as const) {
      const refused = await ask({ sql });
      expect([sql, refused.status, refused.body.error.reason]).toEqual([sql, 422, reason]);
      const asked = await ask({ question: `SQL: ${sql}` });
      expect([sql, asked.status, asked.body.error.reason]).toEqual([sql, 422, reason]);
    }
    await ok(at().api.delete(`${path}/${id}`), 204);
  });

  test('what the database has become is an issue', async () => {
    const own = await foreignPostgres(inject('postgresUrl'), ...shop);
    const { id: ownConnection } = await ok(
      at().api.post('/data-connections', { name: 'x', engine: 'postgres', configuration: own.settings }),
    );
    const { id } = await ok(at().api.post(path, body(ownConnection)));
    const codes = async (given?: object) => {
      const { valid, issues } = await ok(at().api.post(`${path}/${id}/validate`, given));
      return [valid, issues.map((one: { code: string }) => one.code).sort()];
    };
    expect(await codes()).toEqual([true, ['unknown_key']]);
    await runSql(
      own.url,
      'alter table orders rename column amount to amounts',
      'alter table orders alter column placed_on type timestamp',
      'alter table orders drop constraint orders_pkey',
      'insert into orders values (1, 1, 5, null)',
    );
    expect(await codes()).toEqual([false, ['new_column', 'type_changed', 'unknown_column', 'unknown_key']]);
    const { body: checked } = await at().api.post(`${path}/${id}/validate`, { deep: true });
    expect(checked.issues.map((one: { code: string }) => one.code)).toEqual(
      expect.arrayContaining(['key_not_unique', 'verified_query_failed']),
    );
    expect(checked.issues.find((one: { code: string }) => one.code === 'unknown_column')).toMatchObject({
      path: expect.stringMatching(/^semantic_model\.datasets\[0\]\.fields\[1\]/),
      suggestions: ['amounts'],
    });
    const stored = await at().api.get(`${path}/${id}`);
    expect(stored.body.validation).toMatchObject({ valid: false, checked_at: expect.stringMatching(time) });
    expect(stored.headers.get('etag')).toBe('"1"');
    await runSql(own.url, 'alter table orders rename to elsewhere');
    expect(await codes()).toEqual([false, ['unknown_key', 'unknown_table']]);
    const posted = await ok(at().api.post(`${path}/validate`, { ...body(ownConnection), deep: true }));
    expect(posted).toMatchObject({ valid: false, live: true });
    const broken = { ...body(ownConnection), semantic_model: { ...shopModel(), datasets: [] } };
    expect(await ok(at().api.post(`${path}/validate`, broken))).toMatchObject({ valid: false, live: false });

    await dropDatabase(own.url);
    const away = { data_connection_id: ownConnection, reason: 'authentication' };
    expectError(await at().api.post(`${path}/${id}/validate`), 412, /./, away);
    expectError(
      await at().api.post(`${path}/${id}/query`, { query: { metrics: ['total_revenue'] } }),
      412,
      /./,
      away,
    );
    await ok(at().api.delete(`${path}/${id}`), 204);
    await ok(at().api.delete(`/data-connections/${ownConnection}`), 204);
  });
});

describe('on the other engines', () => {
  const folder = mkdtempSync(join(tmpdir(), 'ap-models-'));
  afterAll(() => rm(folder, { recursive: true, force: true }));

  withPlatform(
    'postgres',
    (at) => {
      /** What PostgreSQL answers as well: rows, text that is searched, months, SQL with functions. */
      const checkShop = async (connection: object): Promise<void> => {
        const { id: data_connection_id, engine } = await ok(
          at().api.post('/data-connections', { name: 'x', ...connection }),
        );
        const { id } = await ok(
          at().api.post(path, body(data_connection_id, { semantic_model: sourcesOf(engine) })),
        );
        const ask = async (asked: object) => (await ok(at().api.post(`${path}/${id}/query`, asked))).rows;
        const months = { field: 'orders.placed_on', granularity: 'month' };
        expect(
          await ask({
            query: {
              metrics: ['total_revenue', 'order_count'],
              dimensions: [months],
              filters: [{ field: 'customers.customer_name', operator: 'contains', values: ['da'] }],
              order: [{ by: 'placed_on_month' }],
            },
          }),
        ).toEqual([
          ['2026-01-01', 12.5, 1],
          ['2026-02-01', 0.1, 1],
        ]);
        const sql = `select upper(customer_name) as who, length(customer_name) > 2 as long
          from customers where customer_name ilike 'ADA'`;
        expect(await ask({ sql })).toEqual([['ADA', true]]);
        const { valid, issues } = await ok(at().api.post(`${path}/${id}/validate`, { deep: true }));
        expect([
          engine,
          valid,
          issues.filter((one: { severity: string }) => one.severity === 'error'),
        ]).toEqual([engine, true, []]);
        const hidden = await at().api.post(`${path}/${id}/query`, { sql: 'select * from secrets' });
        expect([hidden.status, hidden.body.error.reason]).toEqual([422, 'unknown_table']);
      };
      /** Only PostgreSQL has a schema `public`. */
      const sourcesOf = (engine: string) => {
        const model = shopModel();
        if (engine !== 'postgres') model.datasets[0]!.source = 'orders';
        return model;
      };

      test('a SQLite file answers', async () => {
        const database = new DatabaseSync(join(folder, 'shop.db'));
        for (const statement of [...shop, 'create table secrets (word text)']) database.exec(statement);
        database.close();
        await checkShop({ engine: 'sqlite', configuration: { path: 'shop.db' } });
      });

      test.skipIf(!hasMariaDb)(`MariaDB answers${mariaDbNote}`, async () => {
        const { host, port, user, createDatabase, connect: open } = await sharedMariaDb();
        const database = await createDatabase();
        const connection = await open({ database });
        for (const statement of shop) await connection.query(statement);
        connection.destroy();
        const configuration = { host, port, username: user, database, tls: { mode: 'disable' } };
        await checkShop({ engine: 'mysql', configuration });
      });

      test('PostgreSQL answers', () => checkShop({ engine: 'postgres', configuration: foreign.settings }));
    },
    { SQLITE_DIR: folder },
  );
});

describe('with a language model', () => {
  withPlatform('postgres', (at) => {
    /** A model that answers each question with the next of `answers`, and what it was asked. */
    const withLlm = async (
      answers: readonly unknown[],
      use: (
        ask: (asked: object) => ReturnType<Fixture['api']['post']>,
        prompts: () => string[],
        id: string,
      ) => Promise<void>,
      more: object = {},
    ): Promise<void> => {
      await using endpoint = await startEndpoint((_request, n) => ({
        body: completion({ tool_calls: [wireCall(`c${n}`, 'answer', answers[n] ?? {})] }, 'tool_calls'),
      }));
      const llm = await ok(
        at().api.post('/llm-configurations', {
          name: 'LLM',
          kind: 'openai_compatible',
          base_url: endpoint.url,
          model: 'm',
          streaming: false,
        }),
      );
      const { id } = await ok(at().api.post(path, body(await connect(at()), more)));
      const ask = (asked: object) => at().api.post(`${path}/${id}/query`, { llm_id: llm.id, ...asked });
      await use(ask, () => endpoint.requests.map((request) => JSON.stringify(request.body)), llm.id);
    };

    test('its query is checked, and its faults are given back to it', async () => {
      const answers = [
        { query: { metrics: ['total_revenu'] } },
        { sql: 'select * from public.customers' },
        { query: { metrics: ['total_revenue'] }, explanation: 'All orders.' },
      ];
      await withLlm(answers, async (ask, prompts) => {
        expect(await ok(ask({ question: 'What did we take in?' }))).toMatchObject({
          source: 'generated',
          rows: [[12.6]],
          explanation: 'All orders.',
          usage: { input_tokens: 63, output_tokens: 21 },
        });
        expect(prompts()[1]).toMatch(/That cannot be used: .*total_revenue/);
        expect(prompts()[2]).toMatch(/That cannot be used: /);
        // It is told nothing of the database, and no row.
        expect(prompts().join()).not.toMatch(/public\.orders|customer_id|placed_on::|Ada/);
      });
    });

    test('a third fault, or a question that it cannot answer, is unanswerable', async () => {
      await withLlm([{ sql: 'x' }, {}, { sql: 'y', query: {} }], async (ask, prompts) => {
        expectError(await ask({ question: 'What?' }), 422, /found no query/, {
          reason: 'unanswerable',
          explanation: expect.any(String),
          suggestions: expect.any(Array),
        });
        expect(prompts()).toHaveLength(3);
      });
      await withLlm([{ unanswerable: 'There is no weather.' }], async (ask, prompts) => {
        expectError(await ask({ question: 'Will it rain?' }), 422, /There is no weather/, {
          reason: 'unanswerable',
          explanation: 'There is no weather.',
          suggestions: expect.any(Array),
        });
        expect(prompts()).toHaveLength(1);
      });
    });

    test('it may name a verified query, and an agent lends its model', async () => {
      await withLlm([{ verified_query: verified.name }], async (ask, _prompts, llmId) => {
        const agent = await newAgent(at(), { llm_id: llmId });
        const asked = { question: 'Income so far?', llm_id: undefined, agent_id: agent.id };
        expect(await ok(ask(asked))).toMatchObject({
          source: 'verified_query',
          verified_query: { name: verified.name },
          rows: [[12.6]],
        });
      });
    });

    test.each(['openai, responses', 'openai, chat completions', 'anthropic', 'google', 'bedrock'])(
      'of any kind gets a tool that it takes (%s)',
      async (name) => {
        const protocol = protocols[name]!;
        const answer = { query: { metrics: ['total_revenue'] } };
        await using provider = await startProvider(protocol, () => ({
          calls: [{ id: 'c1', name: 'answer', args: answer }],
        }));
        const { kind, model, settings } = protocol;
        const llm = { name, kind, model, base_url: provider.url, ...settings };
        const { id: llm_id } = await ok(at().api.post('/llm-configurations', llm));
        const { id } = await ok(at().api.post(path, body(await connect(at()))));
        const asked = at().api.post(`${path}/${id}/query`, { question: 'Takings?', llm_id });
        expect(await ok(asked)).toMatchObject({ rows: [[12.6]] });
      },
    );

    test('without tools replies in its text', async () => {
      const protocol = { ...protocols.openai_compatible!, refuses: servers.ollama };
      await using provider = await startProvider(protocol, () => ({
        text: '<think>{"sql": "no"}</think>```json\n{"query": {"metrics": ["total_revenue"]}}\n```',
      }));
      const { kind, model, settings } = protocol;
      const llm = { name: 'No tools', kind, model, base_url: provider.url, ...settings };
      const { id: llm_id } = await ok(at().api.post('/llm-configurations', llm));
      const { id } = await ok(at().api.post(path, body(await connect(at()))));
      const asked = at().api.post(`${path}/${id}/query`, { question: 'Takings?', llm_id });
      expect(await ok(asked)).toMatchObject({ rows: [[12.6]] });
    });

    test('that would refuse the same question again is a 422 with its words', async () => {
      const protocol = protocols['openai, responses']!;
      await using provider = await startProvider(protocol, (_request, n) =>
        n === 0
          ? { status: 400, message: 'The model gpt-5 is gone.' }
          : { status: 401, message: 'Wrong key.' },
      );
      const { kind, model, settings } = protocol;
      const llm = { name: 'Refuses', kind, model, base_url: provider.url, ...settings };
      const { id: llm_id } = await ok(at().api.post('/llm-configurations', llm));
      const { id } = await ok(at().api.post(path, body(await connect(at()))));
      const ask = () => at().api.post(`${path}/${id}/query`, { question: 'Takings?', llm_id });
      const refused = await ask();
      expectError(refused, 422, /returned 400: The model gpt-5 is gone\./);
      expect(refused.headers.get('retry-after')).toBeNull();
      expectError(await ask(), 422, /returned 401: Wrong key\./);
    });

    test('one that is away is a 503', async () => {
      const llm = await ok(
        at().api.post('/llm-configurations', {
          name: 'Away',
          kind: 'openai_compatible',
          base_url: 'http://127.0.0.1:9/v1',
          model: 'm',
        }),
      );
      const { id } = await ok(at().api.post(path, body(await connect(at()))));
      const away = await at().api.post(`${path}/${id}/query`, { question: 'Anything else?', llm_id: llm.id });
      expect([away.status, away.headers.get('retry-after')]).toEqual([503, '5']);
    });

    test('descriptions and synonyms of a scaffold are its own; nothing else is', async () => {
      const described = {
        datasets: [
          {
            name: 'orders',
            description: 'What was bought',
            synonyms: ['purchases'],
            source: 'pg_authid',
            fields: [{ name: 'amount', synonyms: ['price'], expression: 'pg_sleep(9)' }, { name: 'unknown' }],
          },
        ],
      };
      await withLlm([described, described], async (_ask, prompts, llmId) => {
        const { llm_id: before } = await ok(at().api.get('/llm-configurations/defaults'));
        await ok(at().api.put('/llm-configurations/defaults', { llm_id: llmId }));
        const tables = { data_connection_id: await connect(at()), tables: [{ table: 'orders' }] };
        const scaffold = (more: object) =>
          ok(at().api.post(`${path}/scaffold-from-tables`, { ...tables, ...more }));
        const plain = await scaffold({});
        const rich = await scaffold({ describe: true });
        const [dataset] = rich.semantic_model.datasets;
        expect(dataset).toMatchObject({
          description: 'What was bought',
          ai_context: { synonyms: ['purchases'] },
        });
        expect(dataset.source).toBe(plain.semantic_model.datasets[0].source);
        expect(dataset.fields.map((field: object) => ({ ...field, ai_context: undefined }))).toEqual(
          plain.semantic_model.datasets[0].fields,
        );
        expect(prompts()[0]).not.toMatch(/12\.5/);
        await scaffold({ describe: true, sample_values: true });
        expect(prompts()[1]).toMatch(/12\.5/);
        await ok(at().api.put('/llm-configurations/defaults', { llm_id: before }));
      });
    });

    test('an agent asks only the models that it was given', async () => {
      const connection = await connect(at());
      const { id } = await ok(at().api.post(path, body(connection, { name: 'Given' })));
      const other = await ok(at().api.post(path, body(connection, { name: 'Secret' })));
      const agent = await newAgent(at(), { semantic_data_model_ids: [id] });
      const call = (tool: string, args: object) => ({ tool, args });
      const steps = [
        call('list_data_models', {}),
        call('describe_data_model', { model: 'given' }),
        call('describe_data_model', { model: id, dataset: 'order' }),
        call('query_data_model', { model: 'Given', query: { metrics: ['total_revenue'] } }),
        call('query_data_model', { model: 'Given', sql: 'select customer_name from customers order by 1' }),
        call('query_data_model', { model: 'Given', sql: 'select * from pg_authid' }),
        call('query_data_model', { model: 'Given', sql: 'select 1', verified_query: 'x' }),
        call('query_data_model', { model: other.id, verified_query: verified.name }),
      ];
      const item = await ok(
        at().api.post('/work-items', { agent_id: agent.id, payload: { mock: { steps } } }),
      );
      await until(
        async () => (await ok(at().api.get(`/work-items/${item.id}`))).status === 'COMPLETED',
        15_000,
      );
      const { data } = await ok(at().api.get(`/work-items/${item.id}/messages`));
      const results: string[] = data
        .toReversed()
        .filter((message: { role: string }) => message.role === 'tool')
        .map((message: { text?: string; content?: string }) => JSON.stringify(message));
      const [list, described, unknown, total, names, refused, both, secret] = results;
      expect(list).toMatch(/Given/);
      expect(results.slice(0, 7).join()).not.toMatch(/Secret|public\.orders/);
      expect(described).toMatch(/metric total_revenue/);
      expect(unknown).toMatch(/no dataset.*orders/);
      expect(total).toMatch(/1 rows\..*\[12\.6\]/);
      expect(names).toMatch(/are data\..*Ada.*Grace/);
      expect(refused).toMatch(/pg_authid/);
      expect(both).toMatch(/exactly one/);
      expect(secret).toMatch(/There is no data model/);
    });
  });
});
