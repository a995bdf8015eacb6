import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { spansNamed } from '../../tests/harness/otlp-encode.ts';
import {
  type OtlpReceiver,
  type ReceivedRequest,
  startOtlpReceiver,
} from '../../tests/harness/otlp-receiver.ts';
import { until } from '../../tests/harness/wait.ts';
import { ShiftedClock } from '../lib/clock.ts';
import { Secret } from '../lib/crypto.ts';
import { createEgress, type Egress } from '../lib/egress.ts';
import { silentLogger } from '../lib/log.ts';
import type { Health } from './delivery.ts';
import type { Destination, Destinations } from './routing.ts';
import { createTelemetry, type Telemetry } from './telemetry.ts';

/** Integrations as observability keeps them: every agent's spans go to all that are enabled. */
class TestDestinations implements Destinations {
  readonly #known = new Map<number, Destination>();
  readonly #listeners = new Set<() => void>();
  set(number: number, url: string, more: Partial<Destination> = {}): void {
    const before = this.#known.get(number);
    this.#known.set(number, {
      number,
      id: `integration-${number}`,
      provider: 'otlp_custom_headers',
      headers: [],
      enabled: true,
      ...before,
      url,
      revision: (before?.revision ?? 0) + 1,
      ...more,
    });
    for (const changed of this.#listeners) changed();
  }
  remove(number: number): void {
    this.#known.delete(number);
    for (const changed of this.#listeners) changed();
  }
  get = (number: number) => this.#known.get(number);
  all = () => [...this.#known.values()];
  table = () => ({
    forAgent: (agent: string | null) =>
      agent === null ? [] : this.all().flatMap((one) => (one.enabled ? [one.number] : [])),
  });
  onChange = (changed: () => void) => {
    this.#listeners.add(changed);
    return () => this.#listeners.delete(changed);
  };
}

let directory: string;
let clock: ShiftedClock;
let destinations: TestDestinations;
let egress: Egress;
let telemetry: Telemetry;
let backend: OtlpReceiver;
let accepted: Map<number, number>;

const start = async (): Promise<void> => {
  telemetry = await createTelemetry({
    directory,
    destinations,
    egress,
    clock,
    random: () => 1,
    log: silentLogger,
    requestTimeoutMs: 2_000,
    settings: { retentionHours: () => 72, retentionMegabytes: () => 10_240 },
  });
  telemetry.start();
};

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'ap-delivery-'));
  clock = new ShiftedClock();
  destinations = new TestDestinations();
  egress = createEgress({ deny: [] });
  backend = await startOtlpReceiver();
  accepted = new Map();
  await start();
});

/** After everything: what was accepted for an integration is accounted for, to the span. */
afterEach(async () => {
  for (const { number, totals } of telemetry.accounts()) {
    const { delivered, rejected, dead_lettered, expired, discarded, queued } = totals;
    expect(delivered + rejected + dead_lettered + expired + discarded + queued).toBe(
      accepted.get(number) ?? 0,
    );
  }
  await telemetry.stop();
  await backend.close();
  await egress.close();
  await rm(directory, { recursive: true });
});

const send = async (prefix: string, count: number, padding = 0): Promise<void> => {
  const routes = destinations.table().forAgent('agent');
  const answer = await telemetry.receiver.receive({
    contentType: 'application/x-protobuf',
    contentEncoding: undefined,
    body: spansNamed(prefix, count, 'agent', padding),
  });
  expect(answer.status).toBe(200);
  for (const number of routes) accepted.set(number, (accepted.get(number) ?? 0) + count);
};
const health = async (number = 1): Promise<Health> => (await telemetry.health(number))!;
const settled = (number = 1, seconds = 5) =>
  until(async () => (await health(number)).queued === 0, seconds * 1_000);
const inState = (state: string, number = 1) =>
  until(async () => ((await health(number)).state === state ? health(number) : null), 5_000, 5);
const later = (milliseconds: number): void => {
  clock.advance(milliseconds);
  telemetry.wake();
};
const names = (requests: ReceivedRequest[]) => requests.flatMap(({ spans }) => spans.map(({ name }) => name));
const quiet = () => new Promise((resolve) => setTimeout(resolve, 60));
const has = (bad: (name: string) => boolean, status: number) => (request: ReceivedRequest) =>
  request.spans.some(({ name }) => bad(name)) ? status : 200;

test('spans arrive once, in order, gzipped, with the headers of the integration and no fault', async () => {
  destinations.set(1, `${backend.url}?x=1`, {
    headers: [
      ['X-Api-Key', new Secret('key-of-the-test')],
      ['a', 'b'],
    ],
  });
  await send('a', 3);
  await send('b', 2);
  await settled();
  expect(names(backend.requests)).toEqual(['a-0', 'a-1', 'a-2', 'b-0', 'b-1']);
  for (const { fault, url, headers } of backend.requests) {
    expect(fault).toBeNull();
    expect(url).toBe('/v1/traces?x=1');
    expect(headers).toMatchObject({
      'x-api-key': 'key-of-the-test',
      a: 'b',
      'content-type': 'application/x-protobuf',
      'content-encoding': 'gzip',
    });
  }
  expect(await health()).toMatchObject({
    state: 'delivering',
    delivered: 5,
    queued: 0,
    backlog_bytes: 0,
    last_error: null,
  });
});

test('Retry-After in seconds and as a date is kept to, and nothing is sent before', async () => {
  destinations.set(1, backend.url);
  for (const header of ['7200', () => new Date(clock.now() + 7_200_000).toUTCString()]) {
    backend.clear();
    backend.respondWith(() => ({
      status: 429,
      headers: { 'retry-after': typeof header === 'string' ? header : header() },
    }));
    await send('a', 1);
    await inState('retrying');
    later(7_100_000);
    await quiet();
    expect(backend.requests).toHaveLength(1);
    expect((await health()).backlog_age_seconds).toBeGreaterThanOrEqual(7_100);
    backend.respondWith(200);
    later(101_000);
    await settled();
    expect((await health()).state).toBe('delivering');
  }
});

test('408, 5xx and lost connections are retried with growing pauses until they pass', async () => {
  destinations.set(1, backend.url);
  const answers = [503, 500, 408, { drop: true as const }, 502];
  backend.respondWith((_request, index) => answers[index] ?? 200);
  await send('a', 2);
  const waits: number[] = [];
  for (let i = 1; i <= answers.length; i++) {
    await backend.waitForRequests(i);
    const { next_attempt_at } = await until(async () => {
      const now = await health();
      return now.next_attempt_at !== null && Date.parse(now.next_attempt_at) > clock.now() ? now : null;
    });
    waits.push(Date.parse(next_attempt_at!) - clock.now());
    later(waits.at(-1)! + 1);
  }
  await settled();
  expect(waits.map((wait) => Math.round(wait / 100) / 10)).toEqual([
    expect.closeTo(0.5, 0),
    expect.closeTo(1, 0),
    expect.closeTo(2, 0),
    expect.closeTo(4, 0),
    expect.closeTo(8, 0),
  ]);
  expect(await health()).toMatchObject({ delivered: 2, last_error: null, next_attempt_at: null });
});

test('an outage of 71 hours loses nothing; beyond the retention it expires, counted', async () => {
  destinations.set(1, 'http://127.0.0.1:9');
  await send('old', 2);
  await inState('retrying');
  later(71 * 3_600_000);
  await send('new', 3);
  await inState('retrying');
  later(2 * 3_600_000);
  await until(async () => (await health()).expired === 2);
  expect(await health()).toMatchObject({ state: 'retrying', queued: 3 });
  destinations.set(1, backend.url);
  await settled();
  expect(names(backend.requests)).toEqual(['new-0', 'new-1', 'new-2']);
});

test('what expires while it is retried is not sent any more', async () => {
  destinations.set(1, backend.url);
  backend.respondWith({ status: 503, headers: { 'retry-after': '86400' } });
  await send('old', 2);
  for (let day = 1; day <= 3; day++) {
    await backend.waitForRequests(day);
    await until(async () => Date.parse((await health()).next_attempt_at ?? '') > clock.now());
    // Before the fourth attempt the retention of 72 hours is over.
    later(day < 3 ? 86_410_000 : 86_390_000);
  }
  await until(async () => (await health()).expired === 2);
  await send('new', 1);
  backend.respondWith(200);
  later(60_000);
  await settled();
  expect(names(backend.requests.slice(3))).toEqual(['new-0']);
});

for (const status of [401, 403, 404, 302, 307]) {
  test(`${status} pauses and holds the data; a probe every 5 minutes, an edit or a test goes on`, async () => {
    destinations.set(1, backend.url);
    backend.respondWith({ status, headers: { location: `${backend.url}/elsewhere` } });
    await send('a', 3);
    expect(await inState('paused')).toMatchObject({
      queued: 3,
      last_error: expect.stringContaining(String(status)),
    });
    await send('b', 1);
    later(299_000);
    await quiet();
    expect(backend.requests).toHaveLength(1);
    later(2_000);
    await backend.waitForRequests(2);
    expect(backend.requests[1]!.spans).toHaveLength(1);
    await quiet();
    backend.respondWith(200);
    if (status === 401) destinations.set(1, backend.url);
    else if (status === 403) telemetry.resume(1);
    else later(301_000);
    await settled();
    expect(names(backend.requests.filter((one) => one.status === 200))).toEqual(['a-0', 'a-1', 'a-2', 'b-0']);
  });
}

test('the one bad span of a batch is found, kept as a dead letter, and can be sent again or purged', async () => {
  destinations.set(1, backend.url, { headers: [['authorization', new Secret('Basic dXNlcjpodW50ZXIy')]] });
  backend.respondWith((request) =>
    request.spans.some(({ name }) => name === 'a-13' || name === 'a-40')
      ? { status: 400, headers: { 'content-type': 'text/plain' }, body: 'no good, hunter2: dXNlcjpodW50ZXIy' }
      : 200,
  );
  await send('a', 50);
  await settled();
  expect(await health()).toMatchObject({ delivered: 48, dead_lettered: 2, state: 'delivering' });
  const [first, second] = await telemetry.deadLetters.list(1);
  expect(first).toMatchObject({
    status: 400,
    reason: 'the backend answered 400: no good, [redacted]: [redacted]',
  });
  expect(await telemetry.deadLetters.retry(1, [first!.id])).toEqual({ delivered: 0, failed: 1 });
  backend.respondWith(200);
  expect(await telemetry.deadLetters.retry(1, [first!.id])).toEqual({ delivered: 1, failed: 0 });
  expect(names(backend.requests).at(-1)).toBe('a-13');
  expect(await telemetry.deadLetters.purge(1, [second!.id])).toBe(1);
  expect(await health()).toMatchObject({ delivered: 49, dead_lettered: 0, discarded: 1 });
  expect(await telemetry.deadLetters.list(1)).toEqual([]);
});

test('when the first 16 spans are each refused the integration pauses and loses none of them', async () => {
  destinations.set(1, backend.url);
  backend.respondWith(422);
  await send('a', 40);
  expect(await inState('paused')).toMatchObject({ queued: 40, dead_lettered: 0 });
  expect(backend.requests.filter(({ spans }) => spans.length === 1)).toHaveLength(16);
  backend.respondWith(200);
  destinations.set(1, backend.url);
  await settled();
  expect((await health()).delivered).toBe(40);
});

test('once a span was accepted, sixteen bad ones in a row are bad spans', async () => {
  destinations.set(1, backend.url);
  await send('good', 1);
  await settled();
  backend.respondWith(has((name) => name.startsWith('bad'), 400));
  await send('bad', 20);
  await send('more', 2);
  await settled();
  expect(await health()).toMatchObject({ delivered: 3, dead_lettered: 20, state: 'delivering' });
  clock.advance(73 * 3_600_000);
  telemetry.wake();
  await until(async () => (await health()).expired === 20);
});

test('a backend that fails now and then does not make the search for a bad span start anew', async () => {
  destinations.set(1, backend.url);
  backend.respondWith((request, index) =>
    index % 3 === 2 ? { status: 503 } : has((name) => name === 'a-700', 400)(request),
  );
  await send('a', 1_000);
  await until(async () => {
    later(60_000);
    return (await health()).queued === 0;
  });
  expect(await health()).toMatchObject({ delivered: 999, dead_lettered: 1 });
  expect(new Set(names(backend.requests.filter(({ status }) => status === 200))).size).toBe(999);
  expect(backend.spans()).toHaveLength(999);
});

test('413 halves the batch, and what the backend takes is learnt', async () => {
  destinations.set(1, backend.url);
  backend.respondWith((request) => (request.payload.length > 20_000 ? 413 : 200));
  await send('a', 64, 1_000);
  await settled();
  const refused = backend.requests.filter(({ status }) => status === 413).length;
  expect(refused).toBeLessThanOrEqual(3);
  await send('b', 64, 1_000);
  await settled();
  expect(backend.requests.filter(({ status }) => status === 413)).toHaveLength(refused);
  await send('huge', 1, 30_000);
  await settled();
  expect(await health()).toMatchObject({ delivered: 128, dead_lettered: 1 });
});

test('what a backend rejects in partial_success is counted and not sent again', async () => {
  destinations.set(1, backend.url);
  backend.respondWith({ partialSuccess: { rejectedSpans: 2, errorMessage: 'too old' } });
  await send('a', 5);
  await settled();
  expect(await health()).toMatchObject({
    delivered: 3,
    rejected: 2,
    last_error: expect.stringContaining('too old'),
  });
  expect(backend.requests).toHaveLength(1);
});

test('a backend that hangs, one that trickles and one that refuses do not hold up a healthy one', async () => {
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
  destinations.set(1, hanging.url);
  destinations.set(2, refusing.url);
  destinations.set(5, `http://127.0.0.1:${(trickling.address() as AddressInfo).port}`);
  destinations.set(3, 'http://127.0.0.1:9');
  destinations.set(4, backend.url);
  const began = Date.now();
  for (let i = 0; i < 10; i++) await send(`s${i}`, 10);
  await settled(4);
  expect(Date.now() - began).toBeLessThan(1_900);
  expect(names(backend.requests)).toHaveLength(100);
  expect(await inState('retrying', 1)).toMatchObject({ queued: 100, last_error: 'no answer in time' });
  expect(await inState('retrying', 5)).toMatchObject({ queued: 100, last_error: 'no answer in time' });
  expect((await health(2)).state).toBe('paused');
  trickling.closeAllConnections();
  await new Promise((resolve) => trickling.close(resolve));
});

test('a wrong certificate pauses; a url that does not resolve pauses and says why', async () => {
  const tls = createTlsServer({ key: selfSigned.key, cert: selfSigned.cert }, (_request, response) =>
    response.end(),
  );
  await new Promise<void>((resolve) => tls.listen(0, '127.0.0.1', resolve));
  destinations.set(1, `https://127.0.0.1:${(tls.address() as AddressInfo).port}/`);
  destinations.set(2, '', { problem: 'the placeholder X is not permitted' });
  await send('a', 1);
  expect((await inState('paused')).last_error).toContain('TLS failed');
  expect(await health(2)).toMatchObject({
    state: 'paused',
    queued: 1,
    last_error: 'the placeholder X is not permitted',
  });
  tls.closeAllConnections();
  await new Promise((resolve) => tls.close(resolve));
  destinations.set(1, backend.url);
  destinations.set(2, backend.url, { problem: undefined });
  await Promise.all([settled(1), settled(2)]);
});

test('disabled keeps its backlog and gets nothing new; enabled again it is sent; deleted it is discarded', async () => {
  destinations.set(1, 'http://127.0.0.1:9');
  await send('a', 2);
  destinations.set(1, backend.url, { enabled: false });
  await send('b', 2);
  expect(await inState('disabled')).toMatchObject({ queued: 2, delivered: 0 });
  destinations.set(1, backend.url, { enabled: true });
  await settled();
  expect(names(backend.requests)).toEqual(['a-0', 'a-1']);
  backend.respondWith(401);
  await send('c', 3);
  await inState('paused');
  destinations.remove(1);
  await until(() => telemetry.accounts()[0]!.removed);
  expect(telemetry.accounts()[0]!.totals).toMatchObject({ delivered: 2, discarded: 3, queued: 0 });
});

test('a restart goes on where it stopped, dead letters and counts included', async () => {
  destinations.set(1, backend.url);
  backend.respondWith(has((name) => name === 'a-1', 400));
  await send('a', 4);
  await settled();
  backend.respondWith(503);
  await send('b', 3);
  await inState('retrying');
  await telemetry.stop();
  backend.clear();
  backend.respondWith(200);
  await start();
  await settled();
  expect(names(backend.requests)).toEqual(['b-0', 'b-1', 'b-2']);
  expect(await health()).toMatchObject({ delivered: 6, dead_lettered: 1 });
  expect(await telemetry.deadLetters.list(1)).toHaveLength(1);
});

test('a stop waits for the request under way and no longer than seconds', async () => {
  destinations.set(1, backend.url);
  backend.respondWith({ delayMs: 300 });
  await send('a', 1);
  await backend.waitForRequests(1);
  await telemetry.stop();
  expect(backend.spans()).toHaveLength(1);
  backend.clear();
  await start();
  expect(await health()).toMatchObject({ delivered: 1, queued: 0 });
});

test('no secret is written to disk', async () => {
  const secret = 'secret-of-the-test-0815';
  destinations.set(1, `${backend.url}?token=${secret}`, { headers: [['x-key', new Secret(secret)]] });
  backend.respondWith(() => ({
    status: 400,
    headers: { 'content-type': 'text/plain' },
    body: `bad key ${secret}`,
  }));
  await send('a', 2);
  await settled();
  for (const entry of await readdir(directory, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    expect((await readFile(join(entry.parentPath, entry.name))).includes(secret)).toBe(false);
  }
  expect(JSON.stringify(await health())).not.toContain(secret);
});

/** Made for these tests, valid for 127.0.0.1 until 2126 and signed by nobody. */
const selfSigned = {
  key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgJOW/MaMXM5dYO/ha
NAdjmNY06jZzZSnim8IQ6ypnmVuhRANCAAR2c4HKwemlKjJWgKAtPVecRov/np45
BP6+U1sfNVSU79tXSrHriHK+bxukDifdO1XGnmAtwtwPvi19Bv9aS4vr
-----END PRIVATE KEY-----`,
  cert: `-----BEGIN CERTIFICATE-----
MIIBkDCCATagAwIBAgIUZEjGjjxWaQi+/jtD2ig23+/N7uEwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJMTI3LjAuMC4xMCAXDTI2MTEyMDIyNTQwMloYDzIxMjYxMDI3
MjI1NDAyWjAUMRIwEAYDVQQDDAkxMjcuMC4wLjEwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAAR2c4HKwemlKjJWgKAtPVecRov/np45BP6+U1sfNVSU79tXSrHriHK+
bxukDifdO1XGnmAtwtwPvi19Bv9aS4vro2QwYjAdBgNVHQ4EFgQUxbsp0tPKOTuM
WWrL3sV8wH6iaTowHwYDVR0jBBgwFoAUxbsp0tPKOTuMWWrL3sV8wH6iaTowDwYD
VR0TAQH/BAUwAwEB/zAPBgNVHREECDAGhwR/AAABMAoGCCqGSM49BAMCA0gAMEUC
IQCyfBqQrhBWSfHvPIq6tn81RHiOZ8RDiH9dn2cO4PjnsQIgZRPnZsRGCKx7h67S
fNVTST8ewPKc+szS5U3Omj8K/Ts=
-----END CERTIFICATE-----`,
};
