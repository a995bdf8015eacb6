import { connect } from 'node:net';
import { describe, expect, test } from 'vitest';
import { adminKey } from '../harness/process.ts';
import { withPlatform } from './fixture.ts';

/** Sends `lines` and a blank line as they are, and resolves to all that arrives until the server closes. */
const exchange = (url: string, lines: string[], body = ''): Promise<string> =>
  new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    let response = '';
    socket.setTimeout(10_000, () => socket.destroy(new Error(`no end after: ${response}`)));
    socket.on('data', (chunk) => {
      response += chunk;
    });
    socket.on('end', () => resolve(response)).on('error', reject);
    socket.end(`${lines.join('\r\n')}\r\n\r\n${body}`);
  });

const errorOf = (response: string) => JSON.parse(response.slice(response.indexOf('\r\n\r\n'))).error;
const authorization = `Authorization: Bearer ${adminKey}`;

describe('malformed and unusual HTTP requests', () =>
  withPlatform('embedded', (at) => {
    const send = (lines: string[], body?: string) => exchange(at().test.platform.url, lines, body);

    test('a request must have one header Host: none and several are 400 with an error body', async () => {
      for (const hosts of [[], ['Host: a', 'HOST: b']]) {
        const response = await send(['GET /api/v2 HTTP/1.1', ...hosts, 'Connection: close']);
        expect(response).toMatch(/^HTTP\/1\.1 400 /);
        expect(errorOf(response)).toMatchObject({
          code: 'bad_request',
          message: expect.stringMatching(/Host/),
        });
      }
      expect(await send(['GET /healthz HTTP/1.0'])).toMatch(/^HTTP\/1\.1 200 /);
    });

    test('what is too large or not HTTP is 400 with an error body that says which', async () => {
      const large = await send(['GET /api/v2 HTTP/1.1', 'Host: a', `X-Large: ${'a'.repeat(20_000)}`]);
      expect(errorOf(large)).toMatchObject({
        code: 'bad_request',
        message: expect.stringMatching(/too large/),
      });
      for (const line of ['FOO / HTTP/1.1', 'CONNECT example.com:443 HTTP/1.1', 'PRI * HTTP/2.0']) {
        const response = await send([line, 'Host: a']);
        expect(response, line).toMatch(/^HTTP\/1\.1 400 /);
        expect(errorOf(response).message, line).toBe('The request is not valid HTTP.');
      }
    });

    test('an unknown expectation is ignored', async () => {
      const response = await send(['GET /healthz HTTP/1.1', 'Host: a', 'Expect: luck', 'Connection: close']);
      expect(response).toMatch(/^HTTP\/1\.1 200 /);
    });

    test('traces with a Content-Type that is not a media type: 401 without a key, else 415, as a Status', async () => {
      for (const [status, code, ...headers] of [
        [401, 16],
        [415, 3, authorization],
      ] as [number, number, ...string[]][]) {
        const response = await send(
          [
            'POST /v1/traces HTTP/1.1',
            'Host: a',
            'Connection: close',
            'Content-Type: ;;=',
            'Content-Length: 1',
            ...headers,
          ],
          'x',
        );
        expect(response).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
        expect(JSON.parse(response.slice(response.indexOf('\r\n\r\n')))).toEqual({
          code,
          message: expect.any(String),
        });
      }
    });
  }));
