import { describe, expect, test } from 'vitest';
import { startToolServer } from '../harness/tool-server.ts';
import { newAgent, newKey, ok, onPostgres, time } from './fixture.ts';
import { newPerson } from './people-fixture.ts';

// biome-ignore lint/suspicious/noExplicitAny: JSON, read field by field
type Json = any;

describe('keys, models and tool servers in the application', () => {
  onPostgres((at) => {
    const keys = async (search = '', by = at().app): Promise<Json[]> =>
      (await ok(by.get(`/api-keys?limit=200&${search}`))).data;

    test('keys have the names of those who created them, until those are gone', async () => {
      const first = await newKey(at(), 'builder', { name: 'Pods of the night' });
      const made = await newKey(at(), 'member', { name: 'Made by a pod' }, at().as(first.value));
      const rows = await keys();
      const nameOf = (id: string) => rows.find((row) => row.id === id).created_by_name;
      expect(nameOf(first.id)).toBe('bootstrap administrator');
      expect(nameOf(made.id)).toBe('Pods of the night');
      expect(rows.find((row) => row.id === made.id)).toMatchObject({
        created_by: first.id,
        user_name: null,
        status: 'active',
        prefix: made.prefix,
      });
      expect(rows[0]).not.toHaveProperty('value');
      expect((await keys('q=OF+THE+NIGHT')).map(({ id }) => id)).toEqual([first.id]);
      expect((await keys(`q=${made.prefix}`)).map(({ id }) => id)).toEqual([made.id]);
      expect((await keys(`created_by=${first.id}&q=pod`)).map(({ id }) => id)).toEqual([made.id]);
      // Everyone sees those that they made.
      expect((await keys('', at().as(first.value, '/app/api'))).map(({ id }) => id)).toEqual([made.id]);
      await ok(at().api.delete(`/api-keys/${first.id}?end_made_keys=false`));
      expect((await keys(`q=${made.prefix}`))[0].created_by_name).toBeNull();
    });

    test('a personal key has the name of its person', async () => {
      const { keyId } = await newPerson(at());
      const row = (await keys('q=hers')).find(({ id }) => id === keyId);
      expect(row).toMatchObject({ created_by_name: 'Ada', user_name: 'Ada', kind: 'personal' });
    });

    test('LLM configurations have the agents that use them, by name, as another choice, and by default', async () => {
      const create = (name: string) => ok(at().api.post('/llm-configurations', { name, kind: 'mock' }));
      const [own, other] = [await create('Own'), await create('Other')];
      const { llm_id } = await ok(at().api.get('/llm-configurations/defaults'));
      const a = await newAgent(at(), { name: 'b second', llm_id: own.id, fallback_llm_ids: [other.id] });
      const b = await newAgent(at(), { name: 'A first', llm_id: own.id });
      await newAgent(at(), { name: 'without' });
      const list = async (by = at().app): Promise<Json[]> => (await ok(by.get('/llm-configurations'))).data;
      const rows = await list();
      const of = (id: string) => rows.find((row) => row.id === id);
      const [second, firstOne] = [
        { id: a.id, name: 'b second' },
        { id: b.id, name: 'A first' },
      ];
      expect(of(own.id)).toMatchObject({ name: 'Own', api_key_set: false, is_default: false });
      expect(of(own.id).used_by).toEqual({ total: 2, agents: [firstOne, second], by_default: 0 });
      expect(of(other.id).used_by).toEqual({ total: 1, agents: [second], by_default: 0 });
      expect(of(llm_id)).toMatchObject({
        is_default: true,
        used_by: { total: 0, agents: [], by_default: 1 },
      });
      for (let n = 0; n < 21; n++) await newAgent(at(), { name: `many ${n}`, llm_id: other.id });
      const many = (await list()).find(({ id }) => id === other.id).used_by;
      expect([many.total, many.agents.length]).toEqual([22, 20]);
      const builder = at().as((await newKey(at(), 'builder')).value, '/app/api');
      expect((await list(builder)).find(({ id }) => id === own.id)).toEqual({
        id: own.id,
        name: 'Own',
        kind: 'mock',
        model: 'mock',
        is_default: false,
        used_by: of(own.id).used_by,
      });
      expect((await ok(at().app.get('/llm-configurations?q=OWN'))).data).toEqual([of(own.id)]);
      const [one, same] = [at().app, at().api].map((by) => by.get(`/llm-configurations/${own.id}`));
      expect((await one!).body).toEqual(of(own.id));
      expect((await one!).headers.get('etag')).toBe((await same!).headers.get('etag'));
    });

    test('tool servers have their agents, when they were last checked, and what waits to be accepted', async () => {
      await using server = await startToolServer();
      const { id } = await ok(at().api.post('/tool-servers', { name: 'Ledger', url: server.url }));
      const other = await ok(at().api.post('/tool-servers', { name: 'Away', url: 'http://127.0.0.1:2/mcp' }));
      const a = await newAgent(at(), { name: 'b second', tool_server_ids: [id] });
      const b = await newAgent(at(), { name: 'A first', tool_server_ids: [other.id, id] });
      server.tools = [{ name: 'echo', description: 'Says it twice.' }, { name: 'new' }];
      await ok(at().api.post(`/tool-servers/${id}/test`));
      const rows: Json[] = (await ok(at().app.get('/tool-servers'))).data;
      const used = rows.find((row) => row.id === id);
      expect(used).toMatchObject({
        tool_count: 2,
        changed_count: 1,
        new_count: 1,
        last_checked_at: expect.stringMatching(time),
      });
      const agents = [
        { id: b.id, name: 'A first' },
        { id: a.id, name: 'b second' },
      ];
      expect(used.used_by).toMatchObject({ total: 2, agents });
      expect(rows.find((row) => row.id === other.id)).toMatchObject({
        state: 'failing',
        last_success_at: null,
        last_checked_at: expect.stringMatching(time),
        used_by: { total: 1, agents: [{ id: b.id, name: 'A first' }] },
      });
      expect((await ok(at().app.get('/tool-servers?q=LEDGER'))).data).toEqual([used]);
      const one = await at().app.get(`/tool-servers/${id}`);
      expect(one.body).toEqual(used);
      const moved = await at().api.patch(
        `/tool-servers/${id}`,
        { url: `${server.url}?moved` },
        { headers: { 'if-match': one.headers.get('etag')! } },
      );
      expect(moved.status, moved.text).toBe(200);
      expect((await ok(at().app.get(`/tool-servers/${id}`))).last_checked_at).toBeNull();
    });
  });
});
