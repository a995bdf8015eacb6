import { describe, expect, test } from 'vitest';
import { sql } from '../../src/database/index.ts';
import { bedrockKeys } from '../harness/providers/bedrock.ts';
import { protocols, type Reply, startProvider } from '../harness/providers/index.ts';
import { expectError, type Fixture, faults, newAgent, newKey, ok, onPostgres } from './fixture.ts';

// biome-ignore lint/suspicious/noExplicitAny: JSON, read field by field
type Json = any;

const path = '/llm-configurations';
const { access_key_id, region, secret_access_key, session_token } = bedrockKeys;
const pair = { access_key_id, secret_access_key };

/** A valid body of each kind, without optional fields. */
const bodies: Record<string, Record<string, unknown>> = {
  openai_compatible: { base_url: 'https://models.example.com/v1' },
  openai: { api_key: 'sk-1' },
  anthropic: { api_key: 'sk-1' },
  azure: { api_key: 'sk-1', base_url: 'https://res.openai.azure.com/openai' },
  google: { api_key: 'sk-1' },
  bedrock: { region, ...pair },
  mock: {},
};
const bodyOf = (kind: string, more: object = {}) => ({
  kind,
  name: `A ${kind}`,
  model: 'm-1',
  ...bodies[kind],
  ...more,
});

const create = (at: Fixture, kind: string, more: object = {}) => at.api.post(path, bodyOf(kind, more));

onPostgres((at) => {
  describe('the fields of a kind', () => {
    test.each(Object.keys(bodies))('%s: defaults, and an update with what was read', async (kind) => {
      const made = await ok(create(at(), kind, { headers: { 'X-Team': 'a' } }));
      expect(made).toMatchObject({
        kind,
        max_output_tokens: null,
        temperature: null,
        reasoning_effort: null,
        context_tokens: 128_000,
        timeout_seconds: 120,
        streaming: true,
        prompt_caching: true,
        price_as: null,
        header_names: ['X-Team'],
        api_key_set: 'api_key' in bodies[kind]!,
        secret_access_key_set: kind === 'bedrock',
        session_token_set: false,
        base_url: {
          openai_compatible: 'https://models.example.com/v1',
          openai: 'https://api.openai.com/v1',
          anthropic: 'https://api.anthropic.com/v1',
          azure: 'https://res.openai.azure.com/openai',
          google: 'https://generativelanguage.googleapis.com/v1beta',
          bedrock: `https://bedrock-runtime.${region}.amazonaws.com`,
          mock: null,
        }[kind],
        api: kind === 'openai' || kind === 'azure' ? 'responses' : null,
        api_version: kind === 'azure' ? 'v1' : null,
        deployment_urls: kind === 'azure' ? false : null,
        region: kind === 'bedrock' ? region : null,
        access_key_id: kind === 'bedrock' ? access_key_id : null,
      });
      const again = await ok(at().api.patch(`${path}/${made.id}`, made));
      expect(again).toEqual({ ...made, updated_at: again.updated_at });
    });

    test('limits are kept, checked, and reset by null', async () => {
      const limits = {
        max_output_tokens: 1_000_000,
        temperature: 0,
        reasoning_effort: 'none',
        context_tokens: 1_000,
        timeout_seconds: 600,
        streaming: false,
        prompt_caching: false,
        price_as: 'gpt-4o',
      };
      const { id, ...made } = await ok(create(at(), 'anthropic', limits));
      expect(made).toMatchObject(limits);
      const wrong = {
        max_output_tokens: 0,
        temperature: 2.1,
        reasoning_effort: 'xhigh',
        context_tokens: 999,
        timeout_seconds: 601,
        streaming: 'yes',
        prompt_caching: 1,
        price_as: '',
      };
      for (const response of [create(at(), 'mock', wrong), at().api.patch(`${path}/${id}`, wrong)]) {
        expectError(await response, 422);
        expect(faults(await response).sort()).toEqual(Object.keys(wrong).sort());
      }
      const cleared = Object.fromEntries(Object.keys(limits).map((name) => [name, null]));
      const after = await ok(at().api.patch(`${path}/${id}`, cleared));
      expect(after).toMatchObject({
        max_output_tokens: null,
        temperature: null,
        context_tokens: 128_000,
        streaming: true,
      });
    });

    test('what is missing is 400, what is wrong or null is 422', async () => {
      const refused = async (kind: string, more: object) => {
        const response = await create(at(), kind, more);
        return `${response.status} ${faults(response)}`;
      };
      for (const kind of ['openai', 'anthropic', 'azure', 'google']) {
        expect(await refused(kind, { api_key: undefined })).toBe('400 api_key');
        expect(await refused(kind, { api_key: null })).toBe('422 api_key');
      }
      expect(await refused('azure', { base_url: undefined })).toBe('400 base_url');
      expect(await refused('azure', { api_version: 'a b' })).toBe('422 api_version');
      expect(await refused('openai', { api: 'completions' })).toBe('422 api');
      expect(await refused('openai', { headers: { Authorization: 'x' } })).toBe('422 headers.Authorization');
      const many = Object.fromEntries(Array.from({ length: 21 }, (_, i) => [`x-${i}`, 'v']));
      expect(await refused('google', { headers: many })).toBe('422 headers');
      expect(await refused('bedrock', { region: undefined })).toBe('400 region');
      expect(await refused('bedrock', { region: 'x.evil.com/#' })).toBe('422 region');
      expect(await refused('anthropic', { model: undefined })).toBe('400 model');
      expect((await create(at(), 'mock', { model: undefined })).body.model).toBe('mock');
    });

    test('Bedrock takes an API key or an access key with its secret', async () => {
      const none = { access_key_id: undefined, secret_access_key: undefined };
      expectError(await create(at(), 'bedrock', none), 400, /api_key: is required, or access_key_id/);
      expectError(await create(at(), 'bedrock', { ...none, session_token }), 422);
      for (const half of Object.keys(pair)) {
        expectError(await create(at(), 'bedrock', { [half]: undefined }), 422, /secret_access_key/);
      }
      expectError(await create(at(), 'bedrock', { api_key: 'key' }), 422, /not both/);
      const { id } = await ok(create(at(), 'bedrock', { session_token }));
      const one = `${path}/${id}`;
      expectError(await at().api.patch(one, { secret_access_key: null }), 422);
      expectError(await at().api.patch(one, { api_key: 'key' }), 422);
      const swapped = { api_key: 'key', access_key_id: null, secret_access_key: null, session_token: null };
      expect(await ok(at().api.patch(one, swapped))).toMatchObject({
        api_key_set: true,
        access_key_id: null,
        secret_access_key_set: false,
        session_token_set: false,
      });
      expectError(await at().api.patch(one, { api_key: null }), 422);
    });

    test('a required field is not cleared', async () => {
      for (const [kind, field] of [
        ['openai', 'api_key'],
        ['azure', 'base_url'],
        ['bedrock', 'region'],
      ] as const) {
        const { id } = await ok(create(at(), kind));
        const refused = await at().api.patch(`${path}/${id}`, { [field]: null });
        expectError(refused, 422);
        expect(faults(refused)).toEqual([field]);
      }
    });

    test('those of another kind are ignored, also wrong ones', async () => {
      const other = { region: 7, base_url: 'nonsense', api_key: '', deployment_urls: 'x', organization: '' };
      const made = await ok(create(at(), 'mock', other));
      const changed = await ok(at().api.patch(`${path}/${made.id}`, { ...other, name: 'Changed' }));
      expect(changed).toMatchObject({ name: 'Changed', base_url: null, api_key_set: false, region: null });
      await ok(create(at(), 'anthropic', { region: 7, api: 7 }));
    });
  });

  describe('a secret', () => {
    test('is returned by no operation, and audited as a fingerprint', async () => {
      const secrets = {
        secret_access_key: 'secret-word-one',
        session_token: 'secret-word-two',
        headers: { 'X-Team': 'secret-word-three' },
      };
      const made = await create(at(), 'bedrock', secrets);
      expect(made.body).toMatchObject({
        access_key_id,
        header_names: ['X-Team'],
        secret_access_key_set: true,
        session_token_set: true,
      });
      const one = `${path}/${made.body.id}`;
      const seen = [
        made,
        await at().api.get(one),
        await at().api.patch(one, secrets),
        await at().api.get(path),
      ];
      const { rows } = await at().db.run((executor) =>
        sql<{
          details: Json;
        }>`select details from audits where target_id = ${made.body.id} order by at`.execute(executor),
      );
      expect(rows[0]!.details).toMatchObject({
        region,
        access_key_id,
        secret_access_key: expect.stringMatching(/^sha256:/),
        headers: { 'X-Team': expect.stringMatching(/^sha256:/) },
      });
      expect(seen.map(({ text }) => text).join() + JSON.stringify(rows)).not.toContain('secret-word');
    });

    test('is needed again when the address changes, whatever makes it change', async () => {
      const patch = async (id: string, body: object) => {
        const response = await at().api.patch(`${path}/${id}`, body);
        return response.status === 200 ? 'ok' : `${response.status} ${faults(response)}`;
      };
      const headers = { 'X-Team': 'night' };
      const { id } = await ok(create(at(), 'openai', { headers }));
      const base_url = 'https://proxy.example.com/v1';
      expect(await patch(id, { base_url })).toBe('422 api_key,headers');
      expect(await patch(id, { base_url, api_key: 'sk-2' })).toBe('422 headers');
      expect(await patch(id, { base_url: 'https://api.openai.com/v1/' })).toBe('ok');
      expect(await patch(id, { base_url, api_key: 'sk-2', headers: null })).toBe('ok');
      expect(await patch(id, { base_url: null })).toBe('422 api_key');
      expect(await patch(id, { base_url: `${base_url}/`, name: 'Same address' })).toBe('ok');

      const bedrock = await ok(create(at(), 'bedrock', { session_token }));
      const moved = { region: 'us-east-1' };
      expect(await patch(bedrock.id, moved)).toBe('422 secret_access_key,session_token');
      expect(await patch(bedrock.id, { ...moved, secret_access_key, session_token })).toBe('ok');

      const free = await ok(create(at(), 'openai_compatible'));
      expect(await patch(free.id, { base_url })).toBe('ok');
    });
  });

  test('a configuration that an agent falls back to is not deleted', async () => {
    const { id } = await ok(create(at(), 'mock'));
    const agent = await newAgent(at());
    const setFallback = (ids: string[]) =>
      at().db.tx((tx) =>
        sql`update agents set fallback_llm_ids = ${ids}::uuid[] where id = ${agent.id}`.execute(tx),
      );
    await setFallback([id]);
    expectError(await at().api.delete(`${path}/${id}`), 412, /fallback/, { llm_id: id });
    await setFallback([]);
    expect((await at().api.delete(`${path}/${id}`)).status).toBe(204);
  });

  test('a builder sees id, name, kind and model; both bases have the same', async () => {
    const { id } = await ok(create(at(), 'azure'));
    const { value } = await newKey(at(), 'builder');
    for (const base of ['/api/v2', '/api/v1'] as const) {
      const seen = await ok(at().as(value, base).get(`${path}/${id}`));
      expect(seen).toEqual({ id, name: 'A azure', kind: 'azure', model: 'm-1' });
    }
  });

  test('a reply is stored as its provider gave it, sent back with the next step, and not shown', async () => {
    const protocol = protocols['openai, responses']!;
    const signature = 'c2lnbmF0dXJlLTQ1Ng==';
    const reasoning = { text: 'Think.', signature };
    const calls = [{ id: 'call_1', name: 'current_time', args: { timezone: 'UTC' } }];
    await using provider = await startProvider(protocol, (_request, n) =>
      n === 0 ? { reasoning, calls } : { text: 'It is noon.' },
    );
    const { kind, model, settings } = protocol;
    const body = { kind, name: 'Responses', model, base_url: provider.url, ...settings };
    const { id: llm_id } = await ok(at().api.post(path, body));
    const agent = await newAgent(at(), { llm_id });
    const item = await ok(at().api.post('/work-items', { agent_id: agent.id, message: 'What time is it?' }));
    const one = `/work-items/${item.id}`;
    await expect.poll(async () => (await at().api.get(one)).body.status).toBe('COMPLETED');
    expect(protocol.signatures(provider.requests[1]!)).toEqual([signature]);
    const shown = await at().api.get(`${one}/messages`);
    expect(shown.text).toContain('It is noon.');
    expect(shown.text).not.toContain(signature);
    expect((await ok(at().api.get(one))).usage).toMatchObject({ input_tokens: 200, output_tokens: 40 });
  });

  describe('a test', () => {
    const said = { text: 'ready' };
    const called = { calls: [{ id: 'c1', name: 'current_time', args: {} }] };
    const testOf = async (name: string, reply: (n: number) => Reply, more: object = {}): Promise<Json> => {
      const protocol = protocols[name]!;
      await using provider = await startProvider(protocol, (_request, n) => reply(n));
      const { kind, model, settings } = protocol;
      const body = { kind, name, model, base_url: provider.url, ...settings, ...more };
      const { id } = await ok(at().api.post(path, body));
      const result = await ok(at().api.post(`${path}/${id}/test`));
      for (const secret of protocol.secrets) expect(JSON.stringify(result)).not.toContain(secret);
      return result;
    };
    const stepsOf = ({ steps }: Json) => steps.map(({ step, ok }: Json) => `${step} ${ok}`);

    test.each(Object.keys(protocols))('passes for %s', async (name) => {
      const result = await testOf(name, (n) => (n === 1 ? called : said));
      expect(stepsOf(result)).toEqual(['connect true', 'answer true', 'tool_call true', 'stream true']);
      expect(result).toMatchObject({ ok: true, latency_ms: expect.any(Number) });
    });

    test('that passed makes a real model of a configuration for Set-up, until its settings change', async () => {
      const protocol = protocols['openai, chat completions']!;
      await using provider = await startProvider(protocol, (_request, n) => (n % 3 === 1 ? called : said));
      let hours = 3;
      const isSetUp = async () => (await ok(at().app.get(`/overview?hours=${++hours}`))).setup.real_model;
      await at().sql`update llm_configurations set test_passed_at = null`;
      const { kind, model, settings } = protocol;
      const { id } = await ok(
        at().api.post(path, { kind, name: 'Real', model, base_url: provider.url, ...settings }),
      );
      const one = `${path}/${id}`;
      expect(await isSetUp()).toBe(false);
      expect((await ok(at().api.post(`${one}/test`))).ok).toBe(true);
      expect(await isSetUp()).toBe(true);
      await ok(at().api.patch(one, { name: 'Renamed' }));
      expect(await isSetUp()).toBe(true);
      await ok(at().api.patch(one, { model: 'another' }));
      expect(await isSetUp()).toBe(false);
    });

    test('shows a long reply in part, without a key that the endpoint repeats', async () => {
      const name = 'openai, responses';
      const [key] = protocols[name]!.secrets;
      const text = `You sent ${key}. ${'So it is. '.repeat(20)}`;
      const { steps } = await testOf(name, (n) => (n === 1 ? called : { text }));
      expect(steps[1].detail).toMatch(/replied “You sent \[redacted\]\. So it is\. .{20,50}…” in/);
    });

    test('names the step that fails', async () => {
      const name = 'openai, responses';
      const wrongKey = await testOf(name, () => said, { api_key: 'sk-of-another' });
      expect(stepsOf(wrongKey)).toEqual(['connect true', 'answer false']);
      expect(wrongKey).toMatchObject({ ok: false, detail: expect.stringContaining('401') });
      expect(stepsOf(await testOf(name, () => said))).toEqual([
        'connect true',
        'answer true',
        'tool_call false',
      ]);
      const unstreamed = await testOf(name, (n) => (n === 1 ? called : n === 2 ? { fail: 'cut' } : said));
      expect(stepsOf(unstreamed).at(-1)).toBe('stream false');
      const whole = await testOf(name, (n) => (n === 1 ? called : n === 2 ? { fail: 'cut' } : said), {
        streaming: false,
      });
      expect(whole.ok).toBe(true);
      const slow = await testOf(name, () => ({ fail: 'hang' }), { timeout_seconds: 1 });
      expect(stepsOf(slow)).toEqual(['connect true', 'answer false']);

      const away = await ok(create(at(), 'anthropic', { base_url: 'http://127.0.0.1:1/v1' }));
      const unreached = await ok(at().api.post(`${path}/${away.id}/test`));
      expect(stepsOf(unreached)).toEqual(['connect false']);
    });

    test('of the mock passes, and says what was replied, in what time and with how many tokens', async () => {
      const { id } = await ok(create(at(), 'mock'));
      const { steps } = await ok(at().api.post(`${path}/${id}/test`));
      expect(steps.length).toBe(4);
      expect(steps[1].detail).toMatch(
        /^The model mock replied “.+” in \d+ ms, with \d+ input and \d+ output tokens\.$/,
      );
    });
  });
});
