import { readdir, readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startOtlpReceiver } from '../../../tests/harness/otlp-receiver.ts';
import { selfSigned } from '../../../tests/harness/self-signed.ts';
import { names, refuse, useTelemetry } from '../../../tests/harness/telemetry.ts';
import { until } from '../../../tests/harness/wait.ts';
import { Secret } from '../../lib/crypto.ts';

const fixture = useTelemetry();
const { send, health, settled, inState, later } = fixture;

test('an outage of 71 hours loses nothing; spans beyond the retention expire and are counted', async () => {
  fixture.destinations.set(1, 'http://127.0.0.1:9');
  await send('old', 2);
  await inState('retrying');
  later(71 * 3_600_000);
  await send('new', 3);
  await inState('retrying');
  later(2 * 3_600_000);
  await until(async () => (await health()).expired === 2);
  expect(await health()).toMatchObject({ state: 'retrying', queued: 3 });
  fixture.destinations.set(1, fixture.backend.url);
  await settled();
  expect(names(fixture.backend.requests)).toEqual(['new-0', 'new-1', 'new-2']);
});

test('spans that expire between retries are not sent any more', async () => {
  fixture.destinations.set(1, fixture.backend.url);
  fixture.backend.respondWith({ status: 503, headers: { 'retry-after': '86400' } });
  await send('old', 2);
  for (let day = 1; day <= 3; day++) {
    await fixture.backend.waitForRequests(day);
    await until(async () => Date.parse((await health()).next_attempt_at ?? '') > fixture.clock.now());
    // Before the fourth attempt the retention of 72 hours is over.
    later(day < 3 ? 86_410_000 : 86_390_000);
  }
  await until(async () => (await health()).expired === 2);
  await send('new', 1);
  fixture.backend.respondWith(200);
  later(60_000);
  await settled();
  expect(names(fixture.backend.requests.slice(3))).toEqual(['new-0']);
});

test('backends that hang, trickle or refuse do not hold up a healthy one', async () => {
  await fixture.telemetry.close();
  fixture.requestTimeoutMs = 5_000;
  await fixture.start();
  await using hanging = await startOtlpReceiver();
  await using refusing = await startOtlpReceiver();
  hanging.respondWith({ hang: true });
  refusing.respondWith(401);
  const trickling = createServer((_request, response) => {
    response.writeHead(200);
    const timer = setInterval(() => response.write('x'), 100);
    response.on('close', () => clearInterval(timer));
  });
  await new Promise<void>((resolve) => trickling.listen(0, '127.0.0.1', resolve));
  fixture.destinations.set(1, hanging.url);
  fixture.destinations.set(2, refusing.url);
  fixture.destinations.set(5, `http://127.0.0.1:${(trickling.address() as AddressInfo).port}`);
  fixture.destinations.set(3, 'http://127.0.0.1:9');
  fixture.destinations.set(4, fixture.backend.url);
  const began = Date.now();
  for (let i = 0; i < 10; i++) await send(`s${i}`, 10);
  await settled(4);
  // Nothing has timed out so far.
  expect(Date.now() - began).toBeLessThan(4_900);
  expect(names(fixture.backend.requests)).toHaveLength(100);
  expect(await inState('retrying', 1)).toMatchObject({ queued: 100, last_error: 'no response in time' });
  expect(await inState('retrying', 5)).toMatchObject({ queued: 100, last_error: 'no response in time' });
  expect((await health(2)).state).toBe('paused');
  trickling.closeAllConnections();
  await new Promise((resolve) => trickling.close(resolve));
});

test('a wrong certificate pauses delivery; a url that does not resolve pauses it and says why', async () => {
  const tls = createTlsServer({ key: selfSigned.key, cert: selfSigned.cert }, (_request, response) =>
    response.end(),
  );
  await new Promise<void>((resolve) => tls.listen(0, '127.0.0.1', resolve));
  fixture.destinations.set(1, `https://127.0.0.1:${(tls.address() as AddressInfo).port}/`);
  fixture.destinations.set(2, '', { problem: 'the placeholder X is not permitted' });
  await send('a', 1);
  expect((await inState('paused')).last_error).toContain('TLS failed');
  expect(await health(2)).toMatchObject({
    state: 'paused',
    queued: 1,
    last_error: 'the placeholder X is not permitted',
  });
  tls.closeAllConnections();
  await new Promise((resolve) => tls.close(resolve));
  fixture.destinations.set(1, fixture.backend.url);
  fixture.destinations.set(2, fixture.backend.url, { problem: undefined });
  await Promise.all([settled(1), settled(2)]);
});

test('a disabled integration keeps its backlog and gets nothing new; enabled again it is sent, deleted it is discarded', async () => {
  fixture.destinations.set(1, 'http://127.0.0.1:9');
  await send('a', 2);
  fixture.destinations.set(1, fixture.backend.url, { enabled: false });
  await send('b', 2);
  expect(await inState('disabled')).toMatchObject({ queued: 2, delivered: 0 });
  fixture.destinations.set(1, fixture.backend.url, { enabled: true });
  await settled();
  expect(names(fixture.backend.requests)).toEqual(['a-0', 'a-1']);
  fixture.backend.respondWith(401);
  await send('c', 3);
  await inState('paused');
  fixture.destinations.remove(1);
  await until(() => fixture.telemetry.integrations()[0]!.removed);
  expect(fixture.telemetry.integrations()[0]!.counters).toMatchObject({
    delivered: 2,
    discarded: 3,
    queued: 0,
  });
});

test('a restart continues where delivery stopped, with dead letters and counts', async () => {
  fixture.destinations.set(1, fixture.backend.url);
  fixture.backend.respondWith(refuse((name) => name === 'a-1', 400));
  await send('a', 4);
  await settled();
  fixture.backend.respondWith(503);
  await send('b', 3);
  await inState('retrying');
  await fixture.telemetry.close();
  fixture.backend.clear();
  fixture.backend.respondWith(200);
  await fixture.start();
  await settled();
  expect(names(fixture.backend.requests)).toEqual(['b-0', 'b-1', 'b-2']);
  expect(await health()).toMatchObject({ delivered: 6, dead_lettered: 1 });
  expect(await fixture.telemetry.deadLetters.list(1)).toHaveLength(1);
});

test('a stop waits for the request in flight, for a few seconds at most', async () => {
  fixture.destinations.set(1, fixture.backend.url);
  fixture.backend.respondWith({ delayMs: 300 });
  await send('a', 1);
  await fixture.backend.waitForRequests(1);
  await fixture.telemetry.close();
  expect(fixture.backend.spans()).toHaveLength(1);
  fixture.backend.clear();
  await fixture.start();
  expect(await health()).toMatchObject({ delivered: 1, queued: 0 });
});

test('no secret is written to disk', async () => {
  const secret = 'secret-of-the-test-0815';
  fixture.destinations.set(1, `${fixture.backend.url}?token=${secret}`, {
    headers: [['x-key', new Secret(secret)]],
  });
  fixture.backend.respondWith(() => ({
    status: 400,
    headers: { 'content-type': 'text/plain' },
    body: `bad key ${secret}`,
  }));
  await send('a', 2);
  await settled();
  for (const entry of await readdir(fixture.directory, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    expect((await readFile(join(entry.parentPath, entry.name))).includes(secret)).toBe(false);
  }
  expect(JSON.stringify(await health())).not.toContain(secret);
});
