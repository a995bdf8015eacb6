import { describe, expect, test } from 'vitest';
import { withDatabase } from '../../tests/harness/database.ts';
import { call, secret, useToolAttempts } from '../../tests/harness/tool-attempt.ts';
import { oauthClient } from '../../tests/harness/tool-server.ts';

withDatabase('postgres', (open) => {
  const { create, http, openTools, setUp, start, stopLast } = useToolAttempts(open);

  describe('a call', () => {
    test('to a server that has gone is refused: nothing was sent', async () => {
      const { tools } = await setUp([{ name: 'pay' }]);
      await stopLast();
      expect(await call(tools, 'pay')).toEqual({
        text: expect.stringContaining('not called'),
        isError: true,
      });
    });

    test('of a tool that changed or was denied during the attempt is not made', async () => {
      const { server, id, tools } = await setUp([{ name: 'a' }, { name: 'b' }, { name: 'c' }]);
      server.tools[0]!.description = 'other';
      await http().post(`/tool-servers/${id}/discover`);
      await http().patch(`/tool-servers/${id}/tools/b`, { policy: 'deny' });
      expect((await call(tools, 'a')).text).toMatch(/not called/);
      expect((await call(tools, 'b')).text).toMatch(/not called/);
      expect((await call(tools, 'c')).isError).toBe(false);
      await http().patch(`/tool-servers/${id}`, { enabled: false });
      expect((await call(tools, 'c')).text).toMatch(/not called/);
      expect(server.calls).toHaveLength(1);
    });

    test('with wrong arguments is not sent; of a schema that is wrong only "object" counts', async () => {
      const properties = { n: { type: 'integer' } };
      const { server, tools } = await setUp([
        { name: 'typed', inputSchema: { type: 'object', properties, additionalProperties: false } },
        { name: 'remote', inputSchema: { type: 'object', $ref: 'http://127.0.0.1:9/schema.json' } },
        {
          name: 'slow',
          inputSchema: { type: 'object', properties: { a: { type: 'string', pattern: '^(a+)+$' } } },
        },
      ]);
      expect((await call(tools, 'typed', { n: 'x' })).text).toMatch(/n must be integer/);
      expect((await call(tools, 'typed', { m: 1 })).text).toMatch(/additional properties \(m\)/);
      expect((await call(tools, 'typed', [] as never)).text).toMatch(/must be an object/);
      expect((await call(tools, 'remote', 5 as never)).text).toMatch(/must be an object/);
      expect(server.calls).toEqual([]);
      expect((await call(tools, 'typed', { n: 1 })).isError).toBe(false);
      expect((await call(tools, 'remote', { x: 1 })).isError).toBe(false);
      expect((await call(tools, 'slow', { a: `${'a'.repeat(50)}!` })).text).toMatch(/a must match pattern/);
      expect((await call(tools, 'slow', { a: 'aa' })).isError).toBe(false);
    });

    test('gives notes for what is no text, and no secret of the server', async () => {
      const data = Buffer.alloc(12_345).toString('base64');
      const { tools } = await setUp(
        [
          {
            name: 'mixed',
            result: () => ({
              content: [
                { type: 'text', text: `the key is ${secret} or ${encodeURIComponent(`a b ${secret}`)}` },
                { type: 'image', mimeType: 'image/png', data },
                { type: 'audio', mimeType: 'audio/wav', data: 'AAAA' },
                { type: 'resource', resource: { uri: 'file:///a', mimeType: 'text/csv', text: 'a,b' } },
                { type: 'resource', resource: { uri: 'file:///b', blob: 'AAAA' } },
                { type: 'resource_link', uri: 'file:///c', name: 'c', mimeType: 'text/html' },
              ],
            }),
          },
          { name: 'long', result: () => 'x'.repeat(300_000) },
        ],
        { headers: { Authorization: `Bearer ${secret}` } },
      );
      expect((await call(tools, 'mixed')).text).toBe(
        [
          'the key is [redacted] or a%20b%20[redacted]',
          '[image/png, 12,345 bytes: not passed on]',
          '[audio/wav, 3 bytes: not passed on]',
          '[text/csv, 3 bytes: not passed on]',
          '[application/octet-stream, 3 bytes: not passed on]',
          '[text/html: not passed on]',
        ].join('\n'),
      );
      expect((await call(tools, 'long')).text).toHaveLength(200_000);
    });

    test('waits while max_concurrency calls are in progress', async () => {
      const slow = () => new Promise((resolve) => setTimeout(resolve, 150, 'ok'));
      const { server, tools } = await setUp([{ name: 'slow', result: slow }], { max_concurrency: 2 });
      const results = await Promise.all(Array.from({ length: 6 }, () => call(tools, 'slow')));
      expect(results.every(({ text }) => text === 'ok')).toBe(true);
      expect(server.mostAtOnce).toBe(2);
    });

    test('to a server with OAuth gets a token from the configured issuer, and from no other', async () => {
      const server = await start();
      server.bearer = server.token;
      const oauth = { ...oauthClient, issuer: server.origin };
      const { id, state, last_error } = await create({ url: server.url, oauth });
      expect([state, last_error]).toEqual(['ok', null]);
      server.tools[0]!.result = () => `your token is ${server.token}`;
      const tools = await openTools([id]);
      expect((await call(tools, 'echo')).text).toBe('your token is [redacted]');
      expect(server.requests.filter(({ path }) => path === '/token')).toHaveLength(1);
      // The token was revoked: another one is fetched, and the call is made once.
      server.token = server.bearer = 'another-token-0123456789';
      expect((await call(tools, 'echo')).text).toBe('your token is [redacted]');

      const other = await start();
      other.bearer = 'x';
      const elsewhere = await create({ url: other.url, oauth: { ...oauth, issuer: server.origin } });
      expect(elsewhere.last_error).toMatch(/refuses the credentials/);
      expect(other.requests.some(({ path }) => path === '/token')).toBe(false);
      const wrong = await create({ url: server.url, oauth: { ...oauth, client_secret: 'wrong-secret' } });
      expect(wrong.last_error).toMatch(/did not give an access token/);
    });
  });
});
