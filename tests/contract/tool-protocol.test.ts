import { describe, expect, test } from 'vitest';
import { adminKey } from '../harness/process.ts';
import { eras, RawEndpoint, revisions } from '../harness/tool-protocol.ts';
import { expectError, newAgent, newKey, ok, setSettings, unknownId, withPlatform } from './fixture.ts';

const publicUrl = 'https://agents.example';
const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };
const notification = { jsonrpc: '2.0', method: 'notifications/initialized' };
const accepts = [
  '*/*',
  'text/plain',
  'application/json',
  'text/event-stream',
  'application/json, text/event-stream',
];

describe('the endpoint of the tool protocol', () =>
  withPlatform(
    'postgres',
    (at) => {
      const v1 = (key = adminKey) => at().as(key, '/api/v1');
      const at1 = (agentId: string) =>
        new RawEndpoint(`${at().test.origin}/api/v1/agents/${agentId}/mcp`, adminKey);
      const worker = () => newAgent(at());

      test('is below /api/v1 only, with and without a slash and a tenant prefix', async () => {
        const { id } = await worker();
        const send = (path: string) =>
          at()
            .test.as(adminKey, '')
            .post(path, ping, { headers: { 'mcp-protocol-version': '2025-11-25' } });
        for (const prefix of ['', '/acme', '/tenants/acme']) {
          for (const end of ['', '/']) {
            const response = await send(`${prefix}/api/v1/agents/${id}/mcp${end}`);
            expect([response.status, response.body]).toEqual([200, { jsonrpc: '2.0', id: 1, result: {} }]);
          }
          expectError(await send(`${prefix}/api/v2/agents/${id}/mcp`), 404, /nothing at this path/);
        }
        expectError(await send(`/app/api/agents/${id}/mcp`), 404);
        const paths = async (base: string) =>
          Object.keys((await at().test.as(undefined, base).get('')).body.paths);
        expect(await paths('/api/v1')).toContain('/agents/{agent_id}/mcp');
        expect(await paths('/api/v2')).not.toContain('/agents/{agent_id}/mcp');
      });

      test('refuses in the order key, rate, origin, scope, agent, size, each with the error body', async () => {
        const { id } = await worker();
        const large = Buffer.alloc(10 * 1024 * 1024 + 1, ' ');
        const headers = { 'content-type': 'application/json' };
        const evil = { ...headers, origin: 'https://evil.example' };
        const path = `/agents/${unknownId}/mcp`;
        const noKey = await v1('').raw('POST', path, large, { headers: { ...evil, authorization: null } });
        expectError(noKey, 401);
        expect(noKey.headers.get('www-authenticate')).toBe('Bearer');
        expectError(await v1('wrong').raw('POST', path, large, { headers: evil }), 401);
        const limited = (await newKey(at(), 'member', { scopes: ['telemetry'] })).value;
        expectError(await v1(limited).raw('POST', path, large, { headers: evil }), 403, /origin/);
        expectError(await v1(limited).raw('POST', path, large, { headers }), 403, /scope agents:read/);
        expectError(await v1().raw('POST', path, large, { headers }), 404, /agent does not exist/);
        expectError(await v1().raw('POST', '/agents/x/mcp', '[', { headers }), 404, /agent does not exist/);
        expectError(await v1().raw('GET', path), 404, /agent does not exist/);
        expectError(await v1().raw('POST', `/agents/${id}/mcp`, large, { headers }), 400, /larger than/);
      });

      test('counts against the rate limit of the key, before the origin', async () => {
        const { id } = await worker();
        const { value } = await newKey(at(), 'member');
        await setSettings(at(), { RATE_LIMIT_REQUESTS_PER_SECOND: 1, RATE_LIMIT_BURST: 2 });
        const first = await v1(value).post(`/agents/${id}/mcp`, ping);
        expect([first.status, first.headers.get('ratelimit')]).toEqual([200, expect.stringContaining('r=1')]);
        const headers = { origin: 'https://evil.example' };
        await v1(value).post(`/agents/${id}/mcp`, ping, { headers });
        const third = await v1(value).post(`/agents/${id}/mcp`, ping, { headers });
        await setSettings(at(), { RATE_LIMIT_REQUESTS_PER_SECOND: 1_000, RATE_LIMIT_BURST: 2_000 });
        expectError(third, 429);
        expect(third.headers.get('retry-after')).toBe('1');
      });

      test('takes no cookie', async () => {
        const { id } = await worker();
        const signedIn = await at().test.as(undefined, '/app/api').post('/sessions', { api_key: adminKey });
        const cookie = signedIn.headers.get('set-cookie')!.split(';')[0]!;
        const headers = { authorization: null, cookie, 'sec-fetch-site': 'same-origin' };
        expect((await v1().get(`/agents/${id}`, { headers })).status).toBe(200);
        expectError(await v1().post(`/agents/${id}/mcp`, ping, { headers }), 401);
      });

      test('is open to pages of PUBLIC_URL and, on a loopback address, to local ones, without CORS', async () => {
        const { id } = await worker();
        const from = (origin: string) => v1().post(`/agents/${id}/mcp`, ping, { headers: { origin } });
        for (const origin of [publicUrl, 'http://localhost:3000', 'http://127.0.0.1', 'https://[::1]:1']) {
          const response = await from(origin);
          expect([origin, response.status]).toEqual([origin, 200]);
          expect([...response.headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual(
            [],
          );
        }
        for (const origin of [
          'https://evil.example',
          'http://agents.example',
          'https://agents.example:444',
          'https://agents.example.evil.example',
          'http://localhost.evil.example',
          'http://127.0.0.1.evil.example',
          'http://localhost@evil.example',
          'http://user@localhost',
          'http://localhost/page',
          'null',
          'x',
        ]) {
          expectError(await from(origin), 403, /origin/);
        }
        expectError(await v1().raw('OPTIONS', `/agents/${id}/mcp`), 404);
      });

      test.each(['GET', 'PUT', 'PATCH', 'DELETE'])('%s is a 405 that allows POST', async (method) => {
        const { id } = await worker();
        const response = await v1().raw(method, `/agents/${id}/mcp`);
        expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST']);
        expect(response.body).toEqual({
          jsonrpc: '2.0',
          error: { code: -32000, message: 'Send a POST.' },
          id: null,
        });
        expectError(await at().test.as(undefined, '/api/v1').raw(method, `/agents/${id}/mcp`), 401);
        const head = await v1().raw('HEAD', `/agents/${id}/mcp`);
        expect([head.status, head.text]).toEqual([405, '']);
      });

      test('responds to input of notifications and responses alone with an empty 202, whatever is accepted', async () => {
        const { id } = await worker();
        const inputs = [
          notification,
          [notification, { jsonrpc: '2.0', method: 'notifications/unknown' }],
          { jsonrpc: '2.0', id: 1, result: {} },
        ];
        for (const input of inputs) {
          for (const accept of accepts) {
            const response = await v1().post(`/agents/${id}/mcp`, input, { headers: { accept } });
            expect([input, accept, response.status, response.text]).toEqual([input, accept, 202, '']);
          }
        }
        const [message, options] = at1(id).request('modern', 'notifications/cancelled', { requestId: 1 });
        const { id: _, ...modern } = message;
        expect((await at1(id).post(modern, options)).status).toBe(202);
      });

      test.each([
        ['an empty body', '', -32700],
        ['no JSON', '{"jsonrpc":', -32700],
        ['no UTF-8', Buffer.from([0x22, 0xff, 0x22]), -32700],
        ['201 levels', `${'['.repeat(201)}${']'.repeat(201)}`, -32700],
        ['an empty array', '[]', -32600],
        ['an empty object', '{}', -32600],
        ['a text', '"x"', -32600],
        ['null', 'null', -32600],
        ['a null id', '{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600],
        ['another version', '{"jsonrpc":"1.0","method":"ping"}', -32600],
        ['an array with no message', '[{"jsonrpc":"2.0","id":1,"method":"ping"},1]', -32600],
        ['too many messages', JSON.stringify(new Array(101).fill(notification)), -32600],
      ])('%s is a 400 of JSON-RPC', async (_what, body, code) => {
        const { id } = await worker();
        const headers = { 'content-type': 'application/json' };
        const response = await v1().raw('POST', `/agents/${id}/mcp`, body, { headers });
        expect(response.status, response.text).toBe(400);
        expect(response.body).toEqual({
          jsonrpc: '2.0',
          error: expect.objectContaining({ code, message: expect.any(String) }),
          id: null,
        });
      });

      test('a body of another type is a 400 of JSON-RPC', async () => {
        const { id } = await worker();
        for (const type of ['text/plain', 'application/x-www-form-urlencoded']) {
          const headers = { 'content-type': type };
          const response = await v1().raw('POST', `/agents/${id}/mcp`, JSON.stringify(ping), { headers });
          expect([response.status, response.body.error.code]).toEqual([400, -32700]);
        }
      });

      test('a mixed array gets the responses to its requests', async () => {
        const { id } = await worker();
        const { body } = await at1(id).post([ping, notification, { ...ping, id: 'two' }]);
        expect(body).toEqual([
          { jsonrpc: '2.0', id: 1, result: {} },
          { jsonrpc: '2.0', id: 'two', result: {} },
        ]);
      });

      test('speaks every revision with initialize, and the latest of them for an unknown one', async () => {
        const { id } = await worker();
        for (const asked of ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25', '1999-01-01']) {
          const params = {
            protocolVersion: asked,
            capabilities: {},
            clientInfo: { name: 'x', version: '1' },
          };
          const { body, headers } = await at1(id).post({ ...ping, method: 'initialize', params });
          expect(body.result.protocolVersion).toBe(asked === '1999-01-01' ? revisions.legacy : asked);
          expect(headers.get('mcp-session-id')).toBeNull();
        }
      });

      test('shows the name and the description of the agent, never its instructions', async () => {
        const secret = 'the instructions';
        const { id } = await newAgent(at(), { name: 'Adder', description: 'It adds.', instructions: secret });
        const params = {
          protocolVersion: revisions.legacy,
          capabilities: {},
          clientInfo: { name: 'x', version: '1' },
        };
        const legacy = await at1(id).rpc('legacy', 'initialize', params);
        const serverInfo = { name: 'agent-platform', title: 'Adder', version: expect.any(String) };
        expect(legacy.body.result).toMatchObject({
          serverInfo,
          instructions: 'It adds.',
          capabilities: { tools: { listChanged: false } },
        });
        const modern = await at1(id).rpc('modern', 'server/discover');
        expect(modern.body.result).toMatchObject({
          supportedVersions: [revisions.modern],
          instructions: 'It adds.',
          capabilities: { tools: { listChanged: false } },
          _meta: { 'io.modelcontextprotocol/serverInfo': serverInfo },
        });
        const tools = await at1(id).rpc('modern', 'tools/list');
        expect(legacy.text + modern.text + tools.text).not.toContain(secret);
        const bare = await at1((await worker()).id).rpc('modern', 'server/discover');
        expect(bare.body.result).not.toHaveProperty('instructions');
      });

      test('the modern era refuses what disagrees, with its own codes', async () => {
        const { id } = await worker();
        const endpoint = at1(id);
        const other = { headers: { 'mcp-method': 'tools/call' } };
        const disagreeing = await endpoint.rpc('modern', 'tools/list', {}, other);
        expect([disagreeing.status, disagreeing.body.error.code]).toEqual([400, -32020]);
        const [message, options] = endpoint.request('modern', 'tools/list');
        message.params._meta['io.modelcontextprotocol/protocolVersion'] = '2099-01-01';
        const headers = { ...options.headers, 'mcp-protocol-version': '2099-01-01' };
        const unknown = await endpoint.post(message, { headers });
        expect([unknown.status, unknown.body.error]).toEqual([
          400,
          expect.objectContaining({
            code: -32022,
            data: expect.objectContaining({ supported: [revisions.modern] }),
          }),
        ]);
        const method = await endpoint.rpc('modern', 'no/method');
        expect([method.status, method.body.error.code]).toEqual([404, -32601]);
        const legacy = await endpoint.rpc('legacy', 'no/method');
        expect([legacy.status, legacy.body.error.code]).toEqual([200, -32601]);
        const version = await endpoint.post(ping, { headers: { 'mcp-protocol-version': '1999-01-01' } });
        expect(version.status).toBe(400);
      });

      test('a result is JSON, or an event stream for a legacy caller that takes one', async () => {
        const { id } = await worker();
        for (const era of eras) {
          for (const accept of accepts) {
            const response = await at1(id).rpc(era, 'tools/list', {}, { headers: { accept } });
            const takes = accept.includes('text/event-stream');
            const streams = takes && (era === 'legacy' || accept === 'text/event-stream');
            expect([era, accept, response.status, response.headers.get('content-type')]).toEqual([
              era,
              accept,
              200,
              streams ? 'text/event-stream' : 'application/json; charset=utf-8',
            ]);
          }
        }
      });

      test('has the headers of every response', async () => {
        const { id } = await worker();
        const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
        const { headers } = await at1(id).post(ping, { headers: { 'x-request-id': 'r-1', traceparent } });
        expect(headers.get('x-request-id')).toBe('r-1');
        expect(headers.get('traceparent')).toContain('a'.repeat(32));
        expect(headers.get('cache-control')).toBe('private, no-cache');
      });

      test('an unknown tool is an error of the protocol', async () => {
        const { id } = await worker();
        for (const era of eras) {
          const { body } = await at1(id).rpc(era, 'tools/call', {
            name: 'ask_agent',
            arguments: { message: 'x' },
          });
          expect(body.error.code).toBe(-32602);
        }
      });

      test('a subscription and a call that waits for 30 s end when their key is revoked', async () => {
        const { id } = await newAgent(at(), { execution: 'external' });
        const key = await newKey(at(), 'member');
        const headers = { accept: 'application/json, text/event-stream' };
        const send = async (method: string, params: object) => {
          const [message, options] = at1(id).request('modern', method, params, { headers });
          return at1(id).fetch(message, { ...options, key: key.value });
        };
        const wait = { name: 'create_work_item', arguments: { wait_seconds: 30 } };
        const waiting = send('tools/call', wait);
        const params = { notifications: { toolsListChanged: true } };
        const listening = await send('subscriptions/listen', params);
        expect(listening.headers.get('content-type')).toBe('text/event-stream');
        await expect
          .poll(async () => (await ok(at().api.get(`/work-items?agent_id=${id}`))).total_count)
          .toBe(1);
        const started = performance.now();
        await ok(at().api.delete(`/api-keys/${key.id}`), 204);
        await listening.text().catch(() => {});
        const { status, body } = await waiting.then(async (got) => ({
          status: got.status,
          body: (await got.json()) as { error: { code: string } },
        }));
        expect([status, body.error.code]).toEqual([401, 'unauthorized']);
        expect(performance.now() - started).toBeLessThan(20_000);
      });
    },
    { PUBLIC_URL: publicUrl },
  ));
