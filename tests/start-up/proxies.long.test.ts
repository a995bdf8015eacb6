import { connect } from 'node:tls';
import { fetch, type RequestInit } from 'undici';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bodyLimit } from '../../src/http/bodies.ts';
import { defaultSettings } from '../../src/settings/settings.ts';
import { form } from '../harness/form.ts';
import { startTestPlatform, type TestPlatform } from '../harness/platform.ts';
import { adminKey } from '../harness/process.ts';
import { whySkipped } from '../harness/programs.ts';
import { type ProxyName, proxies, type StartedProxy, startProxy } from '../harness/proxies.ts';

const megabyte = 1024 * 1024;
const hsts = 'max-age=31536000';

describe.each(Object.keys(proxies) as ProxyName[])('the proxies of the documents', (name) => {
  describe.skipIf(!proxies[name])(`${name}${whySkipped({ [name]: proxies[name] })}`, () => {
    let platform: TestPlatform;
    let proxy: StartedProxy;
    beforeAll(async () => {
      const env = { PUBLIC_URL: 'https://platform.example.com', TRUST_PROXY: '127.0.0.1' };
      platform = await startTestPlatform('embedded', env);
      proxy = await startProxy(name, platform.platform.port);
    });
    afterAll(async () => {
      await proxy?.[Symbol.asyncDispose]();
      await platform?.stop();
    });
    const send = (path: string, init: RequestInit = {}) =>
      fetch(proxy.origin + path, {
        ...init,
        headers: { authorization: `Bearer ${adminKey}`, ...(init.headers as Record<string, string>) },
        dispatcher: proxy.dispatcher,
      });
    const post = (path: string, body: Buffer, type = 'application/json') =>
      send(path, { method: 'POST', body, headers: { 'content-type': type } });

    test('keeps the metrics and the readiness internal, however their paths are written', async () => {
      const port = Number(new URL(proxy.origin).port);
      // As it is: `fetch` would resolve dots and slashes.
      const get = (path: string) =>
        new Promise<string>((resolve, reject) => {
          const servername = 'platform.example.com';
          const socket = connect({ port, host: '127.0.0.1', servername, rejectUnauthorized: false });
          let text = '';
          socket.setEncoding('utf8').on('data', (chunk: string) => {
            text += chunk;
          });
          socket.on('end', () => resolve(text)).on('error', reject);
          socket.write(`GET ${path} HTTP/1.1\r\nHost: platform.example.com\r\nConnection: close\r\n\r\n`);
        });
      const variants = (path: string) =>
        [
          path,
          `${path}/`,
          `${path}//`,
          `/${path}`,
          `${path}?x`,
          `${path}/?x`,
          `/.${path}`,
          `/x/..${path}`,
        ].concat([
          `/%${path.charCodeAt(1).toString(16)}${path.slice(2)}`,
          `${path}%2f`,
          `${path};x`,
          `/acme${path}`,
        ]);
      for (const path of ['/metrics', '/readyz'].flatMap(variants)) {
        const text = await get(path);
        expect(text, path).toMatch(/^HTTP\/1\.1 (400|403|404) /);
        expect(text, path).not.toMatch(/agent_platform_|"status":"ready"/);
      }
      expect(await get('/healthz')).toMatch(/^HTTP\/1\.1 200 [\s\S]*"status":"ok"/);
    });

    test('takes the largest allowed body of each route, and leaves larger ones to the platform', async () => {
      const agent = (mode: string) => JSON.stringify({ name: 'Reader', mode });
      const padded = (text: string, bytes: number) => Buffer.from(text.padEnd(bytes));
      const created = await post('/api/v2/agents', padded(agent('conversational'), bodyLimit));
      expect(created.status).toBe(200);
      const { id } = (await created.json()) as { id: string };
      expect((await post('/v1/traces', padded('{"resourceSpans":[]}', 20 * megabyte))).status).toBe(200);
      const conversation = await post(`/api/v2/agents/${id}/conversations`, Buffer.from('{}'));
      const { id: conversationId } = (await conversation.json()) as { id: string };
      const upload = (bytes: number) => {
        const content = Buffer.alloc(bytes, 'a,b\n');
        const { body, headers } = form([{ name: 'file', filename: 'a.csv', content, type: 'text/csv' }]);
        const path = `/api/v2/agents/${id}/conversations/${conversationId}/files`;
        return post(path, body, headers['content-type']);
      };
      const largest = defaultSettings.MAX_FILE_SIZE_IN_MB * megabyte;
      expect((await upload(largest)).status).toBe(200);
      const refused = [
        await post('/api/v2/agents', padded(agent('worker'), bodyLimit + 1)),
        await post('/v1/traces', padded('{"resourceSpans":[]}', 20 * megabyte + 1)),
        await upload(largest + 1),
      ];
      for (const response of refused) {
        expect([400, 413, 422]).toContain(response.status);
        expect(response.headers.get('content-type')).toMatch(/^application\/json/);
      }
    });

    test('speaks HTTP/2, and says once that browsers use no plain HTTP and guess no types', async () => {
      const port = Number(new URL(proxy.origin).port);
      const negotiated = await new Promise((resolve, reject) => {
        const options = { servername: 'platform.example.com', ALPNProtocols: ['h2', 'http/1.1'] };
        const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false, ...options }, () => {
          resolve(socket.alpnProtocol);
          socket.destroy();
        }).on('error', reject);
      });
      expect(negotiated).toBe('h2');
      for (const path of ['/metrics', '/healthz', '/', '/api/v2/agents', '/api/v2/nothing']) {
        const { headers } = await send(path);
        expect(
          [headers.get('strict-transport-security'), headers.get('x-content-type-options')],
          path,
        ).toEqual([hsts, 'nosniff']);
      }
    });
  });
});
