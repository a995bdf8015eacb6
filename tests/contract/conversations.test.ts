import { beforeAll, describe, expect, test } from 'vitest';
import type { Client } from '../harness/http.ts';
import { newTalker, scripted } from './conversations-fixture.ts';
import { expectError, faults, newKey, ok, onPostgres, time, unknownId, uuid } from './fixture.ts';

describe('conversations', () =>
  onPostgres((at) => {
    let path: string;
    beforeAll(async () => {
      path = `/agents/${(await newTalker(at())).id}/conversations`;
    });
    const create = (fields: object = {}, as: Client = at().api) => ok(as.post(path, fields));
    const as = async (role: string, more: object = {}) => at().as((await newKey(at(), role, more)).value);

    test('have a name and metadata, which null or an absent body leaves out', async () => {
      const created = await create({ name: 'Bills', metadata: { b: 1, a: [2] } });
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
      const patched = await ok(at().api.patch(one, { name: null }));
      expect(patched).toMatchObject({ name: null, metadata: { b: 1, a: [2] } });
      expect(await ok(at().api.patch(one, {}))).toMatchObject({ name: null });
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

    test('metadata has at most 16 KB', async () => {
      const { id } = await create({ metadata: { a: 'x'.repeat(16 * 1024 - 8) } });
      const body = { metadata: { a: 'x'.repeat(16 * 1024) } };
      for (const response of [at().api.post(path, body), at().api.patch(`${path}/${id}`, body)])
        expect(faults(await response)).toEqual(['metadata']);
    });

    test('a message needs content or decisions, and says what is wrong with them', async () => {
      const { id } = await create();
      const send = (body: unknown, to = 'messages') => at().api.post(`${path}/${id}/${to}`, body);
      for (const to of ['messages', 'stream']) {
        for (const body of [{}, { content: null }, { decisions: [] }]) expectError(await send(body, to), 400);
      }
      const file = { type: 'file', file_id: unknownId };
      const wrong: [unknown, string][] = [
        ['', 'content'],
        [[], 'content'],
        [Array(2).fill({ type: 'text', text: 'x'.repeat(60_000) }), 'content'],
        [Array(21).fill(file), 'content'],
        [[file], 'content[0].file_id'],
        [[{ type: 'text', text: '' }], 'content[0].text'],
        [[{ type: 'x' }], 'content[0].type'],
      ];
      for (const [content, field] of wrong) {
        for (const to of ['messages', 'stream']) {
          const response = await send({ content }, to);
          expectError(response, 422);
          expect(faults(response), response.text).toEqual([field]);
        }
      }
      expectError(await send({ decisions: [{ approval_id: 'a', decision: 'deny' }] }), 412, /./, {
        status: 'idle',
        pending_approvals: [],
      });
      expect((await ok(at().api.get(`${path}/${id}`))).message_count).toBe(0);

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

    test('lists can also be read from an offset, not together with next', async () => {
      const own = `/agents/${(await newTalker(at())).id}/conversations`;
      const ids: string[] = [];
      for (let i = 0; i < 5; i++) ids.unshift((await ok(at().api.post(own, {}))).id);
      const idsOf = async (query: string) =>
        (await ok(at().api.get(`${own}?${query}`))).data.map(({ id }: { id: string }) => id);
      expect(await idsOf('limit=2&offset=1')).toEqual(ids.slice(1, 3));
      expect(await idsOf('limit=2&offset=3')).toEqual(ids.slice(3));
      const { next } = await ok(at().api.get(`${own}?limit=2`));
      expect(faults(await at().api.get(`${own}?offset=1&next=${next}`))).toEqual(['offset']);
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
