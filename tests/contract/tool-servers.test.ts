import { createServer } from 'node:http';
import { afterEach, describe, expect, test } from 'vitest';
import { listen } from '../harness/listen.ts';
import {
  hashOf,
  startToolServer,
  type TestTool,
  type TestToolServer,
  type TestToolServerOptions,
} from '../harness/tool-server.ts';
import { expectError, faults, newAgent, newKey, ok, onPostgres, time, unknownId, uuid } from './fixture.ts';

// biome-ignore lint/suspicious/noExplicitAny: JSON, read field by field
type Json = any;

/** No one listens there: a port below 1024 that fetch does not block. */
const nowhere = 'http://127.0.0.1:2/mcp';
const secret = 'secret-header-value-0123456789';
let number = 0;

onPostgres(
  (at, database) => {
    const open: TestToolServer[] = [];
    afterEach(async () => {
      for (const server of open.splice(0)) await server[Symbol.asyncDispose]();
    });
    const start = async (options?: TestToolServerOptions) => {
      const server = await startToolServer(options);
      open.push(server);
      return server;
    };
    const create = (fields: object = {}, api = at().api): Promise<Json> =>
      ok(api.post('/tool-servers', { name: `Server ${++number}`, url: nowhere, ...fields }));
    const tools = async (id: string): Promise<Json[]> =>
      (await ok(at().api.get(`/tool-servers/${id}/tools`))).data;
    const tool = async (id: string, name: string): Promise<Json> =>
      (await tools(id)).find((one) => one.name === name);
    const discover = (id: string): Promise<Json> => ok(at().api.post(`/tool-servers/${id}/discover`));
    const refused = async (fields: object) => {
      const response = await at().api.post('/tool-servers', { name: 'x', url: nowhere, ...fields });
      return `${response.status} ${faults(response)}`;
    };

    describe('a tool server', () => {
      test('is created with defaults, discovered, and shown without its secrets', async () => {
        const server = await start();
        const created = await create({ name: 'Übung Nr. 1!', url: server.url, headers: { 'X-Key': secret } });
        expect(created).toEqual({
          id: expect.stringMatching(uuid),
          name: 'Übung Nr. 1!',
          prefix: 'ubung_nr_1',
          transport: 'http',
          url: server.url,
          header_names: ['X-Key'],
          oauth: null,
          command: null,
          args: [],
          env_names: [],
          cwd: null,
          enabled: true,
          default_policy: 'require_approval',
          call_timeout_seconds: 60,
          max_concurrency: 8,
          allow_input: true,
          protocol_version: '2026-07-28',
          state: 'ok',
          last_success_at: expect.stringMatching(time),
          last_error: null,
          warnings: [],
          tool_count: 1,
          changed_count: 0,
          created_at: expect.stringMatching(time),
          updated_at: expect.stringMatching(time),
        });
        const path = `/tool-servers/${created.id}`;
        const read = await at().api.get(path);
        expect(read.body).toEqual(created);
        const list = await at().api.get('/tool-servers');
        expect(list.body.data[0]).toEqual(created);
        const v1 = at().as((await newKey(at(), 'builder')).value, '/api/v1');
        expect((await ok(v1.get(path))).id).toBe(created.id);
        expect(server.requests.every(({ headers }) => headers['x-key'] === secret)).toBe(true);

        const stored = await at().sql`select settings from tool_servers where id = ${created.id}`;
        const audits = await at().sql`select details from audits where target_id = ${created.id}`;
        expect(audits[0].details.headers['X-Key']).toMatch(/^sha256:/);
        expect(JSON.stringify([stored, audits, list.body])).not.toContain(secret);
      });

      test('is created also if it cannot be reached, and says why', async () => {
        const created = await create({ headers: { 'X-Key': secret } });
        expect(created).toMatchObject({ state: 'failing', tool_count: 0, last_success_at: null });
        expect(created.last_error).toMatch(/ECONNREFUSED/);
        const server = await start();
        server.status = 503;
        expect((await create({ url: server.url })).last_error).toBe('The server returned HTTP 503.');
      });

      test.each(['legacy', 'modern'] as const)(
        'leaves out the tools that are not valid by name, and has the others (%s)',
        async (era) => {
          const odd = (name: string, more: object) => ({ name, ...more }) as TestTool;
          const server = await start({
            era,
            tools: [
              { name: 'good', outputSchema: { type: 'object' } },
              odd('no schema', { inputSchema: null }),
              odd('text', { inputSchema: { type: 'string' } }),
              odd('list', { inputSchema: [] }),
              odd('described', { description: 5 }),
              odd('', {}),
              odd('also good', {}),
              odd('good', { title: 'again' }),
            ],
          });
          const created = await create({ url: server.url });
          expect(created).toMatchObject({ state: 'ok', last_error: null, tool_count: 2 });
          const warnings = [
            'The tool "no schema" is left out: its inputSchema is missing.',
            'The tool "text" is left out: the type of its inputSchema is not "object".',
            'The tool "list" is left out: its inputSchema is not an object.',
            'The tool "described" is left out: its description is not a text.',
            'The tool number 6 of the list is left out: its name must have 1 to 256 characters.',
            'The tool "good" is left out: another tool has its name.',
          ];
          expect(created.warnings).toEqual(warnings);
          const { body } = await at().api.get(`/tool-servers/${created.id}/tools`);
          expect(body.data.map(({ name }: { name: string }) => name).sort()).toEqual(['also good', 'good']);
          const tested = await at().api.post(`/tool-servers/${created.id}/test`);
          expect(tested.body.steps.at(-1)).toMatchObject({
            step: 'list_tools',
            ok: true,
            detail: expect.stringContaining(warnings[0]!),
          });
          server.tools.splice(1, 5);
          server.tools.pop();
          expect((await ok(at().api.post(`/tool-servers/${created.id}/discover`))).warnings).toEqual([]);
        },
      );

      test('says that it speaks the event-stream transport of 2024-11-05, or wants a login', async () => {
        const server = createServer((request, response) => {
          if (request.url === '/login') {
            const metadata =
              'Bearer resource_metadata="http://x.invalid/.well-known/oauth-protected-resource"';
            response.writeHead(401, { 'www-authenticate': metadata }).end();
          } else if (request.url === '/refused') response.writeHead(401).end();
          else if (request.method !== 'GET') response.writeHead(405).end();
          else if (request.url === '/other') {
            response.writeHead(200, { 'content-type': 'text/event-stream' }).end('event: hello\ndata: 1\n\n');
          } else {
            response.writeHead(200, { 'content-type': 'text/event-stream' });
            response.write('event: endpoint\r\ndata: /messages?session=1\r\n\r\n');
          }
        });
        const { origin, close } = await listen(server);
        try {
          const old = await create({ url: `${origin}/sse` });
          expect(old).toMatchObject({
            state: 'failing',
            last_error: expect.stringMatching(/event-stream transport of the revision 2024-11-05/),
          });
          const tested = await at().api.post(`/tool-servers/${old.id}/test`);
          expect(tested.body.steps.at(-1)).toMatchObject({
            step: 'negotiate',
            ok: false,
            detail: old.last_error,
          });
          expect((await create({ url: `${origin}/other` })).last_error).toBe('The server returned HTTP 405.');
          expect((await create({ url: `${origin}/login` })).last_error).toMatch(
            /^The server wants a login \(HTTP 401\)\. .*`oauth`/,
          );
          expect((await create({ url: `${origin}/refused` })).last_error).toBe(
            'The server refuses the credentials (HTTP 401).',
          );
        } finally {
          await close();
        }
      });

      // It waits for 8 s, and what it waits for knows no database.
      test.runIf(database === 'postgres')('that does not respond is created within seconds', async () => {
        const server = await start();
        server.gate = new Promise(() => {});
        expect(await create({ url: server.url })).toMatchObject({
          state: 'failing',
          last_error: 'The server did not respond in time.',
        });
      });

      test('has a prefix that is unique, also when it is made from the name, and never changes', async () => {
        const one = await create({ name: 'Ledger of the whole company' });
        expect(one.prefix).toBe('ledger_of_the_whole');
        expect((await create({ name: 'Ledger of the whole company' })).prefix).toBe('ledger_of_the_whol_2');
        expect((await create({ name: '!!' })).prefix).toBe('tools');
        await create({ prefix: 'mine' });
        expect(await refused({ prefix: 'mine' })).toBe('422 prefix');
        for (const prefix of ['', 'A', '1a', 'a-b', 'a'.repeat(21), '_a', 5]) {
          expect(await refused({ prefix })).toBe('422 prefix');
        }
        const path = `/tool-servers/${one.id}`;
        expectError(await at().api.patch(path, { prefix: 'other' }), 422, /cannot be changed/);
        await ok(at().api.patch(path, { prefix: one.prefix, transport: 'http' }));
        expectError(await at().api.patch(path, { transport: 'stdio' }), 422, /cannot be changed/);
      });

      const oauth = { client_id: 'c', client_secret: 's-0123456', issuer: 'https://a.example' };
      test.each<[string, object]>([
        ['400 url', { url: undefined }],
        ['422 url', { url: 'ftp://x' }],
        ['422 url', { url: 'http://user:word@x/mcp' }],
        ['422 url', { url: 'http://x/#a' }],
        ['422 headers.Host', { headers: { Host: 'x' } }],
        ['422 headers.Mcp-Session-Id', { headers: { 'Mcp-Session-Id': 'x' } }],
        [
          '422 headers',
          { headers: Object.fromEntries(Array.from({ length: 21 }, (_, i) => [`x-${i}`, 'v'])) },
        ],
        ['400 oauth.client_secret,oauth.issuer', { oauth: { client_id: 'c' } }],
        ['422 oauth.issuer', { oauth: { ...oauth, issuer: 'x' } }],
        ['422 headers.authorization', { oauth, headers: { authorization: 'x' } }],
      ])('is refused with %s: %j', async (fault, fields) => {
        expect(await refused(fields)).toBe(fault);
      });

      test('takes null for an optional field as its default', async () => {
        const created = await create({
          transport: null,
          prefix: null,
          headers: null,
          oauth: null,
          enabled: null,
        });
        expect(created).toMatchObject({ transport: 'http', header_names: [], oauth: null, enabled: true });
      });

      test('is for builders: members may not see it, and no one below an admin gets a local process', async () => {
        const { id } = await create();
        const member = at().as((await newKey(at(), 'member')).value);
        expectError(await member.get('/tool-servers'), 403);
        expectError(await member.get(`/tool-servers/${id}`), 403);
        const builder = at().as((await newKey(at(), 'builder')).value);
        await ok(builder.get(`/tool-servers/${id}`));
        const stdio = { name: 'Local', transport: 'stdio', command: 'true' };
        expectError(await builder.post('/tool-servers', stdio), 403, /requires the role admin/);
        expectError(await builder.post('/tool-servers', { transport: 'stdio', name: 5 }), 403);
        expectError(await builder.patch(`/tool-servers/${id}`, { transport: 'stdio' }), 403);
        expectError(await at().api.post('/tool-servers', stdio), 422, /ALLOW_STDIO_TOOL_SERVERS/);
      });

      test('has a fault of a fixed field named before a stale If-Match; a discovery is not a change', async () => {
        const { id } = await create();
        const path = `/tool-servers/${id}`;
        expectError(await at().api.patch(path, { prefix: 'x' }, { headers: { 'if-match': '"0"' } }), 422);
        await discover(id);
        expect((await at().api.get(path)).headers.get('etag')).toBe('"1"');
      });

      test('keeps what a change does not name, and clears what is null', async () => {
        const created = await create({
          headers: { 'X-Key': secret },
          default_policy: 'allow',
          max_concurrency: 3,
        });
        const path = `/tool-servers/${created.id}`;
        const sentBack = await ok(at().api.patch(path, created));
        expect(sentBack).toMatchObject({
          header_names: ['X-Key'],
          default_policy: 'allow',
          max_concurrency: 3,
        });
        expect(await ok(at().api.patch(path, { headers: null, enabled: false }))).toMatchObject({
          header_names: [],
          enabled: false,
          url: nowhere,
        });
        expectError(await at().api.patch(path, { url: null }), 422);
        expect((await ok(at().api.patch(path, { oauth }))).oauth).toEqual({
          client_id: 'c',
          client_secret_set: true,
          issuer: 'https://a.example',
          scope: null,
        });
        expect((await ok(at().api.patch(path, { oauth: { scope: 'tools' } }))).oauth.scope).toBe('tools');
        expectError(await at().api.patch(path, { headers: { Authorization: 'x' } }), 422);
        expect((await ok(at().api.patch(path, { oauth: null }))).oauth).toBeNull();
        expectError(await at().api.patch(path, { oauth: { client_id: 'c' } }), 400);
      });

      test('does not send its secrets to a new address: they must be given again', async () => {
        const { id } = await create({ headers: { 'X-Key': secret }, oauth });
        const path = `/tool-servers/${id}`;
        const patch = async (body: object) => {
          const response = await at().api.patch(path, body);
          return response.status === 422 ? faults(response).join() : response.status;
        };
        const url = 'http://127.0.0.1:3/mcp';
        expect(await patch({ url })).toBe('headers,oauth.client_secret');
        expect(await patch({ url, headers: { 'X-Key': 'new-value' } })).toBe('oauth.client_secret');
        expect(await patch({ url: nowhere })).toBe(200);
        expect(await patch({ oauth: { issuer: 'https://b.example' } })).toBe('oauth.client_secret');
        expect(await patch({ oauth: { ...oauth, issuer: 'https://b.example' } })).toBe(200);
        expect(await patch({ url, headers: null, oauth: null })).toBe(200);
        expect(await patch({ url: nowhere })).toBe(200);
      });

      test('cannot be deleted while agents name it', async () => {
        const { id } = await create();
        const agents: string[] = [];
        for (let i = 0; i < 11; i++) agents.push((await newAgent(at(), { tool_server_ids: [id] })).id);
        expectError(await at().api.delete(`/tool-servers/${id}`), 412, /Agents use/, {
          agent_ids: agents.slice(0, 10),
        });
        for (const agent of agents.slice(0, 10)) {
          expect((await at().api.delete(`/agents/${agent}`)).status).toBe(204);
        }
        expectError(await at().api.delete(`/tool-servers/${id}`), 412, /./, { agent_ids: agents.slice(10) });
        await ok(at().api.patch(`/agents/${agents[10]}`, { tool_server_ids: [] }));
        expect((await at().api.delete(`/tool-servers/${id}`)).status).toBe(204);
      });

      test('takes the policies that agents have left for its tools with it', async () => {
        const [gone, kept] = [(await create()).id, (await create()).id];
        const policy = (tool_server_id: string, tool: string) => ({ tool_server_id, tool, policy: 'deny' });
        const mixed = [
          policy(gone.toUpperCase(), 'a'),
          policy(kept, 'a'),
          policy(gone, 'b'),
          policy(kept, 'b'),
        ];
        const agent = await newAgent(at(), { tool_policies: mixed });
        const path = `/agents/${agent.id}`;
        const before = (await at().api.get(path)).headers.get('etag');
        expect((await at().api.delete(`/tool-servers/${gone}`)).status).toBe(204);
        const read = await at().api.get(path);
        expect(read.body.tool_policies).toEqual([policy(kept, 'a'), policy(kept, 'b')]);
        expect(read.headers.get('etag')).not.toBe(before);
        await ok(at().api.patch(path, read.body));
        const [entry] = await at().sql`select details from audits where target_id = ${gone} order by at desc`;
        expect(entry.details.policies_removed_from).toEqual([agent.id]);
      });

      test('has one policy for each tool in an agent', async () => {
        const { id } = await create();
        const policies = ['a', 'b', 'a'].map((tool) => ({ tool_server_id: id, tool, policy: 'deny' }));
        const refused = await at().api.post('/agents', {
          name: 'a',
          mode: 'worker',
          tool_policies: policies,
        });
        expectError(refused, 422, /second policy for the same tool/);
        expect(faults(refused)).toEqual(['tool_policies[2]']);
      });

      test('that does not exist is a fault of an agent that names it', async () => {
        const { id } = await create();
        const fields = { name: 'a', mode: 'worker', tool_server_ids: [id, unknownId, 'nonsense'] };
        const response = await at().api.post('/agents', fields);
        expectError(response, 422);
        expect(faults(response)).toEqual(['tool_server_ids[1]', 'tool_server_ids[2]']);
        const agent = await newAgent(at(), { tool_server_ids: [id.toUpperCase()] });
        expect(agent.tool_server_ids).toEqual([id]);
        expectError(await at().api.patch(`/agents/${agent.id}`, { tool_server_ids: [unknownId] }), 422);
      });

      test('is deleted, or named by an agent that is created meanwhile, but never both', async () => {
        for (let round = 0; round < 8; round++) {
          const { id } = await create({ enabled: round % 2 === 0 });
          const [deleted, agent] = await Promise.all([
            at().api.delete(`/tool-servers/${id}`),
            at().api.post('/agents', { name: 'a', mode: 'worker', tool_server_ids: [id] }),
          ]);
          expect([
            [204, 422],
            [412, 200],
          ]).toContainEqual([deleted.status, agent.status]);
        }
      });
    });

    describe('tools', () => {
      const schema = { type: 'object', properties: { '10': {}, '9': { type: 'integer' }, é: {} } };

      test('of the first discovery are accepted, with the hash of their canonical JSON', async () => {
        const full = {
          name: 'pay out',
          title: 'Pay',
          description: 'Pays.',
          inputSchema: schema,
          outputSchema: { type: 'object' },
          annotations: { readOnlyHint: true, title: 'Pays', unknownHint: [1.5] },
        };
        const server = await start({ tools: [full, { name: 'bare' }] });
        const { id, prefix, tool_count } = await create({ url: server.url });
        expect(tool_count).toBe(2);
        const [bare, pay] = await tools(id);
        expect(pay).toEqual({
          name: 'pay out',
          tool_name: `${prefix}__pay_out`,
          title: 'Pay',
          description: 'Pays.',
          input_schema: schema,
          output_schema: { type: 'object' },
          annotations: full.annotations,
          policy: null,
          effective_policy: 'require_approval',
          idempotent: null,
          effective_idempotent: true,
          state: 'accepted',
          definition_hash: hashOf(full),
          accepted_hash: hashOf(full),
          pending: null,
          model_warnings: ['anthropic', 'bedrock'].map((kind) => ({
            kind,
            message: expect.stringContaining('the name of its argument "é"'),
          })),
          first_seen_at: expect.stringMatching(time),
          changed_at: expect.stringMatching(time),
        });
        expect(bare).toMatchObject({
          description: '',
          title: null,
          output_schema: null,
          effective_idempotent: false,
        });
      });

      test('are called by names that every model accepts, each by its own', async () => {
        const long = 'x'.repeat(80);
        const server = await start({
          tools: [{ name: long }, { name: 'a.b/c' }, { name: 'a_b_c' }, { name: 'é' }],
        });
        const { id, prefix } = await create({ url: server.url });
        const names = (await tools(id)).map(({ tool_name }) => tool_name);
        expect(new Set(names).size).toBe(4);
        for (const name of names) expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
        const { createHash } = await import('node:crypto');
        const whole = `${prefix}__${long}`;
        const hash = createHash('sha256').update(whole).digest('hex').slice(0, 8);
        expect((await tool(id, long)).tool_name).toBe(`${whole.slice(0, 55)}_${hash}`);
      });

      test('that come later are new, changed or missing, until a person accepts what they are now', async () => {
        const server = await start({ tools: [{ name: 'a', description: 'one' }, { name: 'b' }] });
        const { id } = await create({ url: server.url });
        server.tools = [{ name: 'a', description: 'two' }, { name: 'c' }];
        expect(await discover(id)).toMatchObject({ state: 'ok', tool_count: 2, changed_count: 1 });
        const [a, b, c] = await tools(id);
        expect(a).toMatchObject({ state: 'changed', description: 'one', pending: { description: 'two' } });
        expect(a.accepted_hash).not.toBe(a.definition_hash);
        expect(b).toMatchObject({ state: 'missing', pending: null });
        expect(c).toMatchObject({ state: 'new', accepted_hash: null });

        const accept = (name: string, definition_hash: unknown) =>
          at().api.post(`/tool-servers/${id}/tools/${name}/accept`, { definition_hash });
        expectError(await accept('a', a.accepted_hash), 412, /another one/, {
          definition_hash: a.definition_hash,
        });
        expectError(await accept('a', 5), 422);
        expectError(await at().api.post(`/tool-servers/${id}/tools/a/accept`, {}), 400);
        expect(await ok(accept('a', a.definition_hash))).toMatchObject({
          state: 'accepted',
          description: 'two',
          pending: null,
          accepted_hash: a.definition_hash,
        });
        await ok(accept('a', a.definition_hash));
        expect(await ok(accept('c', c.definition_hash))).toMatchObject({ state: 'accepted' });
        server.tools = [{ name: 'a', description: 'two' }, { name: 'b' }, { name: 'c' }];
        expect(await discover(id)).toMatchObject({ tool_count: 3, changed_count: 0 });
        expect((await tools(id)).map(({ state }) => state)).toEqual(['accepted', 'accepted', 'accepted']);
        // Back to what was accepted once is not accepted again.
        server.tools = [{ name: 'a', description: 'one' }];
        await discover(id);
        expect((await tool(id, 'a')).state).toBe('changed');
      });

      test('all count as changed after a change of the address, and those that come then as new', async () => {
        const server = await start({ tools: [{ name: 'a' }, { name: 'b' }] });
        const other = await start({ tools: [{ name: 'a' }, { name: 'c' }] });
        const { id } = await create({ url: server.url });
        expect(await ok(at().api.patch(`/tool-servers/${id}`, { url: other.url }))).toMatchObject({
          state: 'unknown',
          changed_count: 2,
          last_success_at: null,
          protocol_version: null,
        });
        expect((await tools(id)).map(({ state }) => state)).toEqual(['changed', 'changed']);
        await discover(id);
        expect((await tools(id)).map(({ name, state }) => `${name} ${state}`)).toEqual([
          'a changed',
          'b missing',
          'c new',
        ]);
        const { definition_hash, pending } = await tool(id, 'a');
        expect(pending).not.toBeNull();
        const accepted = await ok(at().api.post(`/tool-servers/${id}/tools/a/accept`, { definition_hash }));
        expect(accepted.state).toBe('accepted');
      });

      test('have a policy and a mark of their own, which null resets', async () => {
        const server = await start({ tools: [{ name: 'a/b %', annotations: { idempotentHint: true } }] });
        const { id } = await create({ url: server.url, default_policy: 'allow' });
        const path = `/tool-servers/${id}/tools/${encodeURIComponent('a/b %')}`;
        expect(await ok(at().api.patch(path, { policy: 'deny', idempotent: false }))).toMatchObject({
          policy: 'deny',
          effective_policy: 'deny',
          idempotent: false,
          effective_idempotent: false,
        });
        expect(await ok(at().api.patch(path, { policy: null }))).toMatchObject({
          policy: null,
          effective_policy: 'allow',
          effective_idempotent: false,
        });
        expect(await ok(at().api.patch(path, { idempotent: null }))).toMatchObject({
          effective_idempotent: true,
        });
        expectError(await at().api.patch(`/tool-servers/${id}/tools/a`, {}), 404);
        const actions = await at().sql`select action from audits where target_id = ${id} order by id`;
        expect(actions.map(({ action }) => action)).toContain('tool_server.update_tool');
      });

      test('with text that cannot be stored are left out; the others stay', async () => {
        const server = await start({
          tools: [{ name: 'good' }, { name: 'bad', description: 'nul \u0000' }, { name: 'x'.repeat(300) }],
        });
        const { id, tool_count } = await create({ url: server.url });
        expect(tool_count).toBe(1);
        expect((await tools(id)).map(({ name }) => name)).toEqual(['good']);
      });

      test('come whole in one page, however many there are', async () => {
        const many = Array.from({ length: 300 }, (_, i) => ({ name: `t${String(i).padStart(3, '0')}` }));
        const server = await start({ tools: many });
        const { id } = await create({ url: server.url });
        const page = await ok(at().api.get(`/tool-servers/${id}/tools`));
        expect(page.data).toHaveLength(300);
        expect([page.has_more, page.next]).toEqual([false, '']);
      });

      test('do not show a secret that the server repeats', async () => {
        const server = await start({ tools: [{ name: 'a', description: `the key is ${secret}` }] });
        const { id } = await create({ url: server.url, headers: { Authorization: `Bearer ${secret}` } });
        const shown = await tool(id, 'a');
        expect(shown.description).toBe('the key is [redacted]');
      });

      test('are in one consistent state after many discoveries at once, and an older one changes nothing', async () => {
        const server = await start({ tools: [{ name: 'a' }, { name: 'b' }] });
        const { id } = await create({ url: server.url });
        await Promise.all(Array.from({ length: 8 }, () => discover(id)));
        expect((await tools(id)).map(({ state }) => state)).toEqual(['accepted', 'accepted']);
        // An older list arrives after a newer one is stored.
        let release = () => {};
        server.gate = new Promise((resolve) => {
          release = resolve;
        });
        const before = server.requests.length;
        const slow = at().api.post(`/tool-servers/${id}/discover`);
        await expect.poll(() => server.requests.length).toBeGreaterThan(before);
        await at()
          .sql`update tool_servers set discovery_began_at = platform_now() + interval '1 hour', last_error = 'newer'
            where id = ${id}`;
        server.tools = [];
        release();
        server.gate = null;
        expect(await ok(slow)).toMatchObject({ tool_count: 2, last_error: 'newer' });
      });
    });

    describe('a test', () => {
      const steps = (result: Json) => result.steps.map(({ step, ok }: Json) => `${step} ${ok}`).join();

      test('names every step, and discovers the tools', async () => {
        const server = await start();
        const { id } = await create({ url: server.url });
        server.tools.push({ name: 'second' });
        const result = await ok(at().api.post(`/tool-servers/${id}/test`));
        expect(steps(result)).toBe(
          'resolve true,connect true,authenticate true,negotiate true,list_tools true',
        );
        expect(result).toMatchObject({
          ok: true,
          protocol_version: '2026-07-28',
          latency_ms: expect.any(Number),
        });
        expect((await tool(id, 'second')).state).toBe('new');
      });

      test('stops at the step that failed, within 10 s', async () => {
        const server = await start();
        const run = async (fields: object) => {
          const { id } = await create(fields);
          const result = await ok(at().api.post(`/tool-servers/${id}/test`));
          expect(result.ok).toBe(false);
          expect(result.protocol_version).toBeNull();
          return steps(result);
        };
        expect(await run({ url: 'http://no-such-host.invalid/mcp' })).toBe('resolve false');
        expect(await run({ url: 'http://169.254.1.1/mcp' })).toBe('resolve false');
        expect(await run({})).toBe('resolve true,connect false');
        server.bearer = 'other';
        const key = { url: server.url, headers: { Authorization: `Bearer ${secret}` } };
        expect(await run(key)).toBe('resolve true,connect true,authenticate false');
        server.bearer = null;
        server.status = 500;
        expect(await run({ url: server.url })).toBe(
          'resolve true,connect true,authenticate true,negotiate false',
        );
      });

      test('follows redirects only within the origin', async () => {
        const server = await start();
        const other = await start();
        const { createServer } = await import('node:http');
        const moved = createServer((request, response) => {
          request.resume();
          const to = request.url === '/elsewhere' ? other.url : '/moved';
          response.writeHead(307, { location: to }).end();
        }).listen(0, '127.0.0.1');
        await new Promise((resolve) => moved.once('listening', resolve));
        const { port } = moved.address() as { port: number };
        const created = await create({
          url: `http://127.0.0.1:${port}/elsewhere`,
          headers: { 'X-Key': secret },
        });
        expect(created.last_error).toMatch(/redirect/);
        expect(other.requests).toEqual([]);
        moved.close();
        expect(server.requests).toEqual([]);
      });
    });

    test('metrics count how discoveries end, without names of servers', async () => {
      const { text } = await at().test.as(undefined, '').get('/metrics');
      expect(text).toMatch(/^agent_platform_tool_calls_total\{outcome="unknown"\} 0$/m);
      expect(text).toMatch(/^agent_platform_tool_discoveries_total\{outcome="ok"\} \d+$/m);
    });

    test('works also with a server of the older protocol, with sessions that it ends', async () => {
      const server = await start({ era: 'legacy', sessions: true });
      const { protocol_version, state } = await create({ url: server.url });
      expect([state, protocol_version]).toEqual(['ok', '2025-11-25']);
      await expect.poll(() => server.requests.some(({ method }) => method === 'DELETE')).toBe(true);
    });
  },
  { EGRESS_ALLOW: '127.0.0.0/8' },
);
