import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { foreignPostgres } from '../harness/foreign.ts';
import { dropDatabase } from '../harness/postgres.ts';
import { until } from '../harness/wait.ts';
import { newConversation, newTalker, scripted } from './conversations-fixture.ts';
import {
  expectError,
  type Fixture,
  faults,
  newAgent,
  newKey,
  ok,
  onPostgres,
  setSettings,
  unknownId,
  withPlatform,
} from './fixture.ts';

let foreign: Awaited<ReturnType<typeof foreignPostgres>>;

const tables = [
  'create table sales (id integer primary key, amount numeric(10, 2), sold_on date, note text)',
  `insert into sales select i, i / 4.0, date '2026-01-01' + i % 30, case when i = 1 then 'infinity' end
      from generate_series(1, 3000) as i`,
  'create view broken as select id, amount / (id - 2900) as amount, sold_on, note from sales',
];

beforeAll(async () => {
  foreign = await foreignPostgres(inject('postgresUrl'), ...tables);
});
afterAll(() => dropDatabase(foreign.url));

const field = (name: string, datatype: string, more: object = {}) => ({
  name,
  datatype,
  expression: { dialects: [{ dialect: 'ANSI_SQL', expression: name }] },
  ...more,
});
const dataset = (name: string) => ({
  name,
  source: name,
  primary_key: ['id'],
  fields: [
    field('id', 'Integer'),
    field('amount', 'Decimal', { description: 'In euros, without tax.' }),
    field('sold_on', 'Date', { dimension: { is_time: true } }),
    field('note', 'String'),
  ],
});
const revenue = { dialects: [{ dialect: 'ANSI_SQL', expression: 'SUM(sales.amount)' }] };

/** A model of the sales, and an agent that was given it. */
const newModel = async (at: Fixture, configuration: object = foreign.settings) => {
  const connection = await ok(
    at.api.post('/data-connections', { name: 'S', engine: 'postgres', configuration }),
  );
  const model = await ok(
    at.api.post('/semantic-data-models', {
      data_connection_id: connection.id,
      semantic_model: {
        name: `Sales ${connection.id}`,
        datasets: [dataset('sales'), dataset('broken')],
        metrics: [{ name: 'revenue', expression: revenue, datatype: 'Decimal' }],
      },
      verified_queries: [
        { name: 'Revenue', question: 'How much did we earn?', query: { metrics: ['revenue'] } },
      ],
    }),
  );
  const agent = await newTalker(at, { semantic_data_model_ids: [model.id] });
  return { model, agentId: agent.id as string };
};

/** A platform with a model, and what the tests do with it. */
const withModel = (at: () => Fixture) => {
  let model: { id: string; name: string };
  let agentId: string;
  beforeAll(async () => {
    ({ model, agentId } = await newModel(at()));
  });
  const sourceOf = (asked: object, id = model.id) => ({
    kind: 'semantic_data_model',
    semantic_data_model_id: id,
    ...asked,
  });
  const framesOf = async (path: string) => (await ok(at().api.get(`${path}/data-frames`))).data;
  const waitingFiles = () => readdir(join(at().dataDir, 'tmp')).catch(() => []);
  return {
    sourceOf,
    framesOf,
    waitingFiles,
    newTalk: (more: object = {}) => newConversation(at(), { agentId, ...more }),
    get model() {
      return model;
    },
    get agentId() {
      return agentId;
    },
  };
};

onPostgres((at) => {
  const its = withModel(at);

  test('a data frame keeps all rows that a model answers, with what it says of its columns', async () => {
    const { path } = await its.newTalk();
    await setSettings(at(), { DATA_QUERY_MAX_ROWS: 10 });
    const query = {
      dimensions: ['sales.id', 'sales.amount', 'sales.sold_on', 'sales.note'],
      order: [{ by: 'id' }],
    };
    const source = its.sourceOf({ query });
    const frame = await ok(at().api.post(`${path}/data-frames`, { name: 'all', source }));
    await setSettings(at(), { DATA_QUERY_MAX_ROWS: 10_000 });
    expect(frame).toMatchObject({
      source,
      row_count: 3_000,
      truncated: false,
      warnings: [],
      columns: [
        { name: 'id', datatype: 'Integer', description: null },
        { name: 'amount', datatype: 'Decimal', description: 'In euros, without tax.' },
        { name: 'sold_on', datatype: 'Date', description: null },
        { name: 'note', datatype: 'String', description: null },
      ],
    });
    const { rows, columns } = await ok(at().api.get(`${path}/data-frames/all/rows?limit=2`));
    expect(columns).toEqual(frame.columns);
    expect(rows).toEqual([
      [1, 0.25, '2026-01-02', 'infinity'],
      [2, 0.5, '2026-01-03', null],
    ]);
    const total = await ok(
      at().api.post(`${path}/data-frames/query`, { sql: 'select sum(amount) as total from "all"' }),
    );
    expect(total.rows).toEqual([[1_125_375]]);
    const { data } = await ok(at().api.get(`/audits?target_id=${frame.id}`));
    expect(data[0].details).toMatchObject({ source: { semantic_data_model_id: its.model.id } });
    expect(await its.waitingFiles()).toEqual([]);
  });

  test('a query that fails or is cancelled leaves nothing, and holds up no one', async () => {
    const { path } = await its.newTalk();
    const make = (sql: string, options?: { signal: AbortSignal }) =>
      at().api.post(`${path}/data-frames`, { name: 'x', source: its.sourceOf({ sql }) }, options);
    // The 2,900th row fails: batches have been taken by then.
    expectError(await make('select amount from broken'), 422, /./, { reason: 'query_failed' });
    const locker = new pg.Client({ connectionString: foreign.url });
    await locker.connect();
    try {
      await locker.query('begin; lock table sales');
      const leave = new AbortController();
      const cancelled = make('select id from sales', { signal: leave.signal }).catch((error) => error.name);
      const waits = async () => {
        const { rows } = await locker.query(
          "select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()",
        );
        return rows.length;
      };
      await until(async () => (await waits()) === 1);
      // The embedded database has one connection: it would not answer if it were held.
      expect(await its.framesOf(path)).toEqual([]);
      leave.abort();
      expect(await cancelled).toBe('AbortError');
      await until(async () => (await waits()) === 0);
    } finally {
      await locker.end();
    }
    await until(async () => (await its.waitingFiles()).length === 0);
    expect(await its.framesOf(path)).toEqual([]);
  });
});

describe('on one database', () =>
  withPlatform('postgres', (at) => {
    const its = withModel(at);

    test('a structured query, a verified query and a question give a frame too', async () => {
      const { path } = await its.newTalk();
      const make = (body: object) => at().api.post(`${path}/data-frames`, body);
      const query = { metrics: ['revenue'], dimensions: ['sales.sold_on'] };
      expect(await ok(make({ source: its.sourceOf({ query }) }))).toMatchObject({
        name: 'result_1',
        row_count: 30,
      });
      expect((await ok(make({ source: its.sourceOf({ verified_query: 'revenue' }) }))).name).toBe('result_2');
      const asked = await ok(
        make({ name: 'asked', source: its.sourceOf({ question: 'revenue by sold on' }) }),
      );
      expect(asked.row_count).toBe(30);
      expectError(await make({ name: 'asked', source: its.sourceOf({ query }) }), 422, /already/);
      await setSettings(at(), { MAX_DATA_FRAME_ROWS: 7 });
      const replaced = await ok(make({ name: 'asked', replace: true, source: its.sourceOf({ query }) }));
      await setSettings(at(), { MAX_DATA_FRAME_ROWS: 1_000_000 });
      expect([replaced.row_count, replaced.truncated]).toEqual([7, true]);
    });

    test('members get what their agent may ask, and nothing else', async () => {
      const member = await newKey(at(), 'member');
      const client = at().as(member.value);
      const { path } = await its.newTalk({ client, key: member.value });
      const make = (source: object) => client.post(`${path}/data-frames`, { source });
      const sql = 'select count(id) as n from sales';
      expect((await ok(make(its.sourceOf({ sql })))).row_count).toBe(1);
      const { model: other } = await newModel(at());
      for (const id of [other.id, unknownId, 'x']) {
        expect(faults(await make(its.sourceOf({ sql }, id)))).toEqual(['source.semantic_data_model_id']);
      }
      expect(faults(await make(its.sourceOf({ sql, question: 'x' })))).toEqual(['source.question']);
      expectError(await make(its.sourceOf({})), 400, /One of query/);
      const refused = await make(its.sourceOf({ sql: 'select * from pg_authid' }));
      expect(refused.status).toBe(422);
      expect(refused.body.error).toMatchObject({
        reason: 'unknown_table',
        details: [{ path: 'source.sql' }],
      });
      // The administrator sees the conversation of the member, with its frames.
      expect(await its.framesOf(path)).toHaveLength(1);
      const worker = await newAgent(at(), { semantic_data_model_ids: [its.model.id] });
      const draft = await ok(at().api.post('/work-items', { agent_id: worker.id, draft: true }));
      const ofItem = await ok(
        client.post(`/work-items/${draft.id}/data-frames`, { source: its.sourceOf({ sql }) }),
      );
      expect(ofItem).toMatchObject({ work_item_id: draft.id, row_count: 1 });
    });

    test('an agent keeps the rows of each of its queries; the same query makes one frame', async () => {
      const { path, send } = await its.newTalk();
      const ask = (args: object) => ({ tool: 'query_data_model', args: { model: its.model.name, ...args } });
      const all = { sql: 'select id, amount from sales order by id' };
      const steps = [
        ask(all),
        ask(all),
        ask({ verified_query: 'revenue', save_as: 'kept' }),
        ask({ ...all, save_as: 'kept', limit: 3 }),
        ask({ sql: 'select nope from sales', save_as: 'kept' }),
        { tool: 'query_data_frames', args: { sql: 'select count(*) as n from result_1' } },
      ];
      await send({ content: scripted({ steps }) });
      const { data } = await ok(at().api.get(`${path}/messages?limit=200`));
      const results = data
        .filter(({ role }: { role: string }) => role === 'tool')
        .map(({ content }: { content: unknown }) => JSON.stringify(content))
        .reverse();
      expect(results[0]).toMatch(
        /data frame result_1 with 3000 rows.*first 50 of more than 50.*BEGIN.*\[50,12\.5\].*END/s,
      );
      expect(results[1]).toMatch(/data frame result_1 with 3000 rows/);
      expect(results[2]).toMatch(/data frame kept with 1 rows/);
      expect(results[3]).toMatch(/data frame kept with 3000 rows.*first 3 of/s);
      expect(results[4]).toMatch(/nope/);
      expect(results[5]).toMatch(/\[3000\]/);
      const frames = await its.framesOf(path);
      expect(
        frames.map(({ name, row_count, created_by }: Record<string, unknown>) => [
          name,
          row_count,
          created_by,
        ]),
      ).toEqual([
        ['kept', 3_000, its.agentId],
        ['result_1', 3_000, its.agentId],
      ]);
    });

    test('a database that is away is a 412', async () => {
      const moving = await foreignPostgres(inject('postgresUrl'), ...tables);
      const { model: away, agentId: itsAgent } = await newModel(at(), moving.settings);
      const { path } = await newConversation(at(), { agentId: itsAgent });
      await dropDatabase(moving.url);
      const gone = await at().api.post(`${path}/data-frames`, {
        source: its.sourceOf({ sql: 'select id from sales' }, away.id),
      });
      expect([gone.status, gone.body.error.reason]).toEqual([412, 'authentication']);
    });
  }));
