import { connect } from 'node:net';
import { describe, expect, test } from 'vitest';
import { rawRequest } from '../harness/http.ts';
import { adminKey } from '../harness/process.ts';
import { expectError, faults, newAgent, ok, unknownId, uuid, withPlatform } from './fixture.ts';

const json = { 'content-type': 'application/json' };
const nested = (depth: number) =>
  `{"name":"n","mode":"worker","x":${'['.repeat(depth - 1)}${']'.repeat(depth - 1)}}`;

describe('requests', () =>
  withPlatform('postgres', (at) => {
    const raw = (
      path: string,
      body: string | Uint8Array | undefined,
      headers: Record<string, string> = json,
    ) => at().api.raw('POST', path, body, { headers });
    const wire = (lines: string[], body: string | Uint8Array = '') =>
      rawRequest(
        at().test.platform.port,
        Buffer.concat([
          Buffer.from(`${[...lines, 'Host: x', '', ''].join('\r\n')}`, 'latin1'),
          Buffer.from(body),
        ]),
      );
    const bearer = `Authorization: Bearer ${adminKey}`;

    describe('bodies', () => {
      test.each([
        ['nothing', undefined, json],
        ['an empty text', '', json],
        ['text that is not JSON', '{', json],
        ['two values', '{} {}', json],
        ['a trailing comma', '{"name":"x",}', json],
        ['NaN', '{"name":NaN}', json],
        ['a byte order mark', '\ufeff{}', json],
        ['blanks', '   ', json],
        ['no content type', '{"name":"x","mode":"worker"}', {}],
        ['text/plain', '{"name":"x","mode":"worker"}', { 'content-type': 'text/plain' }],
        ['a form', 'name=x', { 'content-type': 'application/x-www-form-urlencoded' }],
        ['an unreadable content type', '{}', { 'content-type': ';;;' }],
        [
          'another charset',
          '{"name":"x","mode":"worker"}',
          { 'content-type': 'application/json; charset=latin1' },
        ],
        ['a content encoding', '{"name":"x","mode":"worker"}', { ...json, 'content-encoding': 'gzip' }],
        ['invalid UTF-8', Uint8Array.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), json],
        ['a body without what is required', '{}', json],
        ['a body that lacks one field and has a wrong one', '{"name":5}', json],
      ])('%s is 400', async (_what, body, headers) => {
        expectError(await raw('/agents', body, headers as Record<string, string>), 400);
      });

      test.each([
        ['an array', '[]'],
        ['null', 'null'],
        ['a string', '"text"'],
        ['a number', '5'],
        ['true', 'true'],
        ['a wrong type', '{"name":5,"mode":"worker"}'],
        ['null in a field that cannot be null', '{"name":null,"mode":"worker"}'],
        ['a value that is not allowed', '{"name":"x","mode":"both"}'],
        ['an empty name', '{"name":"","mode":"worker"}'],
        ['NUL in a value', '{"name":"a\\u0000b","mode":"worker"}'],
        ['half a surrogate pair', '{"name":"\\ud800","mode":"worker"}'],
        ['the other half', '{"name":"\\udc00","mode":"worker"}'],
      ])('%s is 422 with details', async (_what, body) => {
        expectError(await raw('/agents', body), 422);
      });

      test.each([
        ['a key', '{"payload":{"\\u0000":1}}', 'payload'],
        ['a nested key', '{"payload":{"a":[{"\\ud800":1}]}}', 'payload.a[0]'],
        ['a nested value', '{"payload":{"a":["ok",{"b":"\\u0000"}]}}', 'payload.a[1].b'],
        ['metadata', '{"metadata":{"a":"\\udfff"}}', 'metadata.a'],
      ])(
        'NUL or half a surrogate pair in %s of a free-form object is 422 at its path',
        async (_what, body, path) => {
          const agent = await newAgent(at());
          const text = body.replace('{', '{"cron_expression":"* * * * *",');
          const response = await raw(`/agents/${agent.id}/schedules`, text);
          expectError(response, 422);
          expect(faults(response)).toEqual([path]);
        },
      );

      test('every wrong field is named by its path', async () => {
        const response = await at().api.post('/agents', {
          name: 5,
          mode: 'x',
          settings: { max_steps: 0, max_attempts: 'x' },
        });
        expectError(response, 422);
        expect(faults(response).sort()).toEqual([
          'mode',
          'name',
          'settings.max_attempts',
          'settings.max_steps',
        ]);
      });

      test.each([
        'application/json',
        'APPLICATION/JSON',
        'application/json; charset=utf-8',
        'application/json;charset="UTF-8"',
        'application/vnd.x+json',
      ])('the content type %s is JSON', async (type) => {
        await ok(raw('/agents', '{"name":"x","mode":"worker"}', { 'content-type': type }));
      });

      test('unknown fields are ignored, and names of the prototype are ordinary names', async () => {
        const text = '{"name":"x","mode":"worker","zzz":1,"__proto__":{"name":"y"},"constructor":1}';
        expect((await ok(raw('/agents', text))).name).toBe('x');
      });

      test('free-form objects keep __proto__, deep nesting, big numbers as JSON has them, and every Unicode character', async () => {
        const agent = await newAgent(at());
        const payload =
          '{"__proto__":{"a":1},"constructor":null,"":0,"e":1e21,"n":-0.5,"t":"😀\\u001f\\"\\\\/"}';
        const made = await raw(
          `/agents/${agent.id}/schedules`,
          `{"cron_expression":"* * * * *","payload":${payload}}`,
        );
        expect(made.status).toBe(200);
        expect(JSON.parse(made.text).payload).toEqual(JSON.parse(payload));
        expect(Object.hasOwn(made.body.payload, '__proto__')).toBe(true);
      });

      test('integers in free-form objects keep every digit, on the way to the Work Item and in repeated responses', async () => {
        const agent = await newAgent(at());
        const path = `/agents/${agent.id}/schedules`;
        const payload = '{"ids":[9223372036854775807,-9007199254740993,12345678901234567890]}';
        const body = `{"cron_expression":"0 0 1 1 *","payload":${payload},"metadata":${payload}}`;
        const headers = { ...json, 'idempotency-key': `digits of ${agent.id}`.replaceAll(' ', '-') };
        const made = await raw(path, body, headers);
        for (const response of [
          made,
          await raw(path, body, headers),
          await at().api.get(`${path}/${made.body.id}`),
          await at().api.raw('PUT', `${path}/${made.body.id}`, made.text, { headers: json }),
        ]) {
          expect(response.text).toContain(`"payload":${payload},"metadata":${payload}`);
        }
        const run = await at().app.post(`${path}/${made.body.id}/run`);
        expect(run.text).toContain(`"payload":${payload}`);
        expect((await at().api.get(`/work-items/${run.body.id}`)).text).toContain(`"payload":${payload}`);
      });

      test('numbers too large to store, and integers in fields of another type, are 422', async () => {
        const path = `/agents/${(await newAgent(at())).id}/schedules`;
        const refused = async (fields: string) => {
          const response = await raw(path, `{"cron_expression":"* * * * *",${fields}}`);
          expectError(response, 422);
          return faults(response);
        };
        expect(await refused('"payload":{"a":[1e400]},"metadata":{"b":-1e999}')).toEqual([
          'payload.a[0]',
          'metadata.b',
        ]);
        expect(await refused('"payload":12345678901234567890')).toEqual(['payload']);
        expect(await refused('"message":12345678901234567890')).toEqual(['message']);
      });

      test('a body nested 200 levels deep is read; 201 levels and a million are 400', async () => {
        await ok(raw('/agents', nested(200)));
        expectError(await raw('/agents', nested(201)), 400, /200/);
        expectError(await raw('/agents', nested(1_000_000)), 400, /200/);
        await ok(raw('/agents', `{"name":"${'['.repeat(190)}","mode":"worker"}`));
      });

      test('a body with 200,000 values is read; with one more it is 400, before anything is made of it', async () => {
        // The body, its two texts and the list are four.
        const wide = (items: number) => `{"name":"n","mode":"worker","x":[${'[],'.repeat(items - 1)}[]]}`;
        await ok(raw('/agents', wide(199_996)));
        expectError(await raw('/agents', wide(199_997)), 400, /200,000 values/);
        const keys = Array.from({ length: 250_000 }, (_, i) => `"k${i}":1`);
        expectError(await raw('/work-items', `{${keys.join(',')}}`), 400, /200,000 values/);
        const text = JSON.stringify({ name: '1,'.repeat(200_000), mode: 'worker' });
        expectError(await raw('/agents', text), 422);
      });

      test('a body over the limit is 400, whether it has a length or comes in chunks, and 401 without a key', async () => {
        const body = `{"name":"${'x'.repeat(10 * 1024 * 1024)}","mode":"worker"}`;
        expectError(await raw('/agents', body), 400, /10,485,760 bytes/);
        const head = [
          'POST /api/v2/agents HTTP/1.1',
          'Content-Type: application/json',
          'Transfer-Encoding: chunked',
        ];
        const chunk = `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
        const chunked = await wire([...head, bearer], chunk);
        expect([chunked.status, chunked.text]).toEqual([400, expect.stringContaining('bad_request')]);
        expect((await wire(head, chunk)).status).toBe(401);
        expect(
          (await wire(['POST /api/v2/agents HTTP/1.1', `Content-Length: ${2 ** 40}`, bearer])).status,
        ).toBe(400);
      });

      const large = Buffer.alloc(64 * 1024 * 1024);
      const headOfLarge = ['POST /api/v2/agents HTTP/1.1', `Content-Length: ${large.length}`];

      test('a connection stays open after a body over the limit', async () => {
        const response = await wire([...headOfLarge, bearer], large);
        expect([response.status, response.closed]).toEqual([400, false]);
      });

      test.each([
        ['over the limit', adminKey, '400'],
        ['without a valid key', 'wrong', '401'],
      ])(
        'a connection with Connection: close is closed after a body %s, and a client that is still sending gets the response',
        async (_, key, status) => {
          const socket = connect(at().test.platform.port, '127.0.0.1');
          const head = [...headOfLarge, `Authorization: Bearer ${key}`, 'Connection: close', 'Host: x'];
          socket.write(`${head.join('\r\n')}\r\n\r\n`);
          socket.write(large);
          // Throws if the connection breaks off, and ends when the server closes it.
          const response = Buffer.concat(await socket.toArray()).toString();
          expect(response).toContain(`HTTP/1.1 ${status} `);
          expect(socket.bytesWritten).toBeGreaterThan(large.length);
        },
      );

      test('a body is ignored if the operation reads none', async () => {
        const agent = await newAgent(at());
        expect((await at().api.raw('DELETE', `/agents/${agent.id}`, '{', { headers: json })).status).toBe(
          204,
        );
      });
    });

    describe('queries', () => {
      test('an unknown or malformed id in a filter matches nothing', async () => {
        for (const id of [unknownId, 'x', '%', "'"]) {
          for (const name of ['agent_id', 'schedule_id']) {
            expect(await ok(at().api.get(`/work-items?${name}=${id}`))).toEqual({
              records: [],
              total_count: 0,
              next_offset: null,
            });
          }
          expect((await ok(at().api.get(`/audits?target_id=${id}`))).data).toEqual([]);
        }
      });

      test('paging parameters of the schedule list are ignored', async () => {
        const agent = await newAgent(at());
        await ok(at().api.get(`/agents/${agent.id}/schedules?limit=0&next=x&offset=-1`));
      });
    });

    describe('headers', () => {
      test('a request id is returned as it was sent, or a new one, also in errors', async () => {
        const agents = (id: string | null, path = '/agents') =>
          at().api.get(path, { headers: { 'x-request-id': id } });
        expect((await agents('abc-123')).headers.get('x-request-id')).toBe('abc-123');
        expect((await agents('e/1', '/agents/x')).headers.get('x-request-id')).toBe('e/1');
        for (const bad of [null, 'a b', 'x'.repeat(129), 'é', '']) {
          expect((await agents(bad)).headers.get('x-request-id')).toMatch(uuid);
        }
        const [one, two] = [await agents(null), await agents(null)];
        expect(one.headers.get('x-request-id')).not.toBe(two.headers.get('x-request-id'));
      });

      test('each error has an id of its own', async () => {
        const ids = new Set<string>();
        for (let n = 0; n < 20; n++) ids.add((await at().api.get('/agents/x')).body.error.error_id);
        expect(ids.size).toBe(20);
      });

      test('nothing in a request becomes a header of the response', async () => {
        const inject = '%0d%0aX-Injected:%201';
        for (const path of [`/api/v2/agents/${inject}`, `/${inject}/api/v2/agents`, `/api/v2/${inject}`]) {
          const response = await wire([`GET ${path} HTTP/1.1`, bearer, 'X-Request-Id: a\tb']);
          expect(response.headers).not.toHaveProperty('x-injected');
          expect(response.headers['x-request-id']).toMatch(uuid);
        }
        const folded = await wire([
          'GET /api/v2/agents HTTP/1.1',
          bearer,
          'X-Request-Id: a\r\n X-Injected: 1',
        ]);
        expect(folded.headers).not.toHaveProperty('x-injected');
        const lf = await wire(['GET /api/v2/agents HTTP/1.1', bearer, 'X-Request-Id: a\nX-Injected: 1']);
        expect(lf.headers).not.toHaveProperty('x-injected');
      });

      test('traceparent: the trace continues under a span of the platform, in errors too; a wrong one begins a new trace', async () => {
        const trace = '4bf92f3577b34da6a3ce929d0e0e4736';
        const get = async (value: string | null, path = '/agents') =>
          (await at().api.get(path, { headers: { traceparent: value } })).headers.get('traceparent')!;
        for (const path of ['/agents', '/agents/x']) {
          const own = await get(`00-${trace}-00f067aa0ba902b7-01`, path);
          expect(own).toMatch(new RegExp(`^00-${trace}-[0-9a-f]{16}-0[01]$`));
          expect(own).not.toContain('00f067aa0ba902b7');
        }
        for (const bad of [
          null,
          'x',
          `00-${'0'.repeat(32)}-00f067aa0ba902b7-01`,
          `00-${trace}-${'0'.repeat(16)}-01`,
          `ff-${trace}-00f067aa0ba902b7-01`,
        ]) {
          const own = await get(bad);
          expect(own).toMatch(/^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-0[01]$/);
          expect(own).not.toContain(trace);
        }
      });

      test('traceparent: the trace continues if a later version adds unknown fields', async () => {
        const trace = '4bf92f3577b34da6a3ce929d0e0e4736';
        const headers = { traceparent: `01-${trace}-00f067aa0ba902b7-01-extra` };
        const handled = await at().api.get('/agents', { headers });
        expect(handled.headers.get('traceparent')).toMatch(
          new RegExp(`^00-${trace}-(?!00f067)[0-9a-f]{16}-01$`),
        );
        const refused = await at().api.get('/no-such-thing', { headers });
        expect(refused.headers.get('traceparent')).toBe(`00-${trace}-00f067aa0ba902b7-01`);
      });

      test('traceparent: a request that is refused before its handler carries the trace that was sent', async () => {
        const parent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
        const headers = { traceparent: parent };
        const refusals = [
          await at().api.get('/agents', { headers: { ...headers, authorization: 'Bearer wrong' } }),
          await at().api.get('/no-such-thing', { headers }),
        ];
        for (const { status, headers: own } of refusals) {
          expect([status, own.get('traceparent')]).toEqual([status, parent]);
        }
        expect(refusals.map(({ status }) => status)).toEqual([401, 404]);
      });

      test('a malformed If-Match or Idempotency-Key is not a server error', async () => {
        const agent = await newAgent(at());
        const headers = { 'if-match': 'garbage' };
        expectError(await at().api.patch(`/agents/${agent.id}`, { name: 'y' }, { headers }), 412);
        for (const key of ['a b', 'x'.repeat(256), 'é', '']) {
          expectError(
            await at().api.post(
              '/agents',
              { name: 'x', mode: 'worker' },
              { headers: { 'idempotency-key': key } },
            ),
            422,
            /Idempotency-Key/,
          );
        }
        const twice = await wire(
          [
            'POST /api/v2/agents HTTP/1.1',
            bearer,
            'Content-Type: application/json',
            'Content-Length: 28',
            'Idempotency-Key: a',
            'Idempotency-Key: b',
          ],
          '{"name":"x","mode":"worker"}',
        );
        expect(twice.status).toBe(422);
      });

      test.each([
        ['a header without a colon', 'GET /api/v2 HTTP/1.1\r\nHost: x\r\nbroken\r\n\r\n'],
        ['without Host', 'GET /api/v2 HTTP/1.1\r\nConnection: close\r\n\r\n'],
        ['without a version', 'GET /api/v2 HTTQ\r\n\r\n'],
        ['a space in a name', 'GET /api/v2 HTTP/1.1\r\nHo st: x\r\n\r\n'],
        [
          'two lengths',
          'POST /api/v2/agents HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n{}',
        ],
        [
          'a length and chunks',
          'POST /api/v2/agents HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
        ],
        [
          'too many bytes of headers',
          `GET /api/v2 HTTP/1.1\r\nHost: x\r\nX-Big: ${'x'.repeat(100_000)}\r\n\r\n`,
        ],
        ['bytes that are not HTTP', '\u0016\u0003\u0001\u0002\u0000'],
      ])('%s is 400 with the error body, and the connection is closed', async (_what, bytes) => {
        const response = await rawRequest(at().test.platform.port, bytes);
        expectError({ status: response.status, text: response.text, body: JSON.parse(response.text) }, 400);
        expect(response.closed).toBe(true);
      });
    });
  }));
