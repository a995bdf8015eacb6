import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { sql } from '../../src/database/index.ts';
import { expectError, newAgent, newKey, newSchedule, ok, onEachDatabase, query } from './fixture.ts';

const folder = mkdtempSync(join(tmpdir(), 'idempotency-'));
new DatabaseSync(join(folder, 'shop.db')).exec('create table orders (id integer primary key)');

/** Idempotency keys, entity tags and lists, on both databases. */
onEachDatabase(
  (at) => {
    let n = 0;
    const keyed = (key = `key-${n++}`) => ({ headers: { 'idempotency-key': key } });
    const count = async (table: string, where = sql`true`) =>
      (await query(at(), sql`select count(*)::int as n from ${sql.table(table)} where ${where}`))[0].n;

    test('the same request again under its key returns the first response, on every operation that takes a key', async () => {
      const agent = await newAgent(at());
      const integration = {
        version: '1',
        settings: {
          provider: 'otlp_basic_auth',
          url: 'https://otlp.example.com/v1/traces',
          username: 'u',
          password: 'secret-password',
        },
      };
      for (const [path, body, table] of [
        ['/agents', { name: 'once', mode: 'worker' }, 'agents'],
        [
          `/agents/${agent.id}/schedules`,
          { cron_expression: '0 0 * * *', payload: { b: 1, a: { d: 1, c: 2 } } },
          'schedules',
        ],
        ['/work-items', { agent_id: agent.id, message: 'x', draft: true }, 'work_items'],
        ['/observability/integrations', integration, 'observability_integrations'],
      ] as const) {
        const options = keyed();
        const before = await count(table);
        const first = await at().api.post(path, body, options);
        expect(first.status, first.text).toBeLessThan(300);
        const again = await at().api.post(path, body, options);
        expect([again.status, again.body, again.headers.get('etag')]).toEqual([
          first.status,
          first.body,
          first.headers.get('etag'),
        ]);
        // The order of keys makes no difference.
        const turned = Object.fromEntries(Object.entries(body).reverse());
        expect((await at().api.post(path, turned, options)).body).toEqual(first.body);
        expect(await count(table)).toBe(before + 1);
        expectError(
          await at().api.post(path, { ...body, description: 'other', message: 'other' }, options),
          422,
          /Idempotency-Key/,
        );
        expect((await at().api.post(path, body, keyed())).body.id).not.toBe(first.body.id);
      }
    });

    test('whatever can be created, by the API or the application, is created once', async () => {
      const agent = await newAgent(at(), { mode: 'conversational' });
      const shop = { engine: 'sqlite', configuration: { path: 'shop.db' } };
      const connection = await ok(at().api.post('/data-connections', { name: 'Shop', ...shop }));
      const model = { name: 'orders', datasets: [{ name: 'orders', source: 'orders', fields: [] }] };
      const { api, app } = at();
      for (const [client, path, body] of [
        [api, '/llm-configurations', { kind: 'mock', name: 'once', model: 'mock' }],
        [api, '/tool-servers', { name: 'once', url: 'http://127.0.0.1:1/mcp' }],
        [api, `/agents/${agent.id}/conversations`, { name: 'once' }],
        [api, '/data-connections', { name: 'once', ...shop }],
        [
          api,
          '/semantic-data-models',
          { name: 'once', data_connection_id: connection.id, semantic_model: model, verified_queries: [] },
        ],
        [api, '/api-keys', { name: 'once', role: 'member' }],
        [api, '/users', { email: 'once@example.com', role: 'member' }],
        [api, '/role-mappings', { claim: 'groups', value: 'once', role: 'member' }],
        [
          app,
          '/integrations',
          {
            version: '1',
            settings: {
              provider: 'otlp_basic_auth',
              url: 'https://otlp.example.com/v1/traces',
              username: 'u',
              password: 'secret-password',
            },
          },
        ],
      ] as const) {
        const options = keyed();
        const first = await client.post(path, body, options);
        expect(first.status, `${path} ${first.text}`).toBeLessThan(300);
        const again = await client.post(path, body, options);
        expect([again.status, again.body.id, again.headers.get('idempotency-replayed')]).toEqual([
          first.status,
          first.body.id,
          'true',
        ]);
        expect(again.headers.get('etag')).toBe(first.headers.get('etag'));
        // A tool server is tried after it was created.
        if (path !== '/tool-servers') expect(again.body, path).toEqual(first.body);
      }
    });

    test('a rotation, a scope and an action on many happen once, and a lost response can be had again', async () => {
      const agent = await newAgent(at());
      const integration = await ok(
        at().api.post('/observability/integrations', {
          version: '1',
          settings: { provider: 'otlp_custom_headers', url: 'https://otlp.example.com/v1/traces' },
        }),
        201,
      );
      const key = await newKey(at(), 'member');
      const schedule = await newSchedule(at(), agent.id);
      const drafts = [];
      for (let i = 0; i < 2; i += 1) {
        drafts.push(
          await ok(at().api.post('/work-items', { agent_id: agent.id, message: 'x', draft: true })),
        );
      }
      const { api, app } = at();
      const scope = { scope: 'agent', agent_id: agent.id };
      for (const [client, path, body] of [
        [api, `/api-keys/${key.id}/rotate`, { overlap_seconds: 60 }],
        [api, `/observability/integrations/${integration.id}/scopes`, scope],
        [app, '/schedules/actions', { action: 'pause', ids: [schedule.id], reason: 'once' }],
      ] as const) {
        const options = keyed();
        const first = await client.post(path, body, options);
        expect(first.status, `${path} ${first.text}`).toBeLessThan(300);
        const again = await client.post(path, body, options);
        expect([again.status, again.body], path).toEqual([first.status, first.body]);
        expect(again.headers.get('idempotency-replayed')).toBe('true');
      }
      const options = keyed();
      const body = { action: 'cancel', ids: drafts.map(({ id }) => id) };
      const first = await ok(app.post('/work-items/actions', body, options));
      expect(first).toMatchObject({ state: 'finished', done: 2 });
      const again = await ok(app.post('/work-items/actions', body, options));
      expect(again).toMatchObject({ bulk_id: first.bulk_id, state: 'running', matched: 2 });
      expect(await ok(app.get(`/work-items/actions/${first.bulk_id}`))).toEqual(first);
    });

    test('the responses are stored encrypted', async () => {
      const rows = await query(at(), sql`select answer from idempotency_keys`);
      expect(rows.length).toBeGreaterThan(0);
      expect(JSON.stringify(rows)).not.toMatch(/secret-password|created_at|once/);
    });

    test('of 30 equal requests at once one makes the resource, and all get its response', async () => {
      const agent = await newAgent(at());
      const options = keyed();
      const responses = await Promise.all(
        Array.from({ length: 30 }, () =>
          at().api.post(`/agents/${agent.id}/schedules`, { cron_expression: '1 1 1 1 *' }, options),
        ),
      );
      expect(responses.map(({ status }) => status)).toEqual(Array(30).fill(200));
      expect(new Set(responses.map(({ text }) => text)).size).toBe(1);
      expect(responses.filter(({ headers }) => headers.get('idempotency-replayed') === null).length).toBe(1);
      expect((await ok(at().api.get(`/agents/${agent.id}/schedules`))).data.length).toBe(1);
      expect(
        (
          await query(
            at(),
            sql`select 1 from audits where action = 'schedule.create' and target_id = ${responses[0]!.body.id}`,
          )
        ).length,
      ).toBe(1);
    });

    test('another operation, path or body under the same key gets 422', async () => {
      const [agent, other] = [await newAgent(at()), await newAgent(at())];
      const options = keyed();
      const body = { cron_expression: '0 0 * * *' };
      const made = await newSchedule(at(), agent.id, body, options);
      expectError(await at().api.post(`/agents/${other.id}/schedules`, body, options), 422, /used before/);
      expectError(await at().api.post('/agents', { name: 'x', mode: 'worker' }, options), 422, /used before/);
      expectError(
        await at().app.post(`/agents/${agent.id}/schedules/${made.id}/run`, undefined, options),
        422,
        /used before/,
      );
      // Faults of the body come first.
      expectError(await at().api.post(`/agents/${agent.id}/schedules`, {}, options), 400);
    });

    test('two principals can use the same key', async () => {
      const [one, two] = [
        at().as((await newKey(at(), 'builder')).value),
        at().as((await newKey(at(), 'builder')).value),
      ];
      const options = keyed();
      const body = { name: 'mine', mode: 'worker' };
      const [a, b] = [
        await ok(one.post('/agents', body, options)),
        await ok(two.post('/agents', body, options)),
      ];
      expect(a.id).not.toBe(b.id);
    });

    test('a failed request does not use up its key', async () => {
      const agent = await newAgent(at());
      const path = `/agents/${agent.id}/schedules`;
      const options = keyed();
      expectError(await at().api.post(path, { cron_expression: 'x' }, options), 400);
      expectError(await at().api.post(path, { cron_expression: '* * * * *', message: 5 }, options), 422);
      const full = [];
      for (let i = 0; i < 20; i++) full.push(await newSchedule(at(), agent.id));
      const body = { cron_expression: '0 0 * * *' };
      expectError(await at().api.post(path, body, options), 400, /20/, {
        setting: 'MAX_SCHEDULES_PER_AGENT',
      });
      await ok(at().api.delete(`${path}/${full[0].id}`), 204);
      const made = await ok(at().api.post(path, body, options));
      // Now it succeeded: the agent is full again, and the response is still the first.
      expect(await ok(at().api.post(path, body, options))).toEqual(made);
      await ok(at().api.delete(`${path}/${made.id}`), 204);
      expect(await ok(at().api.post(path, body, options))).toEqual(made);
    });

    test('a key is free again after 24 hours', async () => {
      const options = keyed('daily');
      const body = { name: 'daily', mode: 'worker' };
      const first = await ok(at().api.post('/agents', body, options));
      await query(
        at(),
        sql`update idempotency_keys set created_at = created_at - interval '23 hours 59 minutes' where key = 'daily'`,
      );
      expect((await ok(at().api.post('/agents', body, options))).id).toBe(first.id);
      await query(
        at(),
        sql`update idempotency_keys set created_at = created_at - interval '2 minutes' where key = 'daily'`,
      );
      expect((await ok(at().api.post('/agents', { ...body, name: 'other' }, options))).id).not.toBe(first.id);
    });

    test('each change of an agent raises its entity tag, and If-Match is checked after the body', async () => {
      const agent = await newAgent(at());
      const path = `/agents/${agent.id}`;
      const patch = (ifMatch: string, body: object) =>
        at().api.patch(path, body, { headers: { 'if-match': ifMatch } });
      expect((await at().api.get(path)).headers.get('etag')).toBe('"1"');
      expect((await patch('"1"', { name: 'b' })).headers.get('etag')).toBe('"2"');
      expectError(await patch('"1"', { name: 'c' }), 412);
      expectError(await patch('"1"', { name: 5 }), 422);
      expectError(await patch('"1"', { mode: 'conversational' }), 422, /mode/);
      expectError(await at().api.delete(path, { headers: { 'if-match': '"1"' } }), 412);
      expect((await ok(at().api.get(path))).name).toBe('b');
      await newSchedule(at(), agent.id);
      expect((await at().api.delete(path, { headers: { 'if-match': '"2"' } })).status).toBe(204);
      expectError(await at().api.delete(path, { headers: { 'if-match': '"2"' } }), 404);
    });

    test('next walks a list once, newest first, whatever is inserted or deleted in the meantime', async () => {
      const made: string[] = [];
      for (let i = 0; i < 9; i++) made.unshift((await newAgent(at())).id);
      const walk: string[] = [];
      let next = '';
      do {
        const page = await ok(at().api.get(`/agents?limit=2${next && `&next=${encodeURIComponent(next)}`}`));
        expect(page.data.length).toBe(2);
        expect(page.has_more).toBe(page.next !== '');
        walk.push(...page.data.map(({ id }: { id: string }) => id));
        next = page.next;
        await newAgent(at());
        if (walk.length === 2) await ok(at().api.delete(`/agents/${walk[1]}`), 204);
      } while (walk.length < 8);
      expect(walk).toEqual(made.slice(0, 8));
    });

    test('Work Items are paged by offset, with the count of all that match', async () => {
      const agent = await newAgent(at());
      const ids: string[] = [];
      for (let i = 0; i < 5; i++) {
        ids.unshift(
          (await ok(at().api.post('/work-items', { agent_id: agent.id, draft: true, message: String(i) })))
            .id,
        );
      }
      const page = async (query: string) => {
        const { records, ...rest } = await ok(at().api.get(`/work-items?agent_id=${agent.id}&${query}`));
        return { ids: records.map(({ id }: { id: string }) => id), ...rest };
      };
      expect(await page('')).toEqual({ ids, total_count: 5, next_offset: null });
      expect(await page('limit=2')).toEqual({ ids: ids.slice(0, 2), total_count: 5, next_offset: 2 });
      expect(await page('limit=2&offset=2')).toEqual({
        ids: ids.slice(2, 4),
        total_count: 5,
        next_offset: 4,
      });
      expect(await page('limit=2&offset=4')).toEqual({
        ids: ids.slice(4),
        total_count: 5,
        next_offset: null,
      });
      expect(await page('limit=5')).toEqual({ ids, total_count: 5, next_offset: null });
      expect(await page('offset=5')).toEqual({ ids: [], total_count: 5, next_offset: null });
      expect(await page('offset=999999999')).toEqual({ ids: [], total_count: 5, next_offset: null });
      expect(await page('status=DRAFT&limit=1')).toMatchObject({ total_count: 5, next_offset: 1 });
      expect(await page('status=COMPLETED')).toEqual({ ids: [], total_count: 0, next_offset: null });
    });
  },
  { SQLITE_DIR: folder },
);
