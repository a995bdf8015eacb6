import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createEgress } from '../../lib/egress.ts';
import { providerFetch } from './provider-fetch.ts';

const server = createServer((request, response) => {
  if (request.url === '/hang') return;
  if (request.url === '/slow') setTimeout(() => response.end('{}'), 150);
  else if (request.url === '/large') response.end(Buffer.alloc(5 * 1024 * 1024, 32));
  else if (request.url === '/elsewhere') response.writeHead(302, { location: '/large' }).end();
  else response.writeHead(200, { 'content-type': 'application/json', 'www-authenticate': 'x' }).end('{}');
});
let origin: string;
beforeAll(async () => {
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const options = { method: 'GET', headers: {}, body: null, redirect: 'manual' } as const;

it('gives up a provider that hangs, or that is slow each time, when the conversation has had its time', async () => {
  const egress = createEgress({});
  await expect(providerFetch(egress, 50)(`${origin}/hang`, options)).rejects.toThrow('no response in time');
  const fetch = providerFetch(egress, 400);
  await expect(
    Promise.resolve().then(async () => {
      for (let n = 0; n < 10; n++) await fetch(`${origin}/slow`, options);
    }),
  ).rejects.toThrow('no response in time');
  await egress.close();
});

it('refuses a response that is too large, and follows no redirect', async () => {
  const egress = createEgress({});
  await expect(providerFetch(egress)(`${origin}/large`, options)).rejects.toThrow('too large');
  expect((await providerFetch(egress)(`${origin}/elsewhere`, options)).status).toBe(302);
  await egress.close();
});

it('goes only where EGRESS_DENY lets it', async () => {
  const egress = createEgress({ deny: ['127.0.0.0/8'] });
  await expect(providerFetch(egress)(`${origin}/`, options)).rejects.toThrow('EGRESS_DENY');
  await egress.close();
});
