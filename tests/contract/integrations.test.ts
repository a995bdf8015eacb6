import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newId } from '../../src/lib/ids.ts';
import type { ClientResponse } from '../harness/http.ts';
import {
  examples,
  type IntegrationsFixture,
  integrations,
  startIntegrations,
} from './integrations-fixture.ts';

const basic = examples.otlp_basic_auth;

/** The paths that the details of an error name. */
const paths = (response: ClientResponse): string[] =>
  (response.body.error.details ?? []).map(({ path }: { path: string }) => path);

describe.each(['embedded', 'postgres'] as const)('integrations on %s', (kind) => {
  let fixture: IntegrationsFixture;
  beforeAll(async () => {
    fixture = await startIntegrations(kind);
  });
  afterAll(() => fixture?.close());

  const create = async (settings: object = basic, more: object = {}) => {
    const response = await fixture.admin.post(integrations, { settings, version: '1', ...more });
    expect(response.status, response.text).toBe(201);
    return response.body;
  };
  const audits = async (action: string, id: string) => {
    const { rows } = await fixture.db.run((reader) =>
      sql<{ details: object; principal_id: string }>`select details, principal_id from audits
        where action = ${action} and target_id = ${id} order by id`.execute(reader),
    );
    return rows;
  };

  test('create responds with 201 and the integration, enabled, global and with defaults', async () => {
    const response = await fixture.admin.post(integrations, { settings: basic, version: '1.0' });
    expect(response.status).toBe(201);
    expect(response.headers.get('etag')).toBe('"1"');
    expect(response.body).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      kind: 'observability',
      settings: { ...basic, is_enabled: true },
      resolved_url: basic.url,
      description: null,
      version: '1.0',
      is_system: false,
      debug: false,
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      updated_at: response.body.created_at,
    });
    const scopes = await fixture.admin.get(`${integrations}/${response.body.id}/scopes`);
    expect(scopes.body).toEqual([
      {
        integration_id: response.body.id,
        scope: 'global',
        agent_id: null,
        created_at: expect.stringMatching(/Z$/),
      },
    ]);
    expect((await fixture.admin.get(`${integrations}/${response.body.id}`)).body).toEqual(response.body);
  });

  test.each(Object.values(examples))(
    'keeps the settings of $provider as they were sent',
    async (settings) => {
      const created = await create(settings, { description: 'd', is_system: true, debug: true });
      expect(created).toMatchObject({ description: 'd', is_system: true, debug: true });
      expect(created.settings).toEqual({ ...settings, is_enabled: true });
    },
  );

  test('null is the same as leaving an optional field out', async () => {
    const nulls = { trace_view_url: null, trace_ui_type: null, is_enabled: null };
    const { provider, url, username, password } = basic;
    const created = await create(
      { provider, url, username, password, ...nulls },
      { description: null, is_system: null, debug: null },
    );
    expect(created.settings).toEqual({ provider, url, username, password, is_enabled: true });
  });

  const without = (settings: object, field: string) =>
    Object.fromEntries(Object.entries(settings).filter(([key]) => key !== field));

  test.each<[string, object, string]>([
    ['settings', { version: '1' }, 'settings'],
    ['version', { settings: basic }, 'version'],
    ...[
      [basic, ['provider', 'url', 'username', 'password']] as const,
      [examples.hosted_dashboard, ['url', 'api_token', 'dashboard_instance_id']] as const,
      [examples.llm_tracing, ['url', 'project_name', 'api_key']] as const,
      [examples.otlp_custom_headers, ['url']] as const,
    ].flatMap(([settings, required]) =>
      required.map((field): [string, object, string] => [
        `${field} of ${settings.provider}`,
        { settings: without(settings, field), version: '1' },
        `settings.${field}`,
      ]),
    ),
    ['what is missing next to what is wrong', { settings: { ...basic, url: 7 } }, 'version'],
  ])('400 if %s is missing', async (_, body, path) => {
    const response = await fixture.admin.post(integrations, body);
    expect(response.status).toBe(400);
    expect(response.body.error.code).toBe('bad_request');
    expect(paths(response)).toContain(path);
  });

  const dashboard = examples.hosted_dashboard;
  const headers = (map: unknown) => ({ provider: 'otlp_custom_headers', url: basic.url, headers: map });
  test.each<[string, object, string]>([
    ['an unknown provider', { ...basic, provider: 'other' }, 'settings.provider'],
    ['text that is not a url', { ...basic, url: 'not a url' }, 'settings.url'],
    ['another scheme', { ...basic, url: 'ftp://example.com' }, 'settings.url'],
    ['credentials in the url', { ...basic, url: 'https://u:hunter2@example.com/' }, 'settings.url'],
    ['a user in the url', { ...basic, url: 'https://u@example.com/' }, 'settings.url'],
    ['placeholders as credentials', { ...basic, url: `https://\${U}:\${P}@example.com/` }, 'settings.url'],
    ['a placeholder before @', { ...basic, url: `\${BASE}@evil.example/` }, 'settings.url'],
    ['a malformed placeholder', { ...basic, url: `https://\${a b}.example.com/` }, 'settings.url'],
    ['a url with a line break', { ...basic, url: 'https://example.com/\r\nX: y' }, 'settings.url'],
    ['a url that is too long', { ...basic, url: `https://example.com/${'a'.repeat(2_048)}` }, 'settings.url'],
    ['a denied address', { ...basic, url: 'http://169.254.169.254/v1/traces' }, 'settings.url'],
    ['a denied address in disguise', { ...basic, url: 'http://0xa9fea9fe/v1/traces' }, 'settings.url'],
    ['null for the url', { ...basic, url: null }, 'settings.url'],
    ['a number for the password', { ...basic, password: 5 }, 'settings.password'],
    ['an empty password', { ...basic, password: '' }, 'settings.password'],
    ['a line break in the password', { ...basic, password: 'a\r\nb' }, 'settings.password'],
    ['a colon in the username', { ...basic, username: 'a:b' }, 'settings.username'],
    [
      'a colon in the instance id',
      { ...dashboard, dashboard_instance_id: '1:2' },
      'settings.dashboard_instance_id',
    ],
    ['a stack name with a slash', { ...dashboard, stack_name: 'evil.example/x' }, 'settings.stack_name'],
    ['an unknown trace_ui_type', { ...basic, trace_ui_type: 'other' }, 'settings.trace_ui_type'],
    [
      'a trace_view_url with a script',
      { ...basic, trace_view_url: 'javascript:alert(1)' },
      'settings.trace_view_url',
    ],
    ['text for is_enabled', { ...basic, is_enabled: 'yes' }, 'settings.is_enabled'],
    ['a line break in the api_key', { ...examples.llm_tracing, api_key: 'a\r\nHost: b' }, 'settings.api_key'],
    ['an api_key beyond ASCII', { ...examples.llm_tracing, api_key: 'schlüssel' }, 'settings.api_key'],
    [
      'a project_name beyond a header',
      { ...examples.llm_tracing, project_name: 'a\nb' },
      'settings.project_name',
    ],
    ['headers that are a list', headers(['a']), 'settings.headers'],
    ['a header name with a space', headers({ 'a b': '1' }), 'settings.headers.a b'],
    ['a header name with a line break', headers({ 'a\r\nb': '1' }), 'settings.headers.a\r\nb'],
    ['an empty header name', headers({ '': '1' }), 'settings.headers.'],
    ['a header value with a line break', headers({ a: '1\r\nb: 2' }), 'settings.headers.a'],
    ['a header value with NUL', headers({ a: '1\u0000' }), 'settings.headers.a'],
    ['a header value beyond ASCII', headers({ a: 'é' }), 'settings.headers.a'],
    ['a space around a header value', headers({ a: ' 1' }), 'settings.headers.a'],
    ['a header value that is not text', headers({ a: 1 }), 'settings.headers.a'],
    ['a header value that is null', headers({ a: null }), 'settings.headers.a'],
    ['a header value of 8 KB', headers({ a: 'x'.repeat(8_192) }), 'settings.headers.a'],
    ['header names equal but for case', headers({ 'x-a': '1', 'X-A': '2' }), 'settings.headers.X-A'],
    [
      '65 headers',
      headers(Object.fromEntries(Array.from({ length: 65 }, (_, i) => [`x-${i}`, '1']))),
      'settings.headers',
    ],
    ...[
      'Host',
      'connection',
      'Keep-Alive',
      'Upgrade',
      'TE',
      'Trailer',
      'Transfer-Encoding',
      'Expect',
      'Proxy-Authorization',
      'Content-Type',
      'content-length',
    ].map((name): [string, object, string] => [
      `the header ${name}`,
      headers({ [name]: '1' }),
      `settings.headers.${name}`,
    ]),
    ...(
      [
        [
          '21 resource attributes',
          Object.fromEntries(Array.from({ length: 21 }, (_, i) => [`k${i}`, 'v'])),
          '',
        ],
        ['a number as a resource attribute', { a: 1 }, '.a'],
        ['a resource attribute with a line break', { a: 'b\nc' }, '.a'],
        ['a resource attribute without a key', { '': 'b' }, '.'],
        ['a list of resource attributes', ['a=b'], ''],
      ] as const
    ).flatMap(([name, resource_attributes, path]) =>
      [basic, examples.llm_tracing].map((settings): [string, object, string] => [
        `${name} of ${settings.provider}`,
        { ...settings, resource_attributes },
        `settings.resource_attributes${path}`,
      ]),
    ),
    ...['two words', 'X-Api-Key', 'Host', ''].map((project_header): [string, object, string] => [
      `"${project_header}" as the header of the project`,
      { ...examples.llm_tracing, project_header },
      'settings.project_header',
    ]),
    ['an empty data source', { ...dashboard, data_source: '' }, 'settings.data_source'],
    [
      'the API key as an additional header',
      { ...examples.llm_tracing, additional_headers: { 'x-api-key': 'secret-x' } },
      'settings.additional_headers.x-api-key',
    ],
    [
      'Authorization if the provider sets it',
      { ...dashboard, additional_headers: { AUTHORIZATION: 'x' } },
      'settings.additional_headers.AUTHORIZATION',
    ],
  ])('422 for %s, and no value in the response', async (_, settings, path) => {
    const response = await fixture.admin.post(integrations, { settings, version: '1' });
    expect(response.status, response.text).toBe(422);
    expect(response.body.error.code).toBe('unprocessable_entity');
    expect(paths(response)).toEqual([path]);
    expect(response.text).not.toMatch(/hunter2|secret-|schlüssel/);
  });

  test.each<[string, object, string]>([
    ['settings null', { settings: null, version: '1' }, 'settings'],
    ['settings a list', { settings: [], version: '1' }, 'settings'],
    ['version null', { settings: basic, version: null }, 'version'],
    ['version a number', { settings: basic, version: 1 }, 'version'],
    ['debug text', { settings: basic, version: '1', debug: 'true' }, 'debug'],
    ['description a number', { settings: basic, version: '1', description: 1 }, 'description'],
    ['half a surrogate pair', { settings: basic, version: '1', description: '\ud800' }, 'description'],
  ])('422 for %s', async (_, body, path) => {
    const response = await fixture.admin.post(integrations, body);
    expect(response.status, response.text).toBe(422);
    expect(paths(response)).toEqual([path]);
  });

  test('create accepts headers that only look odd', async () => {
    const odd = { __proto__: null, 'X-!#$%&': 'a\tb c', empty: '', 'x-api-key': 'k' };
    const created = await create({
      provider: 'otlp_custom_headers',
      url: basic.url,
      headers: JSON.parse('{"__proto__": "p", "X-!#$%&": "a\\tb c", "empty": "", "x-api-key": "k"}'),
    });
    expect(Object.keys(created.settings.headers).sort()).toEqual([
      'X-!#$%&',
      '__proto__',
      'empty',
      'x-api-key',
    ]);
    expect(created.settings.headers['X-!#$%&']).toBe(odd['X-!#$%&']);
  });

  test.each([
    [`https://\${REGION}.example.com/v1/traces`, 'https://eu-1.example.com/v1/traces'],
    [`\${COLLECTOR}/v1/traces`, 'https://collector.example.com/v1/traces'],
    [`https://\${UNSET}.example.com/`, null],
    [`https://example.com/?leak=\${PATH}`, null],
    [`https://example.com/?leak=\${ENCRYPTION_KEY}`, null],
    [`\${WITH_CREDENTIALS}/v1/traces`, null],
  ])('resolved_url of %s is %s', async (url, resolved) => {
    const created = await create({ ...basic, url });
    expect(created.settings.url).toBe(url);
    expect(created.resolved_url).toBe(resolved);
    expect(JSON.stringify(created)).not.toContain(process.env.PATH);
    expect(JSON.stringify(created)).not.toContain('hunter2');
  });

  test('the stored settings contain no credential in clear text, and a value cannot be moved to another row', async () => {
    const created = await Promise.all(Object.values(examples).map((settings) => create(settings)));
    const { rows } = await fixture.db.run((reader) =>
      sql<{ row: string }>`select i::text as row from observability_integrations i
        union all select a::text from audits a union all select k::text from idempotency_keys k`.execute(
        reader,
      ),
    );
    expect(rows.length).toBeGreaterThan(8);
    for (const { row } of rows) expect(row).not.toMatch(/secret-|example\.com/);
    await fixture.db.tx((tx) =>
      sql`update observability_integrations set settings =
        (select settings from observability_integrations where id = ${created[1].id}) where id = ${created[0].id}`.execute(
        tx,
      ),
    );
    const moved = await fixture.admin.get(`${integrations}/${created[0].id}`);
    expect(moved.status).toBe(500);
    expect(moved.text).not.toContain('secret-');
    await fixture.admin.delete(`${integrations}/${created[0].id}`);
  });

  test('the audit log records changes with fingerprints in the place of secrets', async () => {
    const { id } = await create(dashboard);
    await fixture.admin.put(`${integrations}/${id}`, { settings: examples.llm_tracing, description: 'new' });
    await fixture.admin.delete(`${integrations}/${id}`);
    const [created] = await audits('integration.create', id);
    const sealed = expect.stringMatching(/^sha256:[0-9a-f]{12}$/);
    expect(created!.details).toMatchObject({
      version: '1',
      settings: {
        provider: 'hosted_dashboard',
        is_enabled: true,
        url: sealed,
        api_token: sealed,
        dashboard_instance_id: '123456',
        additional_headers: { 'X-Scope': sealed },
        resource_attributes: { 'deployment.environment': 'staging' },
        data_source: 'tempo-1',
      },
    });
    const [updated] = await audits('integration.update', id);
    expect(updated!.details).toMatchObject({ description: 'new', settings: { api_key: sealed } });
    expect(await audits('integration.delete', id)).toHaveLength(1);
  });

  test('the first read of credentials by a principal in an hour is audited, once even if reads come at the same time', async () => {
    const { id } = await create();
    const path = `${integrations}/${id}`;
    const [reader, another] = [fixture.as('reader', 'admin'), fixture.as('another', 'admin')];
    await Promise.all([...Array(6)].map((_, i) => reader.get(i % 2 ? path : integrations)));
    await another.get(integrations);
    const by = async () => (await audits('integration.credentials_read', id)).map((row) => row.principal_id);
    expect(await by()).toEqual(['reader', 'another']);
    await fixture.db.tx((tx) =>
      sql`update observability_credential_reads set read_at = read_at - interval '1 hour'`.execute(tx),
    );
    await reader.put(path, { settings: basic });
    expect(await by()).toEqual(['reader', 'another']);
    await reader.patch(path, { debug: true });
    expect(await by()).toEqual(['reader', 'another', 'reader']);
    await reader.get(path);
    expect(await by()).toEqual(['reader', 'another', 'reader']);
  });

  test('PUT keeps what is omitted, replaces settings whole, and clears what is null', async () => {
    const { id } = await create(basic, { description: 'd', is_system: true, debug: true });
    const path = `${integrations}/${id}`;
    const { username, password, provider, url } = basic;

    const untouched = await fixture.admin.put(path, {});
    expect(untouched.status).toBe(200);
    expect(untouched.body).toMatchObject({ description: 'd', is_system: true, debug: true, version: '1' });
    expect(untouched.body.settings).toEqual({ ...basic, is_enabled: true });

    await fixture.admin.patch(path, { is_enabled: false });
    const replaced = await fixture.admin.put(path, { settings: { provider, url, username, password } });
    expect(replaced.body.settings).toEqual({ provider, url, username, password, is_enabled: false });

    const changed = await fixture.admin.put(path, {
      settings: { ...examples.llm_tracing, is_enabled: true },
      version: '2',
      description: null,
      debug: false,
      is_system: false,
      unknown: 1,
    });
    expect(changed.body).toMatchObject({ version: '2', description: null, debug: false, is_system: true });
    expect(changed.body.settings).toEqual({ ...examples.llm_tracing, is_enabled: true });
    expect(changed.body.updated_at >= replaced.body.updated_at).toBe(true);

    expect((await fixture.admin.put(path, { version: null })).body.version).toBeNull();
    const given = (await fixture.admin.get(path)).body;
    expect(given).toMatchObject({ version: null, settings: changed.body.settings });
    expect((await fixture.admin.put(path, given)).status).toBe(200);
  });

  test('PUT accepts what GET returned', async () => {
    for (const settings of [...Object.values(examples), { ...basic, url: `https://\${NOPE}.example.com` }]) {
      const created = await create(settings);
      const given = (await fixture.admin.get(`${integrations}/${created.id}`)).body;
      const back = await fixture.admin.put(`${integrations}/${created.id}`, given);
      expect(back.status, back.text).toBe(200);
      expect({ ...back.body, updated_at: null }).toEqual({ ...given, updated_at: null });
    }
  });

  test.each([
    ['PUT', { settings: null }, 422],
    ['PUT', { debug: null }, 422],
    ['PUT', { settings: { provider: 'otlp_basic_auth', url: basic.url } }, 400],
    ['PUT', { settings: {} }, 400],
    ['PUT', [], 422],
    ['PATCH', { is_enabled: null }, 422],
    ['PATCH', { debug: null }, 422],
    ['PATCH', { is_enabled: 'x' }, 422],
    ['PATCH', { is_enabled: 1, debug: 0 }, 422],
    ['PATCH', null, 422],
  ])('%s with %j returns %i and changes nothing', async (method, body, status) => {
    const { id } = await create();
    const before = await fixture.admin.get(`${integrations}/${id}`);
    const response = await fixture.admin.raw(method, `${integrations}/${id}`, JSON.stringify(body), {
      headers: { 'content-type': 'application/json' },
    });
    expect(response.status, response.text).toBe(status);
    const after = await fixture.admin.get(`${integrations}/${id}`);
    expect(after.body).toEqual(before.body);
    expect(after.headers.get('etag')).toBe('"1"');
  });

  test('PATCH switches export and debug independently', async () => {
    const { id } = await create();
    const path = `${integrations}/${id}`;
    expect((await fixture.admin.patch(path, { is_enabled: false })).body.settings).toEqual({
      ...basic,
      is_enabled: false,
    });
    const both = await fixture.admin.patch(path, {
      debug: true,
      settings: examples.llm_tracing,
      version: '9',
    });
    expect(both.body).toMatchObject({ debug: true, version: '1' });
    expect(both.body.settings).toEqual({ ...basic, is_enabled: false });
    expect((await fixture.admin.patch(path, { is_enabled: true })).body.settings.is_enabled).toBe(true);
  });

  test('If-Match guards PUT, PATCH and DELETE, after the checks of the body', async () => {
    const { id } = await create();
    const path = `${integrations}/${id}`;
    const stale = { headers: { 'if-match': '"7"' } };
    expect((await fixture.admin.put(path, {}, stale)).status).toBe(412);
    expect((await fixture.admin.patch(path, { debug: true }, stale)).status).toBe(412);
    expect((await fixture.admin.delete(path, stale)).status).toBe(412);
    expect((await fixture.admin.put(path, { version: 1 }, stale)).status).toBe(422);
    const put = await fixture.admin.put(path, { version: '2' }, { headers: { 'if-match': '"1"' } });
    expect([put.status, put.headers.get('etag')]).toEqual([200, '"2"']);
    expect((await fixture.admin.patch(path, {}, { headers: { 'if-match': '"1"' } })).status).toBe(412);
    await fixture.admin.post(`${path}/scopes`, { scope: 'agent', agent_id: await fixture.agent() });
    expect((await fixture.admin.get(path)).headers.get('etag')).toBe('"2"');
    expect((await fixture.admin.delete(path, { headers: { 'if-match': '"2"' } })).status).toBe(204);
  });

  test('one Idempotency-Key creates one integration', async () => {
    const headers = { 'idempotency-key': newId() };
    const body = { settings: basic, version: 'once' };
    const responses = await Promise.all(
      [1, 2, 3].map(() => fixture.admin.post(integrations, body, { headers })),
    );
    expect(responses.map(({ status }) => status)).toEqual([201, 201, 201]);
    expect(new Set(responses.map((response) => response.text)).size).toBe(1);
    expect(responses[0]!.headers.get('etag')).toBe('"1"');
    const other = await fixture.admin.post(integrations, { ...body, version: 'other' }, { headers });
    expect(other.status).toBe(422);
  });

  test('DELETE responds with 204 without a body, then 404', async () => {
    const { id } = await create();
    const first = await fixture.admin.delete(`${integrations}/${id}`);
    expect([first.status, first.text]).toEqual([204, '']);
    expect((await fixture.admin.delete(`${integrations}/${id}`)).status).toBe(404);
    expect((await fixture.admin.get(`${integrations}/${id}`)).status).toBe(404);
    expect((await fixture.admin.get(`${integrations}/${id}/scopes`)).status).toBe(404);
  });

  test.each([newId(), 'nonsense', '%00', "' or 1=1"])(
    'the unknown id %s is 404, before the body is checked',
    async (id) => {
      const path = `${integrations}/${encodeURIComponent(id)}`;
      expect((await fixture.admin.get(path)).status).toBe(404);
      expect((await fixture.admin.put(path, { version: 1 })).status).toBe(404);
      expect((await fixture.admin.patch(path, 'x')).status).toBe(404);
      expect((await fixture.admin.delete(path)).status).toBe(404);
      expect((await fixture.admin.get(`${path}/health`)).status).toBe(404);
      expect((await fixture.admin.post(`${path}/test`)).status).toBe(404);
      expect((await fixture.admin.post(`${path}/scopes`, {})).status).toBe(404);
      expect((await fixture.admin.delete(`${path}/scopes`)).status).toBe(404);
    },
  );

  test('every operation requires the role admin', async () => {
    const operations = fixture.observability.routes!.filter(({ bases }) => bases[0] !== '/app/api');
    expect(operations).toHaveLength(12);
    for (const { method, path } of operations) {
      const at = path.replace('{integration_id}', newId());
      for (const role of ['member', 'builder'] as const) {
        expect((await fixture.as(role, role).raw(method, at)).status).toBe(403);
      }
      expect((await fixture.withoutKey.raw(method, at)).status).toBe(401);
    }
  });

  test('the list is an array, newest first, filtered by provider and agent', async () => {
    const agent = await fixture.agent();
    const first = await create(examples.llm_tracing);
    const own = await create(examples.llm_tracing);
    const last = await create(basic);
    await fixture.admin.post(`${integrations}/${own.id}/scopes`, { scope: 'agent', agent_id: agent });
    await fixture.admin.delete(`${integrations}/${own.id}/scopes?scope=global`);
    await fixture.admin.patch(`${integrations}/${first.id}`, { is_enabled: false });
    const mine = [first.id, own.id, last.id];
    const listed = async (query: string) => {
      const response = await fixture.admin.get(`${integrations}${query}`);
      expect(response.status, response.text).toBe(200);
      return response.body.map(({ id }: { id: string }) => id).filter((id: string) => mine.includes(id));
    };
    expect(await listed('')).toEqual([last.id, own.id, first.id]);
    expect(await listed('?provider=llm_tracing')).toEqual([own.id, first.id]);
    expect(await listed(`?agent_id=${agent}`)).toEqual([last.id, own.id, first.id]);
    expect(await listed(`?agent_id=${agent.toUpperCase()}&provider=llm_tracing`)).toEqual([own.id, first.id]);
    for (const unknown of [newId(), 'nonsense', '']) {
      expect(await listed(`?agent_id=${unknown}`)).toEqual([last.id, first.id]);
    }
    for (const query of [
      '?provider=other',
      '?provider=',
      '?provider=llm_tracing&provider=llm_tracing',
      '?agent_id=a&agent_id=b',
    ]) {
      expect((await fixture.admin.get(`${integrations}${query}`)).status, query).toBe(422);
    }
  });

  test('/api/v1 serves the same', async () => {
    const { id } = await create();
    const response = await fetch(`${fixture.origin}/api/v1${integrations}/${id}`, {
      headers: { authorization: 'Bearer admin:admin' },
    });
    expect(((await response.json()) as { id: string }).id).toBe(id);
  });

  test('the document names the schemas as the description does, for each provider', () => {
    const { schemas } = fixture.document.components;
    expect(Object.keys(schemas)).toEqual(
      expect.arrayContaining([
        'PublicObservabilityIntegration',
        'ObservabilityScope',
        'HostedDashboardSettings',
        'HostedDashboardSettingsInput',
      ]),
    );
    expect(schemas.OtlpBasicAuthSettingsInput.required).toEqual(['provider', 'url', 'username', 'password']);
    expect(schemas.PublicObservabilityIntegration.required).toContain('resolved_url');
    const post = fixture.document.paths[integrations].post;
    expect(Object.keys(post.responses)).toEqual(
      expect.arrayContaining(['201', '400', '401', '403', '422', '500', '503']),
    );
  });
});
