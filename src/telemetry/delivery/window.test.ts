import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { encodeRequest } from '../../../packages/otlp/tests/encode.ts';
import { startDelivery } from '../../../tests/harness/delivery.ts';
import {
  type Behaviour,
  type OtlpReceiver,
  startOtlpReceiver,
} from '../../../tests/harness/otlp-receiver.ts';
import { names, quiet } from '../../../tests/harness/telemetry.ts';
import { until } from '../../../tests/harness/wait.ts';

type Fixture = Awaited<ReturnType<typeof startDelivery>>;

/** Requests that have arrived and have no response yet. */
const present = (backend: OtlpReceiver): number =>
  backend.requests.filter(({ status }) => status === null).length;

/**
 * Appends records `r.0`, `r.1`, … faster than they are delivered until `wanted` requests are at the backend at once.
 * Resolves to the number of records.
 */
const growUntil = async (fixture: Fixture, backend: OtlpReceiver, wanted: number): Promise<number> => {
  let appended = 0;
  await until(
    async () => {
      await Promise.all(Array.from({ length: 10 }, () => fixture.append(`r.${appended++}`, 2)));
      // By this clock each check of the backlog is 100 ms after the last.
      fixture.clock.advance(100);
      return present(backend) >= wanted;
    },
    10_000,
    10,
  );
  return appended;
};

const settled = (fixture: Fixture, number = 1) =>
  until(() => fixture.telemetryLog.counters(number).queued === 0, 10_000, 5);

/** The largest number of requests at the backend at once among those from index `from` on. */
const watch = (backend: OtlpReceiver, respond: (index: number) => Behaviour | Promise<Behaviour>) => {
  const seen = { most: 0 };
  backend.respondWith((_request, index) => {
    seen.most = Math.max(seen.most, present(backend));
    return respond(index);
  });
  return seen;
};

test('a backlog that does not grow is delivered one request at a time', async () => {
  await using backend = await startOtlpReceiver();
  await using fixture = await startDelivery();
  fixture.destinations.set(1, backend.url);
  await fixture.telemetryLog.register(1);
  for (let i = 0; i < 60; i++) await fixture.append(`r.${i}`, 2);
  const seen = watch(backend, () => {
    fixture.clock.advance(100);
    return { delayMs: 1 };
  });
  fixture.delivery.start();
  await settled(fixture);
  expect(seen.most).toBe(1);
  expect(backend.requests).toHaveLength(60);
});

test('while the backlog grows more requests are in flight, at most 16, and each span arrives once', async () => {
  await using backend = await startOtlpReceiver();
  await using fixture = await startDelivery();
  fixture.destinations.set(1, backend.url);
  fixture.delivery.start();
  const seen = watch(backend, () => ({ delayMs: 30 }));
  const appended = await growUntil(fixture, backend, 12);
  for (let i = 0; i < 200; i++) await fixture.append(`s.${i}`, 2);
  await settled(fixture);
  expect(seen.most).toBeGreaterThanOrEqual(12);
  expect(seen.most).toBeLessThanOrEqual(16);
  expect(names(backend.requests).length).toBe(appended * 2 + 400);
  expect(new Set(names(backend.requests)).size).toBe(appended * 2 + 400);
  // Idle again: one record is one request, and two at once are sent one after the other.
  seen.most = 0;
  await Promise.all([fixture.append('t.0', 2), fixture.append('t.1', 2)]);
  await settled(fixture);
  expect(seen.most).toBe(1);
});

for (const header of ['100', (fixture: Fixture) => new Date(fixture.clock.now() + 100_000).toUTCString()]) {
  const form = typeof header === 'string' ? 'in seconds' : 'as a date';
  test(`Retry-After ${form} holds back all requests; results of those in flight count, then one is sent at a time`, async () => {
    await using backend = await startOtlpReceiver();
    await using fixture = await startDelivery();
    fixture.destinations.set(1, backend.url);
    fixture.delivery.start();
    watch(backend, () => ({ delayMs: 15 }));
    await growUntil(fixture, backend, 6);
    let refused: number | null = null;
    // The next request is refused at once; those before it and next to it are accepted later.
    watch(backend, async (index) => {
      if (index > 0) {
        await sleep(50);
        return {};
      }
      refused = backend.requests.length;
      return {
        status: 429,
        headers: { 'retry-after': typeof header === 'string' ? header : header(fixture) },
      };
    });
    await Promise.all(Array.from({ length: 20 }, (_, i) => fixture.append(`next.${i}`, 2)));
    await until(() => refused !== null, 10_000, 5);
    // Wait for the responses of what was in flight when the refusal came.
    let sent = 0;
    while (present(backend) > 0 || sent < backend.requests.length) {
      sent = backend.requests.length;
      await sleep(150);
    }
    // As many as were allowed may have been in flight.
    expect(sent - refused!).toBeLessThan(16);
    fixture.later(95_000);
    await quiet();
    expect(backend.requests).toHaveLength(sent);
    await Promise.all(Array.from({ length: 20 }, (_, i) => fixture.append(`late.${i}`, 1)));
    const after = watch(backend, () => ({ delayMs: 5 }));
    fixture.later(6_000);
    await settled(fixture);
    expect(after.most).toBe(1);
    const first = backend.requests[sent]!;
    expect(names([first])).toEqual(names(backend.requests.filter(({ status }) => status === 429)));
    const accepted = names(backend.requests.filter(({ status }) => status === 200));
    expect(new Set(accepted).size).toBe(accepted.length);
    expect(fixture.telemetryLog.counters(1).delivered).toBe(accepted.length);
  });
}

test('a bad span among concurrent requests is found alone, and the others are not sent again', async () => {
  await using backend = await startOtlpReceiver();
  await using fixture = await startDelivery();
  fixture.destinations.set(1, backend.url);
  fixture.delivery.start();
  watch(backend, () => ({ delayMs: 15 }));
  const appended = await growUntil(fixture, backend, 6);
  const pieces: number[] = [];
  backend.respondWith((request) => {
    const bad = request.spans.some(({ name }) => name === 'bad-5');
    if (request.spans.some(({ name }) => name.startsWith('bad'))) pieces.push(present(backend));
    return bad ? 400 : { delayMs: 5 };
  });
  await fixture.append('bad', 16);
  for (let i = 0; i < 20; i++) await fixture.append(`after.${i}`, 2);
  await settled(fixture);
  const total = appended * 2 + 16 + 40;
  expect(fixture.telemetryLog.counters(1)).toMatchObject({ delivered: total - 1, dead_lettered: 1 });
  const accepted = names(backend.requests.filter(({ status }) => status === 200));
  expect([accepted.length, new Set(accepted).size]).toEqual([total - 1, total - 1]);
  expect(pieces.length).toBeGreaterThan(4);
  expect(Math.max(...pieces.slice(1))).toBe(1);
});

test('an edit while requests are in flight waits for them, and sends what they did not deliver', async () => {
  await using backend = await startOtlpReceiver();
  await using other = await startOtlpReceiver();
  await using fixture = await startDelivery();
  fixture.destinations.set(1, backend.url);
  fixture.delivery.start();
  watch(backend, () => ({ delayMs: 15 }));
  const appended = await growUntil(fixture, backend, 6);
  // Every other request in flight is refused because of the settings.
  backend.respondWith((_request, index) => ({ delayMs: 30, status: index % 2 ? 200 : 401 }));
  const seen = backend.requests.length;
  await backend.waitForRequests(seen + 2);
  fixture.destinations.set(1, other.url);
  await settled(fixture);
  const brought = names(backend.requests.filter(({ status }) => status === 200));
  const all = [...brought, ...names(other.requests)];
  expect([all.length, new Set(all).size]).toEqual([appended * 2, appended * 2]);
  expect(other.requests.length).toBeGreaterThan(0);
});

test('backends that hang hold no more memory than the budget, and a healthy one gets its spans', async () => {
  await using hanging = await startOtlpReceiver();
  await using backend = await startOtlpReceiver();
  await using fixture = await startDelivery({ maxBytesInMemory: 1024 * 1024 });
  hanging.respondWith({ hang: true });
  for (let number = 1; number <= 10; number++) fixture.destinations.set(number, `${hanging.url}/${number}`);
  fixture.destinations.set(11, backend.url);
  for (const { number } of fixture.destinations.all()) await fixture.telemetryLog.register(number);
  // Requests that are joined into batches, and do not compress.
  const routes = fixture.destinations.all().map(({ number }) => number);
  for (let i = 0; i < 40; i++) {
    const attributes = { noise: randomBytes(15_000).toString('base64') };
    const bytes = encodeRequest([{ scopes: [{ spans: [{ name: `n-${i}`, attributes }] }] }]);
    await fixture.telemetryLog.append([{ bytes, spans: 1, routes }]);
  }
  fixture.delivery.start();
  await hanging.waitForRequests(10);
  await settled(fixture, 11);
  const held = hanging.requests.slice(0, 10).reduce((sum, { payload }) => sum + payload.length, 0);
  expect(held).toBeLessThan((1024 + 10 * 128) * 1024);
  expect(backend.spans()).toHaveLength(40);
  // A stop would wait for the requests that hang.
  await hanging.close();
});

test('a backend that hangs delays neither an edit that moves to another backend nor the deletion', async () => {
  await using hanging = await startOtlpReceiver();
  await using backend = await startOtlpReceiver();
  await using fixture = await startDelivery({ requestTimeoutMs: 60_000 });
  hanging.respondWith({ hang: true });
  for (const number of [1, 2]) {
    fixture.destinations.set(number, hanging.url);
    await fixture.telemetryLog.register(number);
  }
  fixture.delivery.start();
  await fixture.append('r', 3);
  await hanging.waitForRequests(2);
  fixture.destinations.set(1, backend.url);
  fixture.destinations.remove(2);
  await Promise.all([settled(fixture, 1), settled(fixture, 2)]);
  expect(names(backend.requests)).toEqual(['r-0', 'r-1', 'r-2']);
  expect(fixture.telemetryLog.counters(1)).toMatchObject({ delivered: 3, discarded: 0 });
  expect(fixture.telemetryLog.counters(2)).toMatchObject({ delivered: 0, discarded: 3 });
});

test('an edit that keeps the backend waits for the request in flight, and sends nothing twice', async () => {
  await using backend = await startOtlpReceiver();
  await using fixture = await startDelivery();
  backend.respondWith({ delayMs: 800 });
  fixture.destinations.set(1, backend.url);
  await fixture.telemetryLog.register(1);
  fixture.delivery.start();
  await fixture.append('r', 3);
  await backend.waitForRequests(1);
  fixture.destinations.set(1, backend.url, { headers: [['x-tenant', 'b']] });
  await settled(fixture);
  expect(backend.requests).toHaveLength(1);
});
