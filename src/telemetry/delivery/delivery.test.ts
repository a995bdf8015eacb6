import { expect, test } from 'vitest';
import { names, quiet, refuse, useTelemetry } from '../../../tests/harness/telemetry.ts';
import { until } from '../../../tests/harness/wait.ts';
import { Secret } from '../../lib/crypto.ts';

const fixture = useTelemetry();
const { send, health, settled, inState, holdClock, later } = fixture;

test('spans arrive once, in order, gzipped, with the headers of the integration and no fault', async () => {
  fixture.destinations.set(1, `${fixture.backend.url}?x=1`, {
    headers: [
      ['X-Api-Key', new Secret('key-of-the-test')],
      ['a', 'b'],
    ],
  });
  await send('a', 3);
  await send('b', 2);
  await settled();
  expect(names(fixture.backend.requests)).toEqual(['a-0', 'a-1', 'a-2', 'b-0', 'b-1']);
  for (const { fault, url, headers } of fixture.backend.requests) {
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

test('from its first moment the health of an integration agrees with its settings', async () => {
  const { destinations, backend } = fixture;
  destinations.set(1, backend.url);
  expect(await health(1)).toMatchObject({ state: 'delivering', next_attempt_at: null });
  destinations.set(2, backend.url, { enabled: false });
  expect(await health(2)).toMatchObject({ state: 'disabled' });
  destinations.set(3, '', { problem: 'a variable is not set' });
  expect(await health(3)).toMatchObject({ state: 'paused', last_error: 'a variable is not set' });
});

test('nothing is sent before Retry-After is over, in seconds or as a date', async () => {
  fixture.destinations.set(1, fixture.backend.url);
  for (const header of ['7200', () => new Date(fixture.clock.now() + 7_200_000).toUTCString()]) {
    fixture.backend.clear();
    fixture.backend.respondWith(() => ({
      status: 429,
      headers: { 'retry-after': typeof header === 'string' ? header : header() },
    }));
    await send('a', 1);
    await inState('retrying');
    later(7_100_000);
    await quiet();
    expect(fixture.backend.requests).toHaveLength(1);
    expect((await health()).backlog_age_seconds).toBeGreaterThanOrEqual(7_100);
    fixture.backend.respondWith(200);
    later(101_000);
    await settled();
    expect((await health()).state).toBe('delivering');
  }
});

test('408, 5xx and lost connections are retried with growing pauses until they pass', async () => {
  holdClock();
  fixture.destinations.set(1, fixture.backend.url);
  const responses = [503, 500, 408, { drop: true as const }, 502];
  fixture.backend.respondWith((_request, index) => responses[index] ?? 200);
  await send('a', 2);
  const waits: number[] = [];
  for (let i = 1; i <= responses.length; i++) {
    await fixture.backend.waitForRequests(i);
    const { next_attempt_at } = await until(async () => {
      const now = await health();
      return now.next_attempt_at !== null && Date.parse(now.next_attempt_at) > fixture.clock.now()
        ? now
        : null;
    });
    waits.push(Date.parse(next_attempt_at!) - fixture.clock.now());
    later(waits.at(-1)! + 1);
  }
  await settled();
  expect(waits).toEqual([500, 1_000, 2_000, 4_000, 8_000]);
  expect(await health()).toMatchObject({ delivered: 2, last_error: null, next_attempt_at: null });
});

for (const status of [401, 403, 404, 302, 307]) {
  test(`${status} pauses delivery and keeps the spans; a probe every 5 minutes, an edit or a test resumes it`, async () => {
    holdClock();
    fixture.destinations.set(1, fixture.backend.url);
    fixture.backend.respondWith({ status, headers: { location: `${fixture.backend.url}/elsewhere` } });
    await send('a', 3);
    expect(await inState('paused')).toMatchObject({
      queued: 3,
      last_error: expect.stringContaining(String(status)),
    });
    await send('b', 1);
    later(299_000);
    await quiet();
    expect(fixture.backend.requests).toHaveLength(1);
    later(2_000);
    await fixture.backend.waitForRequests(2);
    expect(fixture.backend.requests[1]!.spans).toHaveLength(1);
    await quiet();
    fixture.backend.respondWith(200);
    if (status === 401) fixture.destinations.set(1, fixture.backend.url);
    else if (status === 403) fixture.telemetry.resume(1);
    else later(301_000);
    await settled();
    expect(names(fixture.backend.requests.filter((one) => one.status === 200))).toEqual([
      'a-0',
      'a-1',
      'a-2',
      'b-0',
    ]);
  });
}

test('the one bad span of a batch is found, kept as a dead letter, and can be sent again or purged', async () => {
  fixture.destinations.set(1, fixture.backend.url, {
    headers: [['authorization', new Secret('Basic dXNlcjpodW50ZXIy')]],
  });
  fixture.backend.respondWith((request) =>
    request.spans.some(({ name }) => name === 'a-13' || name === 'a-40')
      ? { status: 400, headers: { 'content-type': 'text/plain' }, body: 'no good, hunter2: dXNlcjpodW50ZXIy' }
      : 200,
  );
  await send('a', 50);
  await settled();
  expect(await health()).toMatchObject({ delivered: 48, dead_lettered: 2, state: 'delivering' });
  const [first, second] = await fixture.telemetry.deadLetters.list(1);
  expect(first).toMatchObject({
    status: 400,
    reason: 'the backend responded with 400 (its message repeats credentials and is not shown)',
  });
  expect(await fixture.telemetry.deadLetters.retry(1, [first!.id])).toEqual({
    delivered: 0,
    failed: 1,
    untried: 0,
  });
  fixture.backend.respondWith(200);
  expect(await fixture.telemetry.deadLetters.retry(1, [first!.id])).toEqual({
    delivered: 1,
    failed: 0,
    untried: 0,
  });
  expect(names(fixture.backend.requests).at(-1)).toBe('a-13');
  expect(await fixture.telemetry.deadLetters.purge(1, [second!.id])).toBe(1);
  expect(await health()).toMatchObject({ delivered: 49, dead_lettered: 0, discarded: 1 });
  expect(await fixture.telemetry.deadLetters.list(1)).toEqual([]);
});

test('when the first 16 spans are each refused the integration pauses and loses none of them', async () => {
  fixture.destinations.set(1, fixture.backend.url);
  fixture.backend.respondWith(422);
  await send('a', 40);
  expect(await inState('paused')).toMatchObject({ queued: 40, dead_lettered: 0 });
  expect(fixture.backend.requests.filter(({ spans }) => spans.length === 1)).toHaveLength(16);
  fixture.backend.respondWith(200);
  fixture.destinations.set(1, fixture.backend.url);
  await settled();
  expect((await health()).delivered).toBe(40);
});

test('once a span was accepted, sixteen bad ones in a row are bad spans', async () => {
  fixture.destinations.set(1, fixture.backend.url);
  await send('good', 1);
  await settled();
  fixture.backend.respondWith(refuse((name) => name.startsWith('bad'), 400));
  await send('bad', 20);
  await send('more', 2);
  await settled();
  expect(await health()).toMatchObject({ delivered: 3, dead_lettered: 20, state: 'delivering' });
  fixture.clock.advance(73 * 3_600_000);
  fixture.telemetry.wake();
  await until(async () => (await health()).expired === 20);
});

test('a backend that fails now and then does not restart the search for a bad span', async () => {
  fixture.destinations.set(1, fixture.backend.url);
  fixture.backend.respondWith((request, index) =>
    index % 3 === 2 ? { status: 503 } : refuse((name) => name === 'a-700', 400)(request),
  );
  await send('a', 1_000);
  await until(async () => {
    later(60_000);
    return (await health()).queued === 0;
  });
  expect(await health()).toMatchObject({ delivered: 999, dead_lettered: 1 });
  expect(new Set(names(fixture.backend.requests.filter(({ status }) => status === 200))).size).toBe(999);
  expect(fixture.backend.spans()).toHaveLength(999);
});

test('413 bisects the batch, and later batches are as small as the backend takes', async () => {
  fixture.destinations.set(1, fixture.backend.url);
  fixture.backend.respondWith((request) => (request.payload.length > 20_000 ? 413 : 200));
  await send('a', 64, 1_000);
  await settled();
  const refused = fixture.backend.requests.filter(({ status }) => status === 413).length;
  expect(refused).toBeLessThanOrEqual(3);
  await send('b', 64, 1_000);
  await settled();
  expect(fixture.backend.requests.filter(({ status }) => status === 413)).toHaveLength(refused);
  await send('huge', 1, 30_000);
  await settled();
  expect(await health()).toMatchObject({ delivered: 128, dead_lettered: 1 });
});

test('spans that a backend rejects in partial_success are counted and not sent again', async () => {
  fixture.destinations.set(1, fixture.backend.url);
  fixture.backend.respondWith({ partialSuccess: { rejectedSpans: 2, errorMessage: 'too old' } });
  await send('a', 5);
  await settled();
  expect(await health()).toMatchObject({
    delivered: 3,
    rejected: 2,
    last_error: expect.stringContaining('too old'),
  });
  expect(fixture.backend.requests).toHaveLength(1);
});
