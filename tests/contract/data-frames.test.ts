import { describe, expect, test } from 'vitest';
import { adminKey } from '../harness/process.ts';
import { until } from '../harness/wait.ts';
import { xlsx } from '../harness/zip.ts';
import { newConversation, scripted } from './conversations-fixture.ts';
import { upload } from './files-fixture.ts';
import {
  expectError,
  type Fixture,
  faults,
  newAgent,
  newKey,
  ok,
  onPostgres,
  setSettings,
  uuid,
  withPlatform,
} from './fixture.ts';

const sales = 'region,amount,day\nnorth,10.50,2026-01-01\nsouth,4,2026-01-02\nnorth,1,2026-01-03\n,,\n';

/** A conversation with a file of sales, and a frame that is made of it. */
const newSales = async (at: () => Fixture) => {
  const { path, id } = await newConversation(at());
  const file = await upload(at().api, path, 'Sales 2026.csv', sales);
  const source = { kind: 'file', file_id: file.id };
  return { path, id, file, source, frame: await ok(at().api.post(`${path}/data-frames`, { source })) };
};

onPostgres((at) => {
  describe('a data frame', () => {
    test('is made of a file, and stays when the file is deleted', async () => {
      const { path, id, file, frame } = await newSales(at);
      expect(frame).toEqual({
        id: expect.stringMatching(uuid),
        conversation_id: id,
        work_item_id: null,
        name: 'sales_2026',
        description: null,
        source: {
          kind: 'file',
          file_id: file.id,
          file_name: 'Sales 2026.csv',
          sheet: null,
          header: true,
          columns: {},
        },
        columns: [
          { name: 'region', datatype: 'String', description: null },
          { name: 'amount', datatype: 'Decimal', description: null },
          { name: 'day', datatype: 'Date', description: null },
        ],
        row_count: 4,
        size_bytes: expect.any(Number),
        truncated: false,
        warnings: [],
        created_by: expect.any(String),
        created_at: expect.any(String),
      });
      await ok(at().api.delete(`${path}/files/${file.id}`), 204);
      expect(await ok(at().api.get(`${path}/data-frames/${frame.id}`))).toEqual(frame);
      expect(await ok(at().api.get(`${path}/data-frames/sales_2026`))).toEqual(frame);
      expect((await ok(at().api.get(`${path}/data-frames`))).data).toEqual([frame]);

      const rows = await ok(
        at().api.get(`${path}/data-frames/sales_2026/rows?columns=day,amount&order=-amount&limit=2&offset=1`),
      );
      expect(rows).toEqual({
        columns: [frame.columns[2], frame.columns[1]],
        rows: [
          ['2026-01-02', 4],
          ['2026-01-03', 1],
        ],
        total_count: 4,
        next_offset: 3,
      });
      const unknown = await at().api.get(`${path}/data-frames/sales_2026/rows?columns=x&order=-y`);
      expect(faults(unknown)).toEqual(['columns']);

      const url = `${at().test.origin}/api/v2${path}/data-frames/sales_2026/content`;
      const headers = { authorization: `Bearer ${adminKey}` };
      const download = await fetch(url, { headers });
      expect(await download.text()).toBe(
        'region,amount,day\nnorth,10.50,2026-01-01\nsouth,4.00,2026-01-02\nnorth,1.00,2026-01-03\n,,\n',
      );
      expect(Object.fromEntries(download.headers)).toMatchObject({
        'content-type': 'text/csv; charset=utf-8',
        'content-disposition': "attachment; filename*=UTF-8''sales_2026.csv",
        'x-content-type-options': 'nosniff',
      });
      const parquet = await fetch(`${url}?format=parquet`, { headers });
      const again = await upload(at().api, path, 'again.bin', new Uint8Array(await parquet.arrayBuffer()));
      expect(again.content_type).toBe('application/vnd.apache.parquet');
      const source = { kind: 'file', file_id: again.id };
      const copy = await ok(at().api.post(`${path}/data-frames`, { name: 'copy', source }));
      expect([copy.columns, copy.row_count]).toEqual([frame.columns, 4]);

      await ok(at().api.delete(`${path}/data-frames/copy`), 204);
      await until(async () => (await at().sql`select 1 from removed_files`).length === 0);
      const { data } = await ok(at().api.get(`/audits?target_id=${copy.id}`));
      expect(data.map(({ action }: { action: string }) => action)).toEqual([
        'data_frame.delete',
        'data_frame.create',
      ]);
    });

    test('shows its first rows as it keeps them, and as it reads them from its file', async () => {
      const long = 'é'.repeat(10_005);
      const rows = Array.from({ length: 1_200 }, (_, n) => ({
        n,
        exact: n === 3 ? 0.1 : n * 1.005,
        large: n % 2 ? 9_007_199_254_740_993n.toString() : '-1',
        text: n === 7 ? `${long}"\u0001\n` : n % 5 ? `row ${n} 😀` : null,
        at: `2026-01-0${1 + (n % 9)}T01:02:03.${String(n % 1000).padStart(3, '0')}Z`,
      }));
      const { path } = await newConversation(at());
      const file = await upload(at().api, path, 'r.json', JSON.stringify(rows));
      const source = { kind: 'file', file_id: file.id };
      await ok(at().api.post(`${path}/data-frames`, { name: 'of_file', source }));
      const query = {
        sql: 'select n, exact, text as "frame" from of_file order by n desc',
        save_as: 'of_sql',
      };
      await ok(at().api.post(`${path}/data-frames/query`, query));
      const asks = [
        'of_file/rows?limit=1000',
        'of_file/rows?limit=3&offset=6&columns=text,n',
        'of_file/rows?limit=500&offset=900',
        'of_file/rows?limit=10&offset=1195',
        'of_file/rows?offset=5000',
        'of_sql/rows?columns=frame',
        'of_sql/rows?limit=1000&offset=1',
      ];
      const shown = () => Promise.all(asks.map((ask) => ok(at().api.get(`${path}/data-frames/${ask}`))));
      const kept = await shown();
      expect(kept[1].rows[1]).toEqual([long.slice(0, 10_000), 7]);
      await at().sql`update data_frames set head = null`;
      expect(await shown()).toEqual(kept);
      // That it was kept: nothing shows it then but what is kept.
      await at().sql`update data_frames set head = '[[1,2,3,4,5]]'`;
      expect((await ok(at().api.get(`${path}/data-frames/of_file/rows?limit=1`))).rows).toEqual([
        [1, 2, 3, 4, 5],
      ]);
    });

    test('is only for those who may use the conversation', async () => {
      const { path } = await newSales(at);
      const member = at().as((await newKey(at(), 'member')).value);
      for (const address of ['', '/sales_2026', '/sales_2026/rows', '/sales_2026/content'])
        expectError(await member.get(`${path}/data-frames${address}`), 404);
      expectError(await member.post(`${path}/data-frames/query`, { sql: 'select 1' }), 404);
    });

    test('of several that are made at once with one name there is one', async () => {
      const { path, source } = await newSales(at);
      const make = () => at().api.post(`${path}/data-frames`, { name: 'one', source });
      const statuses = (await Promise.all([make(), make()])).map(({ status }) => status);
      expect(statuses.sort()).toEqual([200, 422]);
    });
  });

  test('a data frame of a Work Item can be made in every status, and goes with it', async () => {
    const agent = await newAgent(at());
    const item = await ok(at().api.post('/work-items', { agent_id: agent.id, draft: true }));
    const path = `/work-items/${item.id}`;
    const file = await upload(at().api, path, '2026.csv', 'a\n1');
    await ok(at().api.post(`${path}/cancel`));
    const frame = await ok(
      at().api.post(`${path}/data-frames`, { source: { kind: 'file', file_id: file.id } }),
    );
    expect(frame).toMatchObject({ name: 'frame_2026', conversation_id: null, work_item_id: item.id });
    const answer = await ok(
      at().api.post(`${path}/data-frames/query`, { sql: 'select a + 1 as b from frame_2026' }),
    );
    expect(answer.rows).toEqual([[2]]);
    await at().sql`delete from work_items where id = ${item.id}`;
    expect(await at().sql`select 1 from data_frames where id = ${frame.id}`).toEqual([]);
  });
});

describe('a data frame, on one database', () =>
  withPlatform('postgres', (at) => {
    test('is not made of what cannot be read, and nothing changes then', async () => {
      const { path, source } = await newSales(at);
      const made = (body: object) => at().api.post(`${path}/data-frames`, body);
      const of = async (name: string, content: string | Uint8Array) => ({
        source: { kind: 'file', file_id: (await upload(at().api, path, name, content)).id },
      });
      const same = await made({ name: 'sales_2026', source });
      expectError(same, 422, /there is a data frame `sales_2026` already/);
      expectError(await made({ source: { ...source, columns: { region: 'Integer' } } }), 422, /row 1/);
      for (const [name, type] of Object.entries({ nope: 'Integer', region: 'Text' })) {
        const response = await made({ source: { ...source, columns: { [name]: type } } });
        expect(faults(response)).toEqual([`source.columns.${name}`]);
      }
      expect(faults(await made({ source: { ...source, file_id: 'x' } }))).toEqual(['source.file_id']);
      const uneven = await made(await of('a.csv', 'a\n1,2'));
      expectError(uneven, 422, /row 2 has 2 cells/, { reason: 'unreadable' });
      const document = await made(await of('a.pdf', '%PDF-1.7'));
      expectError(document, 422, /application\/pdf/, { reason: 'unsupported' });
      const book = xlsx({ One: [['a']], Two: [['b'], [1]] });
      const { source: sheets } = await of('a.xlsx', book);
      const third = await made({ source: { ...sheets, sheet: 'Three' } });
      expectError(third, 422, /One, Two/, { sheets: ['One', 'Two'] });
      expect((await ok(made({ source: { ...sheets, sheet: 'Two' } }))).name).toBe('a');
      await setSettings(at(), { MAX_DATA_FRAMES_PER_CONVERSATION: 2, MAX_DATA_FRAME_ROWS: 3 });
      const setting = 'MAX_DATA_FRAMES_PER_CONVERSATION';
      expectError(await made({ source }), 400, /maximum is 2/, { setting });
      const replaced = await ok(made({ name: 'a', replace: true, source }));
      expect([replaced.row_count, replaced.truncated]).toEqual([3, true]);
      await setSettings(at(), { MAX_DATA_FRAMES_PER_CONVERSATION: 50, MAX_DATA_FRAME_ROWS: 1_000_000 });
      expect((await ok(at().api.get(`${path}/data-frames`))).data).toHaveLength(2);
    });

    test('answers SQL, whose result can be kept', async () => {
      const { path } = await newSales(at);
      const ask = (body: object) => at().api.post(`${path}/data-frames/query`, body);
      const sums =
        "select region, sum(amount) as total from sales_2026 where region <> 'x' group by region order by total desc";
      const answer = await ok(ask({ sql: sums, limit: 1, save_as: 'totals' }));
      expect(answer).toMatchObject({
        source: 'sql',
        parameters: ['x'],
        columns: [
          { name: 'region', datatype: 'String', role: 'column' },
          { name: 'total', datatype: 'Decimal', role: 'column' },
        ],
        rows: [['north', 11.5]],
        row_count: 1,
        truncated: true,
        data_frame: { name: 'totals', row_count: 2, truncated: false },
      });
      const source = { kind: 'sql', sql: 'select count(*) as n from totals' };
      const made = await ok(at().api.post(`${path}/data-frames`, { source }));
      expect(made).toMatchObject({ name: 'result_1', columns: [{ name: 'n', datatype: 'Integer' }] });
      expect((await ok(at().api.get(`${path}/data-frames/result_1/rows`))).rows).toEqual([[2]]);

      // JSON would have -9223372036854776000 for the first, which a double holds.
      const exact =
        'select -9223372036854775808.0 as a, 9007199254740992.5 as b, 0.1 as c, 1000000000000.25 as d';
      expect((await ok(ask({ sql: exact }))).rows).toEqual([
        ['-9223372036854775808.0', '9007199254740992.5', 0.1, 1000000000000.25],
      ]);

      expectError(await ask({ sql: 'select 1', save_as: 'totals' }), 422, /already/);
      const context = { name: 'read_csv', position: expect.any(Number), suggestions: expect.any(Array) };
      const refused = await ask({ sql: "select * from read_csv('/etc/passwd')" });
      expect(refused.status).toBe(422);
      expect(['function_not_allowed', 'not_supported']).toContain(refused.body.error.reason);
      const nope = { ...context, reason: 'unknown_column', name: 'nope' };
      expectError(await ask({ sql: 'select nope from totals' }), 422, /./, nope);
      const total = { ...context, reason: 'unknown_table', name: 'total', suggestions: ['totals'] };
      expectError(await ask({ sql: 'select * from total' }), 422, /./, total);
      const reasonOf = async (sql: string) => (await ask({ sql })).body.error.reason;
      expect(await reasonOf('delete from totals')).toBe('not_a_select');
      expect(await reasonOf('select cast(region as integer) from totals')).toBe('query_failed');
      expectError(await ask({ sql: 'select 1', limit: 10_001 }), 422, /10000/);
    });

    test('is made and queried by an agent, which sees only its own', async () => {
      const { path, send } = await newConversation(at());
      await upload(at().api, path, 'Sales.csv', sales);
      await upload(at().api, path, 'long.txt', 'ü'.repeat(20_001));
      await upload(at().api, path, 'a.bin', 'x');
      const steps = [
        { tool: 'list_files' },
        { tool: 'read_file', args: { name: 'long.txt', offset: 20_000 } },
        { tool: 'read_file', args: { name: 'long.txt' } },
        { tool: 'read_file', args: { name: 'a.bin' } },
        { tool: 'make_data_frame', args: { file: 'Sales.csv', name: 'sales' } },
        { tool: 'make_data_frame', args: { file: 'Sales.csv', name: 'sales' } },
        { tool: 'query_data_frames', args: { sql: 'select count(*) as n from sales', save_as: 'counted' } },
        { tool: 'query_data_frames', args: { sql: 'select * from saless' } },
        { tool: 'list_data_frames' },
      ];
      await send({ content: scripted({ steps }) });
      const { data } = await ok(at().api.get(`${path}/messages?limit=200`));
      const results = data
        .filter(({ role }: { role: string }) => role === 'tool')
        .map(({ content }: { content: unknown }) => JSON.stringify(content))
        .reverse();
      const expected = [
        /Sales\.csv.*long\.txt|long\.txt.*Sales\.csv/s,
        /BEGIN ([0-9a-f]{16})\W+nü\W+nEND \1.*This is its end/s,
        /go on with offset 20000/,
        /application\/octet-stream cannot be read/,
        /row_count\W+4/,
        /row_count\W+4/,
        /kept as the data frame counted with 1 rows.*\[4\]/s,
        /unknown_table.*sales/s,
        /counted.*sales/s,
      ];
      expect(results).toHaveLength(expected.length);
      expected.forEach((pattern, i) => {
        expect(results[i]).toMatch(pattern);
      });
      const frames = (await ok(at().api.get(`${path}/data-frames`))).data;
      expect(frames.map(({ name }: { name: string }) => name)).toEqual(['counted', 'sales']);

      const other = await newConversation(at());
      await other.send({
        content: scripted({ steps: [{ tool: 'read_file', args: { name: 'Sales.csv' } }] }),
      });
      const { data: elsewhere } = await ok(at().api.get(`${other.path}/messages`));
      expect(JSON.stringify(elsewhere)).toContain('There is no file of this name');
    });
  }));
