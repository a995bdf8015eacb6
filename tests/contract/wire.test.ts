import { connect } from 'node:net';
import { describe, expect, test } from 'vitest';
import { adminKey } from '../harness/process.ts';
import { withPlatform } from './fixture.ts';

/** Sends `lines` and a blank one as they are, and answers all that comes back until the server closes. */
const exchange = (url: string, lines: string[], body = ''): Promise<string> =>
  new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    let answer = '';
    socket.setTimeout(10_000, () => socket.destroy(new Error(`no end after: ${answer}`)));
    socket.on('data', (chunk) => {
      answer += chunk;
    });
    socket.on('end', () => resolve(answer)).on('error', reject);
    socket.end(`${lines.join('\r\n')}\r\n\r\n${body}`);
  });

const errorOf = (answer: string) => JSON.parse(answer.slice(answer.indexOf('\r\n\r\n'))).error;
const authorization = `Authorization: Bearer ${adminKey}`;

describe('requests at the edge of HTTP', () =>
  withPlatform('embedded', (at) => {
    const send = (lines: string[], body?: string) => exchange(at().test.platform.url, lines, body);

    test('one header Host: none and several are 400 with an error body', async () => {
      for (const hosts of [[], ['Host: a', 'HOST: b']]) {
        const answer = await send(['GET /api/v2 HTTP/1.1', ...hosts, 'Connection: close']);
        expect(answer).toMatch(/^HTTP\/1\.1 400 /);
        expect(errorOf(answer)).toMatchObject({
          code: 'bad_request',
          message: expect.stringMatching(/Host/),
        });
      }
      expect(await send(['GET /healthz HTTP/1.0'])).toMatch(/^HTTP\/1\.1 200 /);
    });

    test('what is too large or no HTTP is 400 with an error body that says which', async () => {
      const large = await send(['GET /api/v2 HTTP/1.1', 'Host: a', `X-Large: ${'a'.repeat(20_000)}`]);
      expect(errorOf(large)).toMatchObject({
        code: 'bad_request',
        message: expect.stringMatching(/too large/),
      });
      for (const line of ['FOO / HTTP/1.1', 'CONNECT example.com:443 HTTP/1.1', 'PRI * HTTP/2.0']) {
        const answer = await send([line, 'Host: a']);
        expect(answer, line).toMatch(/^HTTP\/1\.1 400 /);
        expect(errorOf(answer).message, line).toBe('The request is not valid HTTP.');
      }
    });

    test('an expectation that nobody knows is ignored', async () => {
      const answer = await send(['GET /healthz HTTP/1.1', 'Host: a', 'Expect: luck', 'Connection: close']);
      expect(answer).toMatch(/^HTTP\/1\.1 200 /);
    });

    test('traces with a Content-Type that is no media type: 401 without a key, else 415, as a Status', async () => {
      for (const [status, code, ...headers] of [
        [401, 16],
        [415, 3, authorization],
      ] as [number, number, ...string[]][]) {
        const answer = await send(
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
        expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
        expect(JSON.parse(answer.slice(answer.indexOf('\r\n\r\n')))).toEqual({
          code,
          message: expect.any(String),
        });
      }
    });
  }));
