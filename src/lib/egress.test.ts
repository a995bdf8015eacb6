import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createEgress, type Egress } from './egress.ts';
import { parseCidrs } from './egress-addresses.ts';

let server: Server;
let connections: number;
let port: number;
const made: Egress[] = [];
beforeEach(async () => {
  connections = 0;
  server = createServer((request, response) => {
    if (request.url === '/hang') return;
    if (request.url === '/trickle') {
      const timer = setInterval(() => response.write('x'), 20);
      response.on('close', () => clearInterval(timer));
      return;
    }
    if (request.url === '/large') return void response.end(Buffer.alloc(1_000_000, 97));
    if (request.url === '/redirect') {
      return void response
        .writeHead(302, { location: `http://127.0.0.1:${port}/ok`, 'set-cookie': ['a', 'b'] })
        .end('moved');
    }
    if (request.url === '/drop') return void request.socket.destroy();
    request.pipe(response);
  });
  server.on('connection', () => connections++);
  await new Promise<void>((resolve) => server.listen(0, '::', resolve));
  port = (server.address() as AddressInfo).port;
});
afterEach(async () => {
  for (const egress of made.splice(0)) await egress.close();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});
const egressWith = (rules: Parameters<typeof createEgress>[0]): Egress => {
  const egress = createEgress(rules);
  made.push(egress);
  return egress;
};
const get = { method: 'GET', timeoutMs: 2_000 };

test('requests get their responses, connections are kept alive, redirects are not followed', async () => {
  const egress = egressWith({});
  const url = `http://localhost:${port}`;
  const response = await egress.request(`${url}/ok`, {
    ...get,
    method: 'POST',
    body: 'hello',
    headers: { a: 'b' },
  });
  expect(response).toMatchObject({ status: 200, truncated: false });
  expect(response.body.toString()).toBe('hello');
  const redirect = await egress.request(`${url}/redirect`, get);
  expect(redirect).toMatchObject({ status: 302, headers: { 'set-cookie': 'a, b' } });
  expect((await egress.fetch(`${url}/redirect`)).status).toBe(302);
  expect(connections).toBeLessThanOrEqual(2);
});

test('a forbidden address is not connected to in any spelling', async () => {
  const egress = egressWith({ deny: ['127.0.0.0/8', '::1/128', '0.0.0.0/8', '::/128'] });
  for (const host of [
    'localhost',
    '127.0.0.1',
    '127.1',
    '2130706433',
    '0x7f.0.0.1',
    '0177.0.0.1',
    '[::1]',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '[0:0:0:0:0:ffff:127.0.0.1]',
    '[64:ff9b::7f00:1]',
    '[64:ff9b:1::7f00:1]',
    '[::127.0.0.1]',
    '[::ffff:0:127.0.0.1]',
    '[2002:7f00:1::]',
    '[2001:0:7f00:1::1]',
    '[2001::80ff:fffe]',
    '0',
    '[::]',
  ]) {
    const url = `http://${host}:${port}/ok`;
    await expect(egress.request(url, get), host).rejects.toMatchObject({ kind: 'denied' });
    await expect(egress.resolve(new URL(url).hostname), host).rejects.toMatchObject({ kind: 'denied' });
    await expect(egress.fetch(url), host).rejects.toThrow();
  }
  expect(connections).toBe(0);
});

test('the unspecified address does not reach a forbidden loopback address', async () => {
  const egress = egressWith({ deny: ['127.0.0.0/8', '::1/128'] });
  for (const host of ['0', '0.0.0.0', '[::]', '[::ffff:0.0.0.0]']) {
    const url = `http://${host}:${port}/ok`;
    await expect(egress.request(url, get), host).rejects.toMatchObject({ kind: 'denied' });
  }
  expect(connections).toBe(0);
});

test('allow wins over deny; metadata services are denied by default', async () => {
  const allowed = egressWith({ deny: ['0.0.0.0/0', '::/0'], allow: ['127.0.0.1'] });
  expect((await allowed.request(`http://127.0.0.1:${port}/ok`, get)).status).toBe(200);
  expect(await allowed.resolve('localhost')).toEqual([{ address: '127.0.0.1', family: 4 }]);
  await expect(allowed.request('http://127.0.0.2/', get)).rejects.toMatchObject({ kind: 'denied' });
  const standard = egressWith({});
  for (const host of [
    '169.254.169.254',
    '[fe80::1]',
    '[fd00:ec2::254]',
    '100.100.100.200',
    '[::ffff:169.254.169.254]',
    '[2002:a9fe:a9fe::1]',
    '[fd00:ec2::23]',
    '[fd20:ce::254]',
    '168.63.129.16',
    '192.0.0.192',
    '[2001:0:a9fe:a9fe::1]',
  ]) {
    await expect(standard.resolve(host)).rejects.toMatchObject({ kind: 'denied' });
  }
  await standard.resolve('10.0.0.1');
});

test('failures have a kind, are limited in time and size, and do not repeat the request', async () => {
  const egress = egressWith({});
  const at = (path: string) => `http://127.0.0.1:${port}${path}?token=secret`;
  const fails = async (url: string, timeoutMs = 2_000) => {
    const error = await egress.request(url, { method: 'POST', timeoutMs, headers: { k: 'secret' } }).then(
      () => null,
      (reason) => reason,
    );
    expect(error).toMatchObject({ name: 'EgressError' });
    expect(error.message).not.toMatch(/secret|http/);
    return error.kind;
  };
  expect(await fails('http://127.0.0.1:9/')).toBe('connect');
  expect(await fails('http://nothing.invalid/')).toBe('dns');
  expect(await fails(at('/hang').replace('?token=secret', ''), 100)).toBe('timeout');
  expect(await fails(at('/trickle').replace('?token=secret', ''), 200)).toBe('timeout');
  expect(await fails(`http://127.0.0.1:${port}/drop`)).toBe('closed');
  expect(await fails(`https://127.0.0.1:${port}/ok`)).toBe('tls');
  const large = await egress.request(`http://127.0.0.1:${port}/large`, { ...get, maxBodyBytes: 1_000 });
  expect([large.body.length, large.truncated]).toEqual([1_000, true]);
  const stop = new AbortController();
  const aborted = egress.request(`http://127.0.0.1:${port}/hang`, { ...get, signal: stop.signal });
  stop.abort();
  await expect(aborted).rejects.toMatchObject({ kind: 'closed' });
});

test('the error for a wrong list names the wrong entry', () => {
  expect(() => parseCidrs(['10.0.0.0/8', '10.0.0/33'])).toThrow('"10.0.0/33"');
});
