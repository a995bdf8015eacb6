import { describe, expect, inject, test } from 'vitest';
import { parse } from 'yaml';
import { foreignPostgres } from '../harness/foreign.ts';
import { admitted, arrive } from '../harness/people.ts';
import { dropDatabase } from '../harness/postgres.ts';
import { startToolServer } from '../harness/tool-server.ts';
import {
  expectError,
  faults,
  newAgent,
  newKey,
  newSchedule,
  ok,
  setSettings,
  withPlatform,
} from './fixture.ts';
import {
  apply,
  audits,
  changed,
  exported,
  nowhere,
  plan,
  prepare,
  salesModel,
  secret,
} from './workspace-fixture.ts';

// biome-ignore lint/suspicious/noExplicitAny: JSON, read field by field
type Json = any;

const fieldsOf = ({ changes }: Json, name: string): Json[] =>
  changes.find((change: Json) => change.name === name).fields;
const worker = (name: string, more: object = {}) => ({ name, mode: 'worker', ...more });
const house = (more: object = {}) => ({
  name: 'House',
  kind: 'openai_compatible',
  model: 'm',
  base_url: `${nowhere}/v1`,
  ...more,
});

describe('a document of the workspace', () =>
  withPlatform('postgres', (at) => {
    const refused = async (document: unknown, more: object = {}): Promise<string[]> => {
      const response = await plan(at(), document, more);
      expectError(response, 422);
      expectError(await apply(at(), document, more), 422);
      return response.body.error.details.map(({ path, message }: Json) => `${path}: ${message}`);
    };

    test('that cannot be read is a 422, and none at all a 400', async () => {
      expectError(await at().app.post('/workspace/plan', {}), 400);
      expectError(await at().app.post('/workspace/apply', { prune: true }), 400);
      for (const [document, message] of [
        [null, /^document: must be an object/],
        ['', /^document: is empty/],
        ['a: [', /^document: is neither YAML nor JSON/],
        ['{"version": 1', /^document: is neither YAML nor JSON/],
        ['version: 1\n---\nversion: 1\n', /^document: has several YAML documents/],
        ['version: 1\nsettings: &a {}\nbranding: *a\n', /^document: has aliases/],
        ['version: 1\nversion: 1\n', /^document: is neither YAML nor JSON \(line 2\)/],
        [`version: 1\nx: ${'x'.repeat(5 * 1_048_576)}`, /^document: must have at most 5 MB/],
        [`version: 1\nx: ${'['.repeat(300)}${']'.repeat(300)}`, /^document: nests deeper/],
        [`{"version": 1, "x": ${'['.repeat(300)}${']'.repeat(300)}}`, /^document: nests deeper/],
        ['agents: []', /^document\.version: is required/],
        [{ version: 2 }, /^document\.version: must be 1/],
      ] as const) {
        expect(await refused(document)).toEqual([expect.stringMatching(message)]);
      }
      expectError(await at().app.get('/workspace?format=xml'), 422);
      expect((await plan(at(), 'version: 1 # nothing else')).body.changes).toEqual([]);
    });

    test('has every fault reported at once, already by the plan', async () => {
      const paths = faults(
        await plan(at(), {
          version: 1,
          colour: 'red',
          settings: { MAX_SCHEDULES_PER_AGENT: 'many', NO_SUCH: 1 },
          branding: { primary_color: 'red' },
          llm_configurations: [house({ api_keys: 'x' }), house({ name: 'B', kind: 'nonsense' }), 'text'],
          default_llm: 'Nobody',
          tool_servers: [{ name: 'T', url: 'x', tools: { pay: 'ask' }, oauth: { clientid: 'x' } }],
          data_connections: [{ name: 'C', engine: 'oracle', configuration: {} }],
          semantic_data_models: [{ name: 'S', data_connection: 'nowhere', semantic_model: {} }],
          agents: [
            worker('A', {
              llm: 'Nobody',
              llm_id: 'x',
              tool_servers: ['Nobody'],
              schedules: [
                { key: 'a', cron_expression: 'nonsense' },
                { key: 'b', cron_expression: '0 9 * * *', timezone: 'Nowhere/City' },
                { key: 'c', cron_expression: '0 9 * * *', payload: { x: 'x'.repeat(110_000) } },
                { cron_expression: '0 9 * * *' },
              ],
            }),
            worker('A'),
            { name: 'C', mode: 'conversational', schedules: [{ key: 'k', cron_expression: '0 9 * * *' }] },
          ],
          integrations: [
            { name: 'I', version: '1', settings: { provider: 'llm_tracing' }, scopes: ['Nobody'] },
          ],
          role_mappings: [{ claim: 'groups', value: 'x', role: 'king' }],
          document_intelligence: { provider: 'azure', settings: {} },
        }),
      );
      for (const path of [
        'colour',
        'settings.MAX_SCHEDULES_PER_AGENT',
        'settings.NO_SUCH',
        'branding.primary_color',
        'llm_configurations[0].api_keys',
        'llm_configurations[1].kind',
        'llm_configurations[2]',
        'default_llm',
        'tool_servers[0].url',
        'tool_servers[0].tools.pay',
        'tool_servers[0].oauth.clientid',
        'data_connections[0].engine',
        'semantic_data_models[0].data_connection',
        'agents[0].llm_id',
        'agents[0].schedules[0].cron_expression',
        'agents[0].schedules[1].timezone',
        'agents[0].schedules[2].payload',
        'agents[0].schedules[3].key',
        'agents[1]',
        'agents[2].schedules[0]',
        'integrations[0].settings.url',
        'role_mappings[0].role',
        'document_intelligence.settings.endpoint',
      ]) {
        expect(paths).toContain(`document.${path}`);
      }
      const references = await refused({
        version: 1,
        agents: [
          worker('A', { llm: 'Nobody', fallback_llms: ['Built-in mock', 'None'], tool_servers: ['Nobody'] }),
        ],
        integrations: [
          {
            name: 'I',
            version: '1',
            settings: { provider: 'otlp_custom_headers', url: nowhere },
            scopes: ['Nobody'],
          },
        ],
      });
      expect(references.map((one) => one.split(':')[0])).toEqual([
        'document.agents[0].llm',
        'document.agents[0].fallback_llms[1]',
        'document.agents[0].tool_servers[0]',
        'document.integrations[0].scopes[0]',
      ]);
    });

    test('with a limit exceeded is refused by the plan, and the change counts as a whole', async () => {
      prepare(at());
      const schedules = (n: number) =>
        Array.from({ length: n }, (_, i) => ({ key: `k${i}`, cron_expression: '0 9 * * *' }));
      expect(await refused({ version: 1, agents: [worker('Busy', { schedules: schedules(22) })] })).toEqual([
        expect.stringMatching(/^document\.agents\[0\]\.schedules\[\d+\]: The agent has 20 schedules/),
        expect.stringMatching(/^document\.agents\[0\]\.schedules\[\d+\]: The agent has 20 schedules/),
      ]);
      const raised = { settings: { MAX_SCHEDULES_PER_AGENT: 22, MAX_DATA_CONNECTIONS: 1 } };
      const connection = (name: string) => ({
        name,
        engine: 'sqlite',
        configuration: { path: name === 'B' ? 'other.db' : 'shop.db' },
      });
      await ok(
        apply(at(), {
          version: 1,
          ...raised,
          agents: [worker('Busy', { schedules: schedules(22) })],
          data_connections: [connection('A')],
        }),
      );
      const both = { version: 1, data_connections: [connection('A'), connection('B')] };
      expect(await refused(both)).toEqual([
        expect.stringMatching(/^document\.data_connections\[1\]: There are 1 data connections, the maximum/),
      ]);
      const model = (data_connection: string) => ({ name: 'M', data_connection, semantic_model: salesModel });
      await ok(apply(at(), { version: 1, semantic_data_models: [model('A')] }));
      const swapped = { version: 1, data_connections: [connection('B')], semantic_data_models: [model('B')] };
      expect(changed(await ok(apply(at(), swapped, { prune: true })))).toEqual([
        'delete data_connection A',
        'create data_connection B',
        'update semantic_data_model M',
      ]);
      await setSettings(at(), { MAX_SCHEDULES_PER_AGENT: 20, MAX_DATA_CONNECTIONS: 100 });
    });

    test('deletes only with prune, only within the kinds that it names, and never what is used', async () => {
      const fallback = { name: 'Spare', kind: 'mock' };
      await ok(
        apply(at(), {
          version: 1,
          llm_configurations: [fallback, { name: 'Odd', kind: 'mock' }],
          tool_servers: [{ name: 'Old', prefix: 'ledger', url: `${nowhere}/mcp` }],
          agents: [
            worker('User', {
              llm: 'Spare',
              tool_servers: ['Old'],
              schedules: [{ key: 'k', cron_expression: '0 9 * * *' }],
            }),
          ],
        }),
      );
      const without = { version: 1, llm_configurations: [], tool_servers: [] };
      expect(changed(await ok(plan(at(), without)))).toEqual([]);
      expect(await refused(without, { prune: true })).toEqual([
        'document.llm_configurations: "Spare" cannot be deleted: agent "User" uses it',
        'document.tool_servers: "Old" cannot be deleted: agent "User" uses it',
      ]);
      expect(
        await refused(
          { version: 1, llm_configurations: [], agents: [worker('User', { llm: 'Spare' })] },
          { prune: true },
        ),
      ).toEqual(
        expect.arrayContaining([
          'document.agents[0].llm: "Spare" is not in the document, and prune deletes it',
        ]),
      );
      // A rename is a new thing; it may take the prefix of the old one.
      const renamed = {
        version: 1,
        llm_configurations: [],
        tool_servers: [{ name: 'New', prefix: 'ledger', url: `${nowhere}/mcp` }],
        agents: [worker('User', { tool_servers: ['New'] })],
      };
      const others = (await ok(at().api.get('/agents'))).data.map(({ name }: Json) => name);
      expect(others).toContain('Busy');
      const done = await ok(apply(at(), renamed, { prune: true }));
      expect(changed(done)).toEqual([
        'delete llm_configuration Odd',
        'delete llm_configuration Spare',
        'create tool_server New',
        'delete tool_server Old',
        'delete agent Busy',
        'update agent User',
        ...Array.from({ length: 22 }, (_, i) => `delete schedule Busy/k${i}`).sort(),
      ]);
      expect(done.changes.map(({ name }: Json) => name)).not.toContain('Built-in mock');
      expect((await ok(at().api.get('/llm-configurations'))).data.map(({ name }: Json) => name)).toEqual([
        'Built-in mock',
      ]);
      const [user] = (await ok(at().api.get('/agents'))).data;
      expect((await ok(at().api.get(`/agents/${user.id}/schedules`))).data).toHaveLength(1);
    });

    test('two of one name are refused, in the document and in the workspace', async () => {
      expect(await refused({ version: 1, agents: [worker('Twin'), worker('Twin')] })).toEqual([
        'document.agents[1]: "Twin" is in the document twice',
      ]);
      const twins = [await newAgent(at(), { name: 'Twin' }), await newAgent(at(), { name: 'Twin' })];
      const there = await at().app.get('/workspace');
      expectError(there, 422, /agent with the name "Twin"/);
      expect((await refused({ version: 1, agents: [] })).join()).toContain('"Twin"');
      await ok(plan(at(), { version: 1, role_mappings: [] }));
      for (const { id } of twins) await ok(at().api.delete(`/agents/${id}`), 204);
      await exported(at());
    });

    describe('secrets', () => {
      const stored = async () => {
        const [row] = await at().sql`select settings from llm_configurations where name = 'House'`;
        return row.settings;
      };

      test('are given for what is new, stay, and change only with another value', async () => {
        const document = { version: 1, llm_configurations: [house({ api_key: secret('KEY') })] };
        expect((await ok(plan(at(), document))).secrets_needed).toEqual(['KEY']);
        expect(faults(await apply(at(), document, { secrets: { OTHER: 'x' } }))).toEqual([
          'document.llm_configurations[0].api_key',
        ]);
        await ok(apply(at(), document, { secrets: { KEY: 'key-1', OTHER: 'unused' } }));
        const first = await stored();
        expect((await ok(plan(at(), document))).secrets_needed).toEqual([]);
        for (const given of [{}, { KEY: 'key-1' }]) {
          expect(changed(await ok(apply(at(), document, { secrets: given })))).toEqual([]);
        }
        expect(await stored()).toBe(first);
        const { fingerprint } = await ok(plan(at(), document));
        const changing = await ok(apply(at(), document, { secrets: { KEY: 'key-2' }, fingerprint }));
        expect(fieldsOf(changing, 'House')).toEqual([
          { path: 'api_key', from: '(secret)', to: secret('KEY') },
        ]);
        expect(await stored()).not.toBe(first);
        expect(changed(await ok(apply(at(), document, { secrets: { KEY: 'key-2' } })))).toEqual([]);
      });

      test('of a literal are used and never shown', async () => {
        const literal = 'literal-secret-0123456789';
        const document = { version: 1, llm_configurations: [house({ api_key: literal, temperature: 3 })] };
        expect(JSON.stringify((await plan(at(), document)).body)).not.toContain(literal);
        const good = { version: 1, llm_configurations: [house({ api_key: literal })] };
        const planned = await plan(at(), good);
        expect(fieldsOf(planned.body, 'House')).toEqual([
          { path: 'api_key', from: '(secret)', to: '(secret)' },
        ]);
        const applied = await ok(apply(at(), good));
        const log = await at().sql`select details::text as text from audits`;
        expect(JSON.stringify([planned.body, applied, log, await exported(at())])).not.toContain(literal);
        expect(changed(await ok(apply(at(), good)))).toEqual([]);
        // Left out, it goes.
        expect(
          fieldsOf(await ok(apply(at(), { version: 1, llm_configurations: [house()] })), 'House'),
        ).toEqual([{ path: 'api_key', from: '(secret)', to: null }]);
      });

      test('are never sent to another place than the one they were given for', async () => {
        const document = (more: object = {}) => ({
          version: 1,
          llm_configurations: [house({ api_key: secret('KEY'), ...more })],
        });
        await ok(apply(at(), document(), { secrets: { KEY: 'key-1' } }));
        const moved = document({ base_url: 'http://127.0.0.1:3/v1' });
        expect((await ok(plan(at(), moved))).secrets_needed).toEqual(['KEY']);
        expect(faults(await apply(at(), moved, { secrets: {} }))).toEqual([
          'document.llm_configurations[0].api_key',
        ]);
        await ok(apply(at(), moved, { secrets: { KEY: 'key-1' } }));
      });

      test('are referred to only where they are secret, by names of letters, digits and _', async () => {
        const text = await refused({
          version: 1,
          llm_configurations: [house({ api_key: secret('MY-KEY') })],
          agents: [
            worker('A', { instructions: `Say ${secret('WORD')}.`, result_schema: { title: secret('X') } }),
          ],
        });
        expect(text.map((one) => one.split(':')[0])).toEqual([
          'document.llm_configurations[0].api_key',
          'document.agents[0].instructions',
          'document.agents[0].result_schema.title',
        ]);
        const { id } = await newAgent(at(), {
          name: 'Quoting',
          instructions: `${secret('A')} $${secret('B')} \${x}`,
        });
        const document = parse(await exported(at()));
        const quoting = document.agents.find(({ name }: Json) => name === 'Quoting');
        expect(quoting.instructions).toBe(`$${secret('A')} $$${secret('B')} \${x}`);
        expect(changed(await ok(apply(at(), document, { prune: true, secrets: {} })))).toEqual([]);
        await ok(at().api.delete(`/agents/${id}`), 204);
      });
    });

    test('a trigger that is only paused or resumed keeps its definition, and another secret is a rotation', async () => {
      const document = (more: object, key = 'a secret of 16 characters') => ({
        version: 1,
        agents: [
          worker('Triggered', {
            triggers: [{ name: 'T', kind: 'webhook', settings: { scheme: 'github', secret: key }, ...more }],
          }),
        ],
      });
      await ok(apply(at(), document({})));
      await ok(apply(at(), document({ enabled: false })));
      await ok(apply(at(), document({ enabled: true, filter: 'true' })));
      await ok(apply(at(), document({ enabled: true, filter: 'true' }, 'another secret of 16')));
      const actions = await at()
        .sql`select d.action from trigger_definitions d join triggers t on t.id = d.trigger_id
        join agents a on a.id = t.agent_id where a.name = 'Triggered' order by d.revision`;
      expect(actions.map(({ action }: Json) => action)).toEqual([
        'create',
        'pause',
        'update',
        'resume',
        'rotate_secret',
        'update',
      ]);
      const [{ id }] = await at().sql`select id from agents where name = 'Triggered'`;
      await ok(at().api.delete(`/agents/${id}`), 204);
    });

    describe('schedules', () => {
      test('are matched by key, and keep the key they were given before when others go', async () => {
        const { id } = await newAgent(at(), { name: 'Keyed' });
        await newSchedule(at(), id);
        await newSchedule(at(), id, { work_item_name: 'report' });
        await newSchedule(at(), id, { work_item_name: 'report', metadata: { workspace_key: 7 } });
        await newSchedule(at(), id, { message: 'four' });
        const text = await exported(at());
        const agent = parse(text).agents.find(({ name }: Json) => name === 'Keyed');
        expect(agent.schedules.map(({ key }: Json) => key)).toEqual([
          'report',
          'report-2',
          'schedule-1',
          'schedule-4',
        ]);
        expect(agent.schedules[1].metadata).toEqual({ workspace_key: 7 });
        const rows = () =>
          at().sql`select id, metadata, next_run_at from schedules where agent_id = ${id} order by id`;
        const before = await rows();
        const rest = { version: 1, agents: [{ ...agent, schedules: [agent.schedules[3]] }] };
        rest.agents[0]!.schedules[0].enabled = true;
        const done = await ok(apply(at(), rest, { prune: false }));
        expect(changed(done)).toEqual([]);
        const pruned = await ok(
          apply(
            at(),
            {
              version: 1,
              llm_configurations: undefined,
              agents: parse(text).agents.map((one: Json) => (one.name === 'Keyed' ? rest.agents[0] : one)),
            },
            { prune: true },
          ),
        );
        expect(changed(pruned)).toEqual([
          'delete schedule Keyed/report',
          'delete schedule Keyed/report-2',
          'delete schedule Keyed/schedule-1',
          'update schedule Keyed/schedule-4',
        ]);
        const after = await rows();
        expect(after).toEqual([{ ...before[3], metadata: { workspace_key: 'schedule-4' } }]);
        expect(changed(await ok(apply(at(), rest, { prune: false })))).toEqual([]);
        await ok(at().api.delete(`/agents/${id}`), 204);
      });

      test('that change keep what they are, are paused and resumed, and others are not touched', async () => {
        const document = (more: object = {}, second: object = {}) => ({
          version: 1,
          agents: [
            worker('Timed', {
              schedules: [
                { key: 'a', cron_expression: '0 9 * * *', metadata: { picker: 1 }, ...more },
                { key: 'b', cron_expression: '30 9 * * *', ...second },
              ],
            }),
          ],
        });
        await ok(apply(at(), document()));
        const rows = () =>
          at()
            .sql`select s.id, metadata, enabled, next_run_at, s.revision from schedules s join agents a on a.id = agent_id
              where a.name = 'Timed' order by s.id`;
        const [a, b] = await rows();
        expect(a.metadata).toEqual({ picker: 1, workspace_key: 'a' });
        const paused = await ok(apply(at(), document({ enabled: false, message: 'x' })));
        expect(fieldsOf(paused, 'Timed/a')).toEqual([
          { path: 'enabled', from: true, to: false },
          { path: 'message', from: '', to: 'x' },
        ]);
        expect(await rows()).toEqual([
          { ...a, enabled: false, next_run_at: null, revision: expect.any(Number) },
          b,
        ]);
        const resumed = await ok(apply(at(), document({ message: 'x' })));
        expect(changed(resumed)).toEqual(['update schedule Timed/a']);
        expect((await rows())[0]).toMatchObject({ enabled: true, next_run_at: a.next_run_at });
        const [moved] = [await ok(apply(at(), document({ key: 'c' })))];
        expect(changed(moved)).toEqual(['create schedule Timed/c']);
        const { id } = a;
        expect((await rows()).map((row: Json) => row.id)).toContain(id);
      });
    });

    test('with the fingerprint of another plan is a 412 with the new one; two at once are one after the other', async () => {
      const document = { version: 1, branding: { workspace_name: 'One' }, agents: [worker('Once')] };
      const { fingerprint } = await ok(plan(at(), document));
      const both = await Promise.all([
        apply(at(), document, { fingerprint }),
        apply(at(), document, { fingerprint }),
      ]);
      expect(both.map(({ status }) => status).sort()).toEqual([200, 412]);
      const refusedOne = both.find(({ status }) => status === 412)!;
      const { plan: shown } = refusedOne.body.error;
      expect(changed(shown)).toEqual([]);
      expect(shown.fingerprint).not.toBe(fingerprint);
      const other = { version: 1, agents: [worker('Twice')] };
      const twice = await Promise.all([apply(at(), other), apply(at(), other)]);
      expect(twice.map(({ body }) => changed(body).length).sort()).toEqual([0, 1]);
      expect(
        (await ok(at().api.get('/agents'))).data.filter(({ name }: Json) => name === 'Twice'),
      ).toHaveLength(1);
    });

    test('with an Idempotency-Key is applied once, and needs the scope and the role', async () => {
      const document = { version: 1, agents: [worker('Keyed once')] };
      const { fingerprint } = await ok(plan(at(), document));
      const send = () =>
        at().app.post(
          '/workspace/apply',
          { document, fingerprint },
          { headers: { 'idempotency-key': 'k-1' } },
        );
      const [first, second] = [await send(), await send()];
      expect([first.status, second.status]).toEqual([200, 200]);
      expect(second.body).toEqual(first.body);
      const { value } = await newKey(at(), 'admin', { scopes: ['agents', 'settings'] });
      expectError(await at().as(value, '/app/api').post('/workspace/plan', { document }), 403, /workspace/);
      const builder = await newKey(at(), 'builder');
      expectError(await at().as(builder.value, '/app/api').get('/workspace'), 403);
    });

    test('nothing is stored if a connection cannot be used, or anything else is refused', async () => {
      // A refusal is audited after its response.
      const changes = async () => (await audits(at())).filter((action) => action.includes('.'));
      const before = await changes();
      const response = await apply(at(), {
        version: 1,
        data_connections: [{ name: 'None', engine: 'sqlite', configuration: { path: 'none.db' } }],
        agents: [worker('Never')],
      });
      expect(faults(response)).toEqual(['document.data_connections[0].configuration.path']);
      const late = await apply(at(), {
        version: 1,
        agents: [worker('Never')],
        role_mappings: [{ claim: '/~', value: 'x', role: 'admin' }],
      });
      expect(faults(late)).toEqual(['document.role_mappings[0].claim']);
      expect(await changes()).toEqual(before);
    });

    test('holds every kind of model, tool server, provider and reader, and an export of them changes nothing', async () => {
      const key = 'literal-secret-0123456789';
      const model = (kind: string, more: object) => ({ name: `A ${kind}`, kind, model: 'm', ...more });
      const traces = (provider: string, more: object) => ({
        name: `To ${provider}`,
        version: '1',
        settings: { provider, url: `${nowhere}/v1/traces`, ...more },
        scopes: [],
      });
      const document = {
        version: 1,
        llm_configurations: [
          model('openai', { api_key: key, organization: 'o', headers: { 'x-a': key } }),
          model('anthropic', { api_key: key, temperature: 0.5, streaming: false }),
          model('azure', {
            api_key: key,
            base_url: 'https://r.openai.azure.com/openai',
            deployment_urls: true,
          }),
          model('google', { api_key: key, timeout_seconds: 30 }),
          model('bedrock', {
            region: 'us-east-1',
            access_key_id: 'AK',
            secret_access_key: key,
            session_token: key,
          }),
          model('openai_compatible', { base_url: `${nowhere}/v1`, headers: {} }),
        ],
        tool_servers: [
          {
            name: 'Guarded',
            url: `${nowhere}/mcp`,
            oauth: { client_id: 'c', client_secret: key, issuer: nowhere },
            enabled: false,
          },
        ],
        integrations: [
          traces('hosted_dashboard', {
            api_token: key,
            dashboard_instance_id: '1',
            additional_headers: { 'x-a': key },
            data_source: 'tempo-1',
            resource_attributes: { 'deployment.environment': 'staging' },
          }),
          traces('llm_tracing', {
            api_key: key,
            project_name: 'p',
            project_header: 'x-own',
            resource_attributes: {},
            is_enabled: false,
          }),
          traces('otlp_basic_auth', {
            username: 'u',
            password: key,
            additional_headers: { 'x-version': key },
            trace_ui_type: 'span_ui',
          }),
        ],
        document_intelligence: {
          provider: 'http',
          settings: { url: `${nowhere}/read`, headers: { 'x-a': key } },
        },
      };
      await ok(apply(at(), document));
      expect(changed(await ok(apply(at(), document)))).toEqual([]);
      const text = await exported(at());
      expect(text).not.toContain(key);
      expect(changed(await ok(apply(at(), text, { secrets: {}, prune: true })))).toEqual([]);
      const values = new Map([...text.matchAll(/\{secret:(\w+)\}/g)].map(([, name]) => [name, 'another']));
      const other = await ok(plan(at(), text, { secrets: Object.fromEntries(values) }));
      expect(changed(other).filter((one) => one.includes(' To ') || one.includes(' A '))).toHaveLength(8);
      expect(fieldsOf(other, 'A bedrock').map(({ path }) => path)).toEqual([
        'secret_access_key',
        'session_token',
      ]);
      expect(fieldsOf(other, 'Guarded').map(({ path }) => path)).toEqual(['oauth.client_secret']);
    });

    test('a connection with a password is tried before it is stored, and again when it changes', async () => {
      const foreign = await foreignPostgres(inject('postgresUrl'), 'create table orders (status text)');
      try {
        const document = (more: object = {}) => ({
          version: 1,
          data_connections: [
            {
              name: 'Company',
              engine: 'postgres',
              configuration: { ...foreign.settings, password: secret('DB'), ...more },
            },
          ],
        });
        const given = { secrets: { DB: 'first' } };
        const applied = await ok(apply(at(), document(), given));
        expect(changed(applied)).toEqual(['create data_connection Company']);
        expect(changed(await ok(apply(at(), document(), { secrets: {} })))).toEqual([]);
        const moved = document({ host: 'localhost' });
        expect((await ok(plan(at(), moved))).secrets_needed).toEqual(['DB']);
        expect(changed(await ok(apply(at(), moved, given)))).toEqual(['update data_connection Company']);
        const away = await apply(at(), document({ database: 'no_such' }), { secrets: {} });
        expect(away.status).toBe(422);
        expect(changed(await ok(plan(at(), moved)))).toEqual([]);
        const { data } = await ok(at().api.get('/data-connections?name=Company'));
        await ok(at().api.delete(`/data-connections/${data[0].id}`), 204);
      } finally {
        await dropDatabase(foreign.url);
      }
    });

    test('changes who is an administrator as a whole, and never leaves none', async () => {
      const mapping = (value: string, role: string) => ({ claim: 'team', value, role });
      const document = (...role_mappings: object[]) => ({ version: 1, role_mappings });
      await ok(apply(at(), document(mapping('a', 'admin'), mapping('b', 'member')), { prune: true }));
      const [a, b] = [
        await admitted(arrive(at().db, 'a', { team: 'a' })),
        await admitted(arrive(at().db, 'b', { team: 'b' })),
      ];
      const rolesOf = async () =>
        (await at().sql`select role from users where id in (${a.id}, ${b.id}) order by subject`).map(
          ({ role }) => role,
        );
      expect(await rolesOf()).toEqual(['admin', 'member']);
      for (const none of [document(), document(mapping('a', 'builder'), mapping('b', 'member'))]) {
        expect(await refused(none, { prune: true })).toEqual([
          expect.stringMatching(/^document\.role_mappings: This would leave no active person/),
        ]);
      }
      // One by one, the first step would leave no administrator.
      const swapped = document(mapping('a', 'member'), mapping('b', 'admin'));
      expect(changed(await ok(apply(at(), swapped)))).toEqual([
        'update role_mapping team=a',
        'update role_mapping team=b',
      ]);
      expect(await rolesOf()).toEqual(['member', 'admin']);
      await at().sql`delete from users where id in (${a.id}, ${b.id})`;
    });

    test('gives an agent a gate whose cases come later, and one that leaves it out keeps it', async () => {
      const graders = [{ type: 'llm_judge', rubric: 'Good?', llm: 'House' }];
      const gated = (gate: object) => ({
        version: 1,
        llm_configurations: [house({ api_key: 'x' })],
        datasets: [{ name: 'Set' }],
        agents: [worker('Gated', { release: 'manual', gate })],
      });
      expect(await refused(gated({ dataset: 'Nowhere' }))).toEqual([
        expect.stringMatching(/^document\.agents\[0\]\.gate\.dataset: there is no dataset "Nowhere"/),
      ]);
      expect(await refused(gated({ dataset: 'Set', trials: 0, speed: 1 }))).toEqual([
        expect.stringMatching(/gate\.speed: is not a field here/),
        expect.stringMatching(/gate\.trials: /),
      ]);
      await ok(apply(at(), gated({ dataset: 'Set', graders })));
      const read = async () =>
        (await ok(at().api.get('/agents'))).data.find((one: Json) => one.name === 'Gated');
      const agent = await read();
      expect(agent.gate).toMatchObject({ trials: 3, graders: [{ llm_id: expect.any(String) }] });
      const own = (document: Json) => document.agents.find(({ name }: Json) => name === 'Gated');
      expect(own(parse(await exported(at()))).gate).toMatchObject({ dataset: 'Set', graders });
      const left = { version: 1, agents: [worker('Gated', { instructions: 'New.' })] };
      await ok(apply(at(), left));
      expect(await read()).toMatchObject({
        gate: agent.gate,
        release: 'manual',
        has_changes: true,
        version: 1,
      });
      expect(await refused({ version: 1, agents: [worker('Gated', { release: 'automatic' })] })).toEqual([
        expect.stringMatching(/release: cannot be automatic while the agent has a gate/),
      ]);
      await ok(apply(at(), { version: 1, agents: [worker('Gated', { gate: null, release: 'automatic' })] }));
      expect(await read()).toMatchObject({ gate: null, instructions: '' });
    });

    test('says how tools may be used before the server lists them', async () => {
      const server = (url: string, tools: object) => ({
        version: 1,
        tool_servers: [{ name: 'Bank', url, tools }],
      });
      const tools = { pay: 'deny', read: { policy: 'allow', idempotent: true } };
      await using real = await startToolServer({
        tools: [{ name: 'pay' }, { name: 'read' }, { name: 'list' }],
      });
      await ok(apply(at(), server(real.url, { ...tools, later: 'deny' })));
      const { id } = (await ok(at().api.get('/tool-servers'))).data.find(({ name }: Json) => name === 'Bank');
      const listed = async () =>
        (await ok(at().api.get(`/tool-servers/${id}/tools`))).data.map((one: Json) => [
          one.name,
          one.policy,
          one.idempotent,
        ]);
      expect(await listed()).toEqual([
        ['list', null, null],
        ['pay', 'deny', null],
        ['read', 'allow', true],
      ]);
      expect(changed(await ok(apply(at(), server(real.url, { ...tools, later: 'deny' }))))).toEqual([]);
      const fewer = await ok(apply(at(), server(real.url, { list: 'allow', later: 'deny' })));
      expect(fieldsOf(fewer, 'Bank')).toEqual([
        { path: 'tools.list', from: null, to: 'allow' },
        { path: 'tools.pay', from: 'deny', to: null },
        { path: 'tools.read', from: { policy: 'allow', idempotent: true }, to: null },
      ]);
      expect(await listed()).toEqual([
        ['list', 'allow', null],
        ['pay', null, null],
        ['read', null, null],
      ]);
    });
  }));
