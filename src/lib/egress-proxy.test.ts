import { createServer, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import {
  type ConnectProxy,
  type ProxyOptions,
  startConnectProxy,
} from '../../tests/harness/connect-proxy.ts';
import { type Listening, listen } from '../../tests/harness/listen.ts';
import { selfSigned, selfSignedAway } from '../../tests/harness/self-signed.ts';
import { createEgress, type Egress } from './egress.ts';
import { parseNoProxy, parseProxy } from './outgoing-proxy.ts';

/** A name that only the proxy knows, as `tls.invalid`, for which the certificate is. */
const plainName = 'models.invalid';
/** An address that no one has here: the proxy leads it to this machine. */
const away = '203.0.113.7';

let plain: Listening;
let secure: Listening;
const seen: { headers: Record<string, unknown>; url: string }[] = [];
const handle: Parameters<typeof createServer>[1] = (request, response) => {
  seen.push({ headers: request.headers, url: request.url! });
  if (request.url === '/proxy-auth') response.writeHead(407);
  request.pipe(response);
};
beforeAll(async () => {
  plain = await listen(createServer(handle));
  secure = await listen(createTlsServer(selfSignedAway, handle) as unknown as Server);
});
afterAll(() => Promise.all([plain?.close(), secure?.close()]));

const made: AsyncDisposable[] = [];
afterEach(async () => {
  seen.length = 0;
  for (const one of made.splice(0).reverse()) await one[Symbol.asyncDispose]();
});
const proxyWith = async (options: ProxyOptions = {}): Promise<ConnectProxy> => {
  const local = { host: '127.0.0.1', port: 0 };
  const proxy = await startConnectProxy({
    names: { [plainName]: local, 'tls.invalid': local, [away]: local, 'other.invalid': local },
    tunnelPorts: [secure.port],
    ...options,
  });
  made.push(proxy);
  return proxy;
};
const egressThrough = (address: string, noProxy = '', more: object = {}): Egress => {
  const proxy = parseProxy(address);
  const proxies = { http: proxy, https: proxy, none: parseNoProxy(noProxy) };
  const egress = createEgress({ ca: [selfSigned.cert, selfSignedAway.cert], proxies, ...more });
  made.push({ [Symbol.asyncDispose]: () => egress.close() });
  return egress;
};
const post = { method: 'POST', body: 'hello', timeoutMs: 5_000 };
const failureFor = (egress: Egress, url: string) =>
  egress.request(url, post).then(
    () => null,
    (error) => error,
  );

test('http is forwarded in absolute form, with the body and without the credentials of the proxy', async () => {
  const proxy = await proxyWith({ credentials: 'clerk:pass word' });
  const egress = egressThrough(`http://clerk:pass%20word@127.0.0.1:${proxy.port}`);
  const url = `http://${plainName}:${plain.port}/a?b=c`;
  expect((await egress.request(url, { ...post, headers: { 'x-own': '1' } })).body.toString()).toBe('hello');
  const response = await egress.fetch(url, { method: 'POST', body: 'fetched', headers: { 'x-own': '1' } });
  expect(await response.text()).toBe('fetched');
  let sent = 0;
  const single = await egress.fetchOnNewConnection(url, {
    method: 'POST',
    body: 'once',
    headers: { 'x-own': '1' },
    onSend: () => sent++,
  });
  expect([await single.text(), sent]).toEqual(['once', 1]);
  expect(proxy.requests).toEqual(Array(3).fill(`POST ${url}`));
  expect(proxy.faults).toEqual([]);
  for (const { headers, url: path } of seen) {
    expect(path).toBe('/a?b=c');
    expect(headers).toMatchObject({ host: `${plainName}:${plain.port}`, 'x-own': '1' });
    expect(headers).not.toHaveProperty('proxy-authorization');
  }
  expect(seen).toHaveLength(3);
});

test('https goes in a tunnel, whose certificate is that of the target', async () => {
  const proxy = await proxyWith();
  const egress = egressThrough(proxy.url);
  for (const host of ['tls.invalid', away]) {
    const url = `https://${host}:${secure.port}/`;
    for (let i = 0; i < 2; i++) expect((await egress.request(url, post)).body.toString()).toBe('hello');
    const single = await egress.fetchOnNewConnection(url, { method: 'POST', body: 'once' });
    expect(await single.text()).toBe('once');
    expect(new Set(proxy.requests.splice(0))).toEqual(new Set([`CONNECT ${host}:${secure.port}`]));
  }
  expect(await failureFor(egress, `https://other.invalid:${secure.port}/`)).toMatchObject({ kind: 'tls' });
  expect(proxy.faults).toEqual([]);
  expect(seen).toHaveLength(6);
});

test('connections to the proxy are kept alive', async () => {
  const proxy = await proxyWith();
  const egress = egressThrough(proxy.url);
  for (let i = 0; i < 5; i++) {
    expect((await egress.request(`http://${plainName}:${plain.port}/`, post)).status).toBe(200);
  }
  expect(proxy.connections).toBeLessThanOrEqual(2);
});

test.each(['http', 'https'])(
  'a proxy that refuses credentials, the host or the port of %s is named, without credentials',
  async (scheme) => {
    const proxy = await proxyWith({ credentials: 'clerk:right-password', refused: ['refused.invalid'] });
    const port = scheme === 'http' ? plain.port : secure.port;
    const url = `${scheme}://${scheme === 'http' ? plainName : 'tls.invalid'}:${port}/`;
    for (const wrong of [`127.0.0.1:${proxy.port}`, `clerk:wrong-password@127.0.0.1:${proxy.port}`]) {
      const error = await failureFor(egressThrough(wrong), url);
      expect(error).toMatchObject({
        kind: 'proxy',
        message: expect.stringContaining(`127.0.0.1:${proxy.port}`),
      });
      expect(error.message).toMatch(/credentials .*\(407\)/);
      expect(error.message).not.toMatch(/wrong|clerk/);
    }
    const egress = egressThrough(`http://clerk:right-password@127.0.0.1:${proxy.port}`);
    expect(seen).toEqual([]);
    if (scheme === 'https') {
      expect(await failureFor(egress, `https://refused.invalid:${port}/`)).toMatchObject({ kind: 'proxy' });
      expect(await failureFor(egress, `https://unknown.invalid:${port}/`)).toMatchObject({ kind: 'connect' });
    }
    const fetched = await egressThrough(`127.0.0.1:${proxy.port}`)
      .fetch(url)
      .catch((error) => error.cause);
    expect(fetched).toMatchObject({ kind: 'proxy' });
  },
);

test('a proxy that cannot be reached is named', async () => {
  const egress = egressThrough('http://clerk:a-password@127.0.0.1:9');
  for (const url of [`http://${plainName}/`, 'https://tls.invalid/']) {
    const error = await failureFor(egress, url);
    expect(error).toMatchObject({ kind: 'proxy' });
    expect(error.message).toBe('the proxy 127.0.0.1:9 cannot be used: no connection (ECONNREFUSED)');
  }
});

test('loopback and what NO_PROXY names do not go through it', async () => {
  const proxy = await proxyWith();
  const egress = egressThrough(proxy.url, 'other.invalid, 203.0.113.0/24');
  for (const host of ['127.0.0.1', 'localhost']) {
    expect((await egress.request(`http://${host}:${plain.port}/`, post)).status).toBe(200);
    // The certificate is for other names.
    expect(await failureFor(egress, `https://${host}:${secure.port}/`)).toMatchObject({ kind: 'tls' });
    expect(await egress.route(new URL(`https://${host}:${secure.port}/`))).toMatchObject({ proxy: null });
  }
  expect(await failureFor(egress, 'http://other.invalid/')).toMatchObject({ kind: 'dns' });
  await expect(egress.route(new URL('http://203.0.113.9/'))).resolves.toMatchObject({ proxy: null });
  expect(proxy.connections).toBe(0);
});

test('a denied address is refused here, and a name that is not known here is left to the proxy', async () => {
  const proxy = await proxyWith();
  const egress = egressThrough(proxy.url, '', { deny: ['203.0.113.0/24', '127.0.0.0/8', '::1/128'] });
  for (const url of [
    `http://${away}:${plain.port}/`,
    `https://${away}:${secure.port}/`,
    `http://localhost:${plain.port}/`,
  ]) {
    expect(await failureFor(egress, url), url).toMatchObject({ kind: 'denied' });
    await expect(egress.route(new URL(url))).rejects.toMatchObject({ kind: 'denied' });
  }
  expect(proxy.connections).toBe(0);
  // The proxy's own address is not for the rules: the operator named it.
  expect((await egress.request(`http://${plainName}:${plain.port}/`, post)).status).toBe(200);
  expect(await egress.route(new URL(`https://${plainName}/`))).toMatchObject({
    proxy: { shown: `127.0.0.1:${proxy.port}` },
    addresses: null,
  });
});

test('the connection to the proxy may be TLS', async () => {
  const proxy = await proxyWith({ tls: selfSigned, credentials: 'a:b' });
  const egress = egressThrough(`https://a:b@localhost:${proxy.port}`);
  expect((await egress.request(`http://${plainName}:${plain.port}/`, post)).status).toBe(200);
  expect((await egress.request(`https://tls.invalid:${secure.port}/`, post)).status).toBe(200);
  expect(proxy.faults).toEqual([]);
  expect(proxy.requests).toHaveLength(2);
});
