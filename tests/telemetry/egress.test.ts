import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type OtlpReceiver, startOtlpReceiver } from '../harness/otlp-receiver.ts';
import { skipNote } from '../harness/programs.ts';
import { until } from '../harness/wait.ts';
import { integrations, startTracedPlatform, type TracedPlatform } from './fixture.ts';

/** A second loopback address. Linux has it; other systems need it added. */
const trapAddress = '127.0.0.2';
const linux = process.platform === 'linux';
const why = skipNote(linux ? null : `${trapAddress} is local on Linux only`);

const placeholder = (name: string): string => `\${${name}}`;

const rebindingHost = 'rebinding.test';
const bothHost = 'both.test';
const trapHost = 'trap.test';

describe.skipIf(!linux)(`no request leaves for an address that EGRESS_DENY names${why}`, () => {
  let platform: TracedPlatform;
  /** On 127.0.0.1, which is permitted. The trap is on the same port of the other address. */
  let backend: OtlpReceiver;
  let trap: Server;
  let trapConnections = 0;
  beforeAll(async () => {
    backend = await startOtlpReceiver();
    trap = createServer((socket) => {
      trapConnections++;
      socket.destroy();
    });
    await new Promise<void>((resolve) => trap.listen(backend.port, trapAddress, resolve));
    platform = await startTracedPlatform({
      EGRESS_DENY: `${trapAddress},169.254.0.0/16,127.0.0.3`,
      URL_PLACEHOLDERS: 'TRAP,AT_TRAP',
      TRAP: trapAddress,
      AT_TRAP: `127.0.0.1@${trapAddress}`,
      NODE_OPTIONS: `--import=${join(import.meta.dirname, '../harness/scripted-dns.ts')}`,
      SCRIPTED_DNS: JSON.stringify({
        [rebindingHost]: [['127.0.0.1'], [trapAddress], ['127.0.0.1'], [trapAddress]],
        [bothHost]: [[trapAddress, '127.0.0.1', `::ffff:${trapAddress}`]],
        [trapHost]: [[trapAddress]],
      }),
    });
  });
  afterAll(async () => {
    await platform?.[Symbol.asyncDispose]();
    await backend?.close();
    await new Promise((resolve) => trap?.close(resolve));
  });

  const settings = (url: string) => ({ provider: 'otlp_custom_headers', url });

  test('the trap works: it sees each connection', async () => {
    await fetch(`http://${trapAddress}:${backend.port}/`).catch(() => {});
    expect(trapConnections).toBe(1);
    trapConnections = 0;
  });

  test.each([
    trapAddress,
    '127.2',
    '127.0.2',
    '2130706434',
    '0x7f000002',
    '0X7F.0.0.0x2',
    '0177.0.0.2',
    '017700000002',
    `${trapAddress}.`,
    '127.0.0.02',
    '%31%32%37.0.0.2',
    '127%2e0%2e0%2e2',
    '１２７.０.０.２',
    '127。0。0。2',
    '①②⑦.0.0.②',
    `[::ffff:${trapAddress}]`,
    '[::ffff:7f00:2]',
    '[0:0:0:0:0:FFFF:7F00:0002]',
    '[64:ff9b::7f00:2]',
    `user:password@${trapAddress}`,
    `127.0.0.1@${trapAddress}`,
    `127.0.0.1\\@${trapAddress}`,
    `127.0.0.1%00@${trapAddress}`,
    `127.0.0.1#@${trapAddress}`,
    trapHost,
    `${trapHost}.`,
    placeholder('TRAP'),
    placeholder('AT_TRAP'),
  ])('in any notation: %s', async (host) => {
    const url = `http://${host}:${backend.port}/v1/traces`;
    // Each is stopped by the 422 of the API, by the look-up, by the port, or by the pause of delivery.
    const tested = await platform.api.post(`${integrations}/test`, { settings: settings(url) });
    if (tested.status === 200) expect(tested.body.ok).toBe(false);
    else expect(tested.status).toBe(422);
    const made = await platform.api.post(integrations, { version: '1', settings: settings(url) });
    if (made.status !== 422) {
      expect(made.status).toBe(201);
      await platform.send('a', 1);
      const { delivered, queued } = await until(async () => {
        const now = await platform.health(made.body.id);
        return now.last_error !== null && now;
      });
      expect({ delivered, queued }).toEqual({ delivered: 0, queued: 1 });
      await platform.api.delete(`${integrations}/${made.body.id}`);
    }
    expect(trapConnections).toBe(0);
  });

  test.each([
    '169.254.169.254',
    '0xa9fea9fe',
    '2852039166',
    '169.254.43518',
    '0251.0376.0251.0376',
    '[::ffff:a9fe:a9fe]',
    '[64:ff9b::a9fe:a9fe]',
    '169.254.169.254.',
  ])('a metadata service is refused when it is saved: %s', async (host) => {
    const made = await platform.api.post(integrations, {
      version: '1',
      settings: settings(`http://${host}/latest`),
    });
    expect(made.status).toBe(422);
    expect(made.body.error.details[0]).toMatchObject({ path: expect.stringContaining('url') });
  });

  test('a name that resolves to a permitted address first and to a forbidden one later is not followed to the forbidden one', async () => {
    const id = await platform.integrate(settings(`http://${rebindingHost}:${backend.port}/v1/traces`));
    // The permitted address closes each connection, so that every request is a look-up of its own.
    backend.respondWith({ headers: { connection: 'close' } });
    for (let i = 0; i < 6; i++) {
      await platform.send(`r${i}`, 1);
      await until(async () => {
        const { queued, state } = await platform.health(id);
        return queued === 0 || state === 'paused';
      });
      await platform.api.put(`${integrations}/${id}`, { version: `${i}` });
    }
    const tested = await platform.api.post(`${integrations}/${id}/test`);
    expect(tested.body.ok).toBe(false);
    expect(platform.process.output()).toContain(`looked up ${rebindingHost}: ${trapAddress}`);
    expect(backend.spans().length).toBeGreaterThan(0);
    expect(trapConnections).toBe(0);
    await platform.api.delete(`${integrations}/${id}`);
  });

  test('only the permitted addresses of a name with several are used', async () => {
    backend.clear();
    backend.respondWith({ headers: { connection: 'close' } });
    const id = await platform.integrate(settings(`http://${bothHost}:${backend.port}/v1/traces`));
    for (let i = 0; i < 3; i++) await platform.send(`b${i}`, 2);
    await platform.healthIs(id, { delivered: 6, queued: 0 });
    expect((await platform.api.post(`${integrations}/${id}/test`)).body.ok).toBe(true);
    expect(trapConnections).toBe(0);
    await platform.api.delete(`${integrations}/${id}`);
  });

  test.each([301, 302, 303, 307, 308])('a redirect is not followed: %i', async (status) => {
    backend.clear();
    const location = `http://${trapAddress}:${backend.port}/v1/traces`;
    backend.respondWith({ status, headers: { location, connection: 'close' } });
    const id = await platform.integrate(settings(backend.url));
    await platform.send('redirected', 1);
    const { last_error } = await platform.healthIs(id, { state: 'paused', queued: 1, delivered: 0 });
    expect(last_error).toContain('redirects are not followed');
    expect(last_error).not.toContain(trapAddress);
    const tested = await platform.api.post(`${integrations}/${id}/test`);
    expect(tested.body.ok).toBe(false);
    expect(trapConnections).toBe(0);
    await platform.api.delete(`${integrations}/${id}`);
  });
});
