import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newId } from '../../src/lib/ids.ts';
import { databases } from '../harness/database.ts';
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

describe.each(process.env.EVERY_DATABASE ? databases : ['postgres' as const])(
  'integrations on %s',
  (kind) => {
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

    const { llm_tracing: tracing, hosted_dashboard: dashboard } = examples;
    const headers = (map: unknown) => ({ provider: 'otlp_custom_headers', url: basic.url, headers: map });
    const times = <T>(n: number, key: string, value: T) =>
      Object.fromEntries(Array.from({ length: n }, (_, i) => [`${key}${i}`, value]));
    const ofProject = (name: string) => ({ ...tracing, project_header: name });
    const urls = [
      'not a url',
      'ftp://example.com',
      'https://u:hunter2@example.com/',
      'https://u@example.com/',
      `https://\${U}:\${P}@example.com/`,
      `\${BASE}@evil.example/`,
      `https://\${a b}.example.com/`,
      'https://example.com/\r\nX: y',
      `https://example.com/${'a'.repeat(2_048)}`,
      'http://169.254.169.254/v1/traces',
      'http://0xa9fea9fe/v1/traces',
    ];
    // What a header may not be: with a line break, NUL, a space around it, beyond ASCII, or too long.
    const headerValues = ['1\r\nb: 2', '1\u0000', ' 1', 'é', 1, null, 'x'.repeat(8_192)];
    // These are of the connection.
    const reserved =
      'Host connection Keep-Alive Upgrade TE Trailer Transfer-Encoding Expect Proxy-Authorization Content-Type content-length';
    const attributes: [unknown, string][] = [
      [times(21, 'k', 'v'), ''],
      [{ a: 1 }, '.a'],
      [{ a: 'b\nc' }, '.a'],
      [{ '': 'b' }, '.'],
      [['a=b'], ''],
    ];
    test.each<[path: string, settings: object]>([
      ['provider', { ...basic, provider: 'other' }],
      ...urls.map((url): [string, object] => ['url', { ...basic, url }]),
      ...['a\r\nb', ''].map((password): [string, object] => ['password', { ...basic, password }]),
      ['username', { ...basic, username: 'a:b' }],
      ['dashboard_instance_id', { ...dashboard, dashboard_instance_id: '1:2' }],
      ['stack_name', { ...dashboard, stack_name: 'evil.example/x' }],
      ['data_source', { ...dashboard, data_source: '' }],
      ['trace_view_url', { ...basic, trace_view_url: 'javascript:alert(1)' }],
      ['api_key', { ...tracing, api_key: 'a\r\nHost: b' }],
      ['api_key', { ...tracing, api_key: 'schlüssel' }],
      ['project_name', { ...tracing, project_name: 'a\nb' }],
      ...['two words', 'X-Api-Key', 'Host', ''].map((name): [string, object] => [
        'project_header',
        ofProject(name),
      ]),
      ['headers', headers(['a'])],
      ['headers', headers(times(65, 'x-', '1'))],
      ...['a b', 'a\r\nb', '', ...reserved.split(' ')].map((name): [string, object] => [
        `headers.${name}`,
        headers({ [name]: '1' }),
      ]),
      ...headerValues.map((value): [string, object] => ['headers.a', headers({ a: value })]),
      ['headers.X-A', headers({ 'x-a': '1', 'X-A': '2' })],
      ['additional_headers.x-api-key', { ...tracing, additional_headers: { 'x-api-key': 'secret-x' } }],
      ['additional_headers.AUTHORIZATION', { ...dashboard, additional_headers: { AUTHORIZATION: 'x' } }],
      ...attributes.flatMap(([resource_attributes, path]) =>
        [basic, tracing].map((settings): [string, object] => [
          `resource_attributes${path}`,
          { ...settings, resource_attributes },
        ]),
      ),
    ])('422 naming settings.%s for %j, and no value in the response', async (path, settings) => {
      const response = await fixture.admin.post(integrations, { settings, version: '1' });
      expect(response.status, response.text).toBe(422);
      expect(response.body.error.code).toBe('unprocessable_entity');
      expect(paths(response)).toEqual([`settings.${path}`]);
      expect(response.text).not.toMatch(/hunter2|secret-|schlüssel/);
    });

    test('create accepts headers that only look odd', async () => {
      const created = await create({
        provider: 'otlp_custom_headers',
        url: basic.url,
        headers: JSON.parse('{"__proto__": "p", "X-!#$%&": "a\\tb c", "empty": "", "x-api-key": "k"}'),
      });
      const names = Object.keys(created.settings.headers);
      expect(names.sort()).toEqual(['X-!#$%&', '__proto__', 'empty', 'x-api-key']);
      expect(created.settings.headers['X-!#$%&']).toBe('a\tb c');
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
      await fixture.admin.put(`${integrations}/${id}`, {
        settings: examples.llm_tracing,
        description: 'new',
      });
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
      const by = async () =>
        (await audits('integration.credentials_read', id)).map((row) => row.principal_id);
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
      for (const settings of [
        ...Object.values(examples),
        { ...basic, url: `https://\${NOPE}.example.com` },
      ]) {
        const created = await create(settings);
        const given = (await fixture.admin.get(`${integrations}/${created.id}`)).body;
        const back = await fixture.admin.put(`${integrations}/${created.id}`, given);
        expect(back.status, back.text).toBe(200);
        expect({ ...back.body, updated_at: null }).toEqual({ ...given, updated_at: null });
      }
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
      expect(await listed(`?agent_id=${agent.toUpperCase()}&provider=llm_tracing`)).toEqual([
        own.id,
        first.id,
      ]);
      for (const unknown of [newId(), 'nonsense', '']) {
        expect(await listed(`?agent_id=${unknown}`)).toEqual([last.id, first.id]);
      }
    });

    test('the document names the schemas as the description does, for each provider', () => {
      const { schemas } = fixture.document.components;
      for (const name of ['PublicObservabilityIntegration', 'ObservabilityScope', 'HostedDashboardSettings'])
        expect(schemas).toHaveProperty(name);
      expect(schemas.OtlpBasicAuthSettingsInput.required).toEqual([
        'provider',
        'url',
        'username',
        'password',
      ]);
    });
  },
);
