import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Secret, Vault } from '../../src/lib/crypto.ts';
import { newId } from '../../src/lib/ids.ts';
import {
  createLlmConfigurations,
  type LlmConfigurations,
  lockLlmForShare,
  type ResolvedLlm,
} from '../../src/llm-configurations/index.ts';
import { rotateCredentials } from '../../src/services.ts';
import { insertAgents } from '../harness/agents.ts';
import { serveRoutes } from '../harness/api.ts';
import { onPostgres } from '../harness/database.ts';
import { silentModels } from '../harness/features.ts';
import type { Client } from '../harness/http.ts';
import { testServices } from '../harness/services.ts';

const vault = new Vault([Buffer.alloc(32, 1)]);
const key = 'sk-0123456789-abcdef';
const body = {
  name: 'Ours',
  kind: 'openai_compatible',
  model: 'model-1',
  base_url: 'https://models.example.com/v1',
  api_key: key,
  headers: { 'X-Team': 'team-secret' },
};

onPostgres((_name, open) => {
  let http: Client;
  let close: () => Promise<void>;
  let probed: ResolvedLlm | null = null;
  let llms: LlmConfigurations;

  beforeAll(async () => {
    llms = createLlmConfigurations(testServices(open(), { vault }), {
      models: {
        ...silentModels,
        probe: async (llm) => {
          probed = llm;
          return { ok: false, detail: 'no response', steps: [] };
        },
      },
    });
    const served = await serveRoutes(open(), llms);
    http = served.v2;
    close = served.close;
  });
  afterAll(() => close());

  const create = async (changes: Record<string, unknown> = {}) =>
    (await http.post('/llm-configurations', { ...body, ...changes })).body;
  const fault = async (changes: Record<string, unknown>) => {
    const response = await http.post('/llm-configurations', { ...body, ...changes });
    return `${response.status} ${response.body.error.details?.map((d: { path: string }) => d.path)}`;
  };

  describe('a new installation', () => {
    test('has one configuration, the built-in mock, and it is the default', async () => {
      const defaults = (await http.get('/llm-configurations/defaults')).body;
      const one = await http.get(`/llm-configurations/${defaults.llm_id}`);
      expect(one.body).toMatchObject({ kind: 'mock', model: 'mock', base_url: null, api_key_set: false });
      const resolved = await llms.resolve(null);
      expect(resolved).toMatchObject({ id: defaults.llm_id, kind: 'mock', model: 'mock' });
    });
  });

  describe('secrets', () => {
    test('are never returned, are sealed in the database for their row, and audited as fingerprints', async () => {
      const response = await http.post('/llm-configurations', body);
      expect(response.status).toBe(200);
      expect(response.body).toMatchObject({ api_key_set: true, header_names: ['X-Team'] });
      const list = await http.get('/llm-configurations');
      const one = await http.get(`/llm-configurations/${response.body.id}`);
      const { rows } = await open().run((executor) =>
        sql<{ api_key: string; headers: string }>`select api_key, headers from llm_configurations
          where id = ${response.body.id}`.execute(executor),
      );
      const audits = await open().run((executor) =>
        sql<{ details: { api_key: string; headers: Record<string, string> } }>`select details from audits
          where target_id = ${response.body.id}`.execute(executor),
      );
      const seen = [
        response.text,
        list.text,
        one.text,
        JSON.stringify(rows),
        JSON.stringify(audits.rows),
      ].join();
      expect(seen).not.toContain(key);
      expect(seen).not.toContain('team-secret');
      expect(audits.rows[0]!.details).toMatchObject({
        api_key: expect.stringMatching(/^sha256:/),
        headers: { 'X-Team': expect.stringMatching(/^sha256:/) },
      });

      const other = await create();
      await open().tx((tx) =>
        sql`update llm_configurations set api_key = ${rows[0]!.api_key} where id = ${other.id}`.execute(tx),
      );
      await expect(llms.resolve(other.id)).rejects.toThrow();
      await http.delete(`/llm-configurations/${other.id}`);
    });

    test('reach the runtime as they were sent', async () => {
      const { id } = await create();
      const llm = (await llms.resolve(id)) as ResolvedLlm & { kind: 'openai_compatible' };
      expect(llm).toMatchObject({ kind: 'openai_compatible', model: 'model-1', base_url: body.base_url });
      expect(llm.apiKey!.reveal()).toBe(key);
      expect(llm.headers['X-Team']!.reveal()).toBe('team-secret');
      expect(JSON.stringify(llm)).not.toContain('secret');
    });
  });

  describe('validation', () => {
    test('responds with 400 to what is missing and 422 to what is wrong', async () => {
      expect(await fault({ kind: undefined })).toBe('400 kind');
      expect(await fault({ base_url: undefined })).toBe('400 base_url');
      expect(await fault({ model: null })).toBe('422 model');
      expect(await fault({ name: '' })).toBe('422 name');
      expect(await fault({ base_url: 'ftp://example.com' })).toBe('422 base_url');
      expect(await fault({ base_url: ' https://example.com/v1' })).toBe('422 base_url');
      expect(await fault({ base_url: 'https://user:word@example.com' })).toBe('422 base_url');
      expect(await fault({ base_url: 'https://example.com/v1?key=1' })).toBe('422 base_url');
      expect(await fault({ api_key: 'two words' })).toBe('422 api_key');
      expect(await fault({ headers: { Host: 'x' } })).toBe('422 headers.Host');
      expect(await fault({ headers: { 'a b': 'x' } })).toBe('422 headers.a b');
      expect(await fault({ headers: { a: 'x\ny' } })).toBe('422 headers.a');
      expect(await fault({ headers: { a: 'x', A: 'y' } })).toBe('422 headers.A');
    });

    test('names the kinds if there is no such kind', async () => {
      const response = await http.post('/llm-configurations', { ...body, kind: 'tea_leaves' });
      expect(response.status).toBe(422);
      expect(response.body.error.message).toContain('openai_compatible, openai, anthropic');
      const list = await http.post('/llm-configurations', []);
      expect([list.status, list.body.error.message]).toEqual([422, 'body: must be an object, not an array']);
    });
  });

  describe('a change', () => {
    test('keeps what is not named, and clears what is null', async () => {
      const { id } = await create();
      const renamed = await http.patch(`/llm-configurations/${id}`, { name: 'New' });
      expect(renamed.body).toMatchObject({ name: 'New', model: 'model-1', api_key_set: true });
      const cleared = await http.patch(`/llm-configurations/${id}`, { api_key: null, headers: null });
      expect(cleared.body).toMatchObject({ api_key_set: false, header_names: [], base_url: body.base_url });
      expect((await http.patch(`/llm-configurations/${id}`, cleared.body)).status).toBe(200);
      expect((await http.patch(`/llm-configurations/${id}`, { kind: 'mock' })).status).toBe(422);
    });
  });

  describe('the default', () => {
    test('can be moved only to what exists, and cannot be deleted', async () => {
      const { llm_id: before } = (await http.get('/llm-configurations/defaults')).body;
      const { id } = await create();
      const moved = await http.put('/llm-configurations/defaults', { llm_id: id });
      expect(moved.body).toEqual({ llm_id: id });
      const refused = await http.delete(`/llm-configurations/${id}`);
      expect([refused.status, refused.body.error.code]).toEqual([412, 'precondition_failed']);
      for (const llm_id of [newId(), 'nonsense']) {
        const unknown = await http.put('/llm-configurations/defaults', { llm_id });
        expect([unknown.status, unknown.body.error.llm_id]).toEqual([422, llm_id]);
      }
      expect((await http.put('/llm-configurations/defaults', {})).status).toBe(400);
      await http.put('/llm-configurations/defaults', { llm_id: before });
      expect((await http.delete(`/llm-configurations/${id}`)).status).toBe(204);
      expect((await http.delete(`/llm-configurations/${id}`)).status).toBe(404);
    });
  });

  test('a configuration cannot be deleted while an agent uses it', async () => {
    const { id } = await create();
    const agent = newId();
    await open().tx(async (tx) => {
      expect(await lockLlmForShare(tx, id)).toBe(true);
      expect(await lockLlmForShare(tx, newId())).toBe(false);
      await insertAgents(tx, [agent], { llm_id: id });
    });
    const refused = await http.delete(`/llm-configurations/${id}`);
    expect([refused.status, refused.body.error.message]).toEqual([
      412,
      expect.stringContaining('Agents use'),
    ]);
    await open().tx((tx) => sql`delete from agents where id = ${agent}`.execute(tx));
    expect((await http.delete(`/llm-configurations/${id}`)).status).toBe(204);
  });

  test('this release reads what the release before writes into its columns, and writes there what that release reads', async () => {
    const { id } = await create();
    const column = (name: string, text: string) => vault.seal(text, `llm_configurations:${id}:${name}`);
    await open().tx((tx) =>
      sql`update llm_configurations set base_url = 'https://other.example/v1', api_key = ${column('api_key', 'other')},
        headers = null where id = ${id}`.execute(tx),
    );
    const theirs = (await llms.resolve(id)) as ResolvedLlm & { kind: 'openai_compatible' };
    expect([theirs.base_url, theirs.apiKey!.reveal(), theirs.headers]).toEqual([
      'https://other.example/v1',
      'other',
      {},
    ]);

    await http.patch(`/llm-configurations/${id}`, { api_key: 'mine', headers: { 'X-Mine': '1' } });
    const { rows } = await open().run((executor) =>
      sql<{ base_url: string; api_key: string; headers: string }>`select base_url, api_key, headers
        from llm_configurations where id = ${id}`.execute(executor),
    );
    const { base_url, api_key, headers } = rows[0]!;
    expect(base_url).toBe('https://other.example/v1');
    expect(vault.open(api_key, `llm_configurations:${id}:api_key`)).toBe('mine');
    expect(JSON.parse(vault.open(headers, `llm_configurations:${id}:headers`))).toEqual({ 'X-Mine': '1' });
  });

  test('a rotation of the encryption key keeps every setting', async () => {
    const { id } = await create({ timeout_seconds: 7 });
    const rotated = new Vault([Buffer.alloc(32, 2), Buffer.alloc(32, 1)]);
    await rotateCredentials({ db: open(), vault: rotated }, llms.secrets!);
    const { resolve } = createLlmConfigurations(testServices(open(), { vault: rotated }), {
      models: silentModels,
    });
    const llm = (await resolve(id)) as ResolvedLlm & { kind: 'openai_compatible' };
    expect([llm.timeout_seconds, llm.apiKey!.reveal()]).toEqual([7, key]);
    await rotateCredentials(
      { db: open(), vault: new Vault([Buffer.alloc(32, 1), Buffer.alloc(32, 2)]) },
      llms.secrets!,
    );
    expect(await llms.resolve(id)).toMatchObject({ timeout_seconds: 7 });
  });

  test('a test calls the model with the opened secrets and returns the result', async () => {
    const { id } = await create();
    const response = await http.post(`/llm-configurations/${id}/test`);
    expect(response.body).toEqual({
      ok: false,
      detail: 'no response',
      steps: [],
      latency_ms: expect.any(Number),
    });
    expect((probed as unknown as { apiKey: Secret }).apiKey.reveal()).toBe(key);
  });
});
