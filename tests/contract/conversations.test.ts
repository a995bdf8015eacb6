import { beforeAll, describe, expect, test } from 'vitest';
import type { Client } from '../harness/http.ts';
import { newTalker, scripted } from './conversations-fixture.ts';
import { expectError, faults, newAgent, newKey, ok, onPostgres, time, unknownId, uuid } from './fixture.ts';

describe('conversations', () =>
  onPostgres((at) => {
    let path: string;
    beforeAll(async () => {
      path = `/agents/${(await newTalker(at())).id}/conversations`;
    });
    const create = (fields: object = {}, as: Client = at().api) => ok(as.post(path, fields));
    const as = async (role: string, more: object = {}) => at().as((await newKey(at(), role, more)).value);

    test('are created, read, changed and deleted, with an ETag', async () => {
      const created = await create({ name: 'Bills', metadata: { b: 1, a: [2] }, unknown: 1 });
      expect(created).toEqual({
        id: expect.stringMatching(uuid),
        agent_id: path.split('/')[2],
        name: 'Bills',
        status: 'idle',
        active_run_id: null,
        message_count: 0,
        last_message_at: null,
        metadata: { b: 1, a: [2] },
        created_by: expect.any(String),
        created_at: expect.stringMatching(time),
        updated_at: expect.stringMatching(time),
      });
      const one = `${path}/${created.id}`;
      expect((await at().api.get(one)).headers.get('etag')).toBe('"1"');
      const patched = await at().api.patch(one, { name: null }, { headers: { 'if-match': '"1"' } });
      expect(patched.body).toMatchObject({ name: null, metadata: { b: 1, a: [2] } });
      expect(patched.headers.get('etag')).toBe('"2"');
      const stale = { headers: { 'if-match': '"1"' } };
      expectError(await at().api.patch(one, { name: 'x' }, stale), 412);
      expectError(await at().api.delete(one, stale), 412);
      expect((await at().as(undefined).get(one)).status).toBe(401);
      expect(await ok(at().api.patch(one, {}))).toMatchObject({ name: null });
      await ok(at().api.delete(one), 204);
      for (const method of ['GET', 'PATCH', 'DELETE']) {
        expectError(await at().api.raw(method, one, method === 'PATCH' ? '{}' : undefined), 404);
      }
      expect(await create({ name: null, metadata: null })).toMatchObject({ name: null, metadata: {} });
      expect(await ok(at().api.raw('POST', path))).toMatchObject({ name: null, metadata: {} });
    });

    test('a conversation is named by the first 60 characters of its first message, unless it has a name', async () => {
      const { id } = await create();
      const text = `${'é'.repeat(59)}🙂 and more`;
      await ok(at().api.post(`${path}/${id}/messages`, { content: text }));
      await ok(at().api.post(`${path}/${id}/messages`, { content: 'another' }));
      const one = () => ok(at().api.get(`${path}/${id}`));
      expect((await one()).name).toBe(`${'é'.repeat(59)}🙂`);
      await ok(at().api.patch(`${path}/${id}`, { name: 'Mine' }));
      expect((await one()).name).toBe('Mine');
      await ok(at().api.patch(`${path}/${id}`, { name: null }));
      expect((await one()).name).toBe(`${'é'.repeat(59)}🙂`);
    });

    test('wrong fields are a 422 that names them', async () => {
      const wrong: [object, string][] = [
        [{ name: 'x'.repeat(201) }, 'name'],
        [{ name: 5 }, 'name'],
        [{ metadata: [] }, 'metadata'],
        [{ metadata: { a: 'x'.repeat(16 * 1024) } }, 'metadata'],
      ];
      const { id } = await create({ metadata: { a: 'x'.repeat(16 * 1024 - 8) } });
      for (const [body, field] of wrong) {
        for (const response of [at().api.post(path, body), at().api.patch(`${path}/${id}`, body)]) {
          expect(faults(await response)).toEqual([field]);
        }
      }
      expect(faults(await at().api.patch(`${path}/${id}`, { metadata: null }))).toEqual(['metadata']);
    });

    test('a message needs content or decisions, and says what is wrong with them', async () => {
      const { id } = await create();
      const send = (body: unknown, to = 'messages') => at().api.post(`${path}/${id}/${to}`, body);
      for (const to of ['messages', 'stream']) {
        for (const body of [{}, { content: null }, { decisions: [] }]) expectError(await send(body, to), 400);
      }
      const file = { type: 'file', file_id: unknownId };
      const wrong: [object, string | RegExp][] = [
        [{ content: '' }, 'content'],
        [{ content: 'x'.repeat(100_001) }, 'content'],
        [{ content: [] }, 'content'],
        [
          {
            content: [
              { type: 'text', text: 'x'.repeat(60_000) },
              { type: 'text', text: 'x'.repeat(60_000) },
            ],
          },
          'content',
        ],
        [{ content: Array(21).fill(file) }, 'content'],
        [{ content: [file] }, 'content[0].file_id'],
        [{ content: [{ type: 'text', text: '' }] }, 'content[0].text'],
        [{ content: [{ type: 'x' }] }, 'content[0].type'],
        [{ content: 5 }, 'content'],
        [{ content: 'x', wait_seconds: 601 }, 'wait_seconds'],
        [{ content: 'x', wait_seconds: -1 }, 'wait_seconds'],
        [{ content: 'x', decisions: [{ approval_id: 'a', decision: 'maybe' }] }, 'decisions[0].decision'],
      ];
      for (const [body, field] of wrong) {
        for (const to of ['messages', 'stream']) {
          const response = await send(body, to);
          expectError(response, 422);
          expect(faults(response), response.text).toEqual([field]);
        }
      }
      expectError(await send({ decisions: [{ approval_id: 'a', decision: 'deny' }] }), 412, /./, {
        status: 'idle',
        pending_approvals: [],
      });
      expect((await ok(at().api.get(`${path}/${id}`))).message_count).toBe(0);
      expect(faults(await at().api.get(`${path}/${id}/stream?last_event_id=x`))).toEqual(['last_event_id']);
      for (const bad of ['x', '-1', '1.5', '1234567890123456', '0x1']) {
        const response = await at().api.get(`${path}/${id}/stream`, { headers: { 'last-event-id': bad } });
        expect(faults(response)).toEqual(['Last-Event-ID']);
      }
    });

    test('a member sees its own, builders and administrators see all', async () => {
      const [mine, other, builder] = [await as('member'), await as('member'), await as('builder')];
      const { id } = await create({ name: 'private' }, mine);
      const one = `${path}/${id}`;
      await ok(mine.get(one));
      await ok(builder.get(one));
      await ok(at().api.post(`${one}/messages`, { content: 'from the admin' }));
      const requests: [string, string, object?][] = [
        ['GET', ''],
        ['PATCH', '', {}],
        ['DELETE', ''],
        ['GET', '/messages'],
        ['POST', '/messages', { content: 'x' }],
        ['POST', '/stream', { content: 'x' }],
        ['GET', '/stream'],
        ['POST', '/cancel'],
      ];
      const unknown = await other.get(`${path}/${unknownId}`);
      for (const [method, more, body] of requests) {
        const response = await other.raw(method, one + more, body && JSON.stringify(body), {
          headers: { 'content-type': 'application/json' },
        });
        expectError(response, 404);
        expect(response.body.error.message).toBe(unknown.body.error.message);
      }
      const listed = async (who: Client) => (await ok(who.get(path))).data.map((c: { id: string }) => c.id);
      expect(await listed(mine)).toEqual([id]);
      expect(await listed(other)).toEqual([]);
      expect(await listed(builder)).toContain(id);
      const reader = await as('admin', { scopes: ['conversations:read'] });
      await ok(reader.get(one));
      expectError(await reader.post(`${one}/messages`, { content: 'x' }), 403, /conversations/);
    });

    test('lists are newest first, by limit with next or offset', async () => {
      const own = `/agents/${(await newTalker(at())).id}/conversations`;
      const ids: string[] = [];
      for (let i = 0; i < 5; i++) ids.unshift((await ok(at().api.post(own, {}))).id);
      const page = async (query: string) => ok(at().api.get(`${own}?${query}`));
      const idsOf = ({ data }: { data: { id: string }[] }) => data.map(({ id }) => id);
      const first = await page('limit=2');
      expect([idsOf(first), first.has_more]).toEqual([ids.slice(0, 2), true]);
      const second = await page(`limit=2&next=${first.next}`);
      expect(idsOf(second)).toEqual(ids.slice(2, 4));
      expect(idsOf(await page('limit=2&offset=3'))).toEqual(ids.slice(3));
      const last = await page('offset=4');
      expect([idsOf(last), last.has_more, last.next]).toEqual([ids.slice(4), false, '']);
      expect(faults(await at().api.get(`${own}?offset=1&next=${first.next}`))).toEqual(['offset']);
    });

    test('a worker agent has none: 400 on every operation, after the 404 of the agent', async () => {
      const worker = await newAgent(at());
      const { id } = await create();
      for (const [agent, status] of [
        [worker.id, 400],
        [unknownId, 404],
      ] as const) {
        const all = `/agents/${agent}/conversations`;
        const one = `${all}/${id}`;
        const responses = [
          at().api.get(all),
          at().api.post(all, {}),
          at().api.get(one),
          at().api.patch(one, {}),
          at().api.delete(one),
          at().api.get(`${one}/messages`),
          at().api.post(`${one}/messages`, {}),
          at().api.post(`${one}/stream`, {}),
          at().api.get(`${one}/stream`),
          at().api.post(`${one}/cancel`),
        ];
        for (const response of await Promise.all(responses)) expectError(response, status);
      }
      const elsewhere = (await newTalker(at())).id;
      expectError(await at().api.get(`/agents/${elsewhere}/conversations/${id}`), 404);
    });

    test('v1 has the same operations', async () => {
      const v1 = at().as((await newKey(at(), 'member')).value, '/api/v1');
      const { id } = await create({}, v1);
      const run = await ok(v1.post(`${path}/${id}/messages`, { content: 'Hello' }));
      expect(run.status).toBe('completed');
      expect((await v1.get(`${path}/${id}/stream`)).status).toBe(204);
      expect((await ok(v1.get(`${path}/${id}/messages?limit=1`))).data).toEqual([run.messages.at(-1)]);
    });

    test('are deleted while a run is in progress, alone and with their agent', async () => {
      const agent = await newTalker(at());
      const all = `/agents/${agent.id}/conversations`;
      const running = async () => {
        const { id } = await ok(at().api.post(all, {}));
        const content = scripted({ delay_ms: 60_000 });
        await ok(at().api.post(`${all}/${id}/messages`, { content, wait_seconds: 0 }));
        return `${all}/${id}`;
      };
      const one = await running();
      await ok(at().api.delete(one), 204);
      expectError(await at().api.get(one), 404);
      const other = await running();
      await ok(at().api.delete(`/agents/${agent.id}`), 204);
      expectError(await at().api.get(other), 404, /agent/);
    });

    test('the first response is sent again for the same Idempotency-Key, and the message is not', async () => {
      const { id } = await create();
      const send = (content: string) =>
        at().api.post(`${path}/${id}/messages`, { content }, { headers: { 'idempotency-key': `k-${id}` } });
      const [first, second] = await Promise.all([send('once'), send('once')]);
      expect(first.status, first.text).toBe(200);
      expect(second.text).toBe(first.text);
      expect((await send('once')).headers.get('idempotency-replayed')).toBe('true');
      expect((await send('twice')).status).toBe(422);
      expect((await ok(at().api.get(`${path}/${id}`))).message_count).toBe(4);
    });
  }));
