import { gzipSync } from 'node:zlib';
import { gunzip } from '@agent-platform/otlp';
import { expect, test } from 'vitest';
import { names, refuse, useTelemetry } from '../../../tests/harness/telemetry.ts';

const fixture = useTelemetry();
/** 600 KB: large enough to be forwarded as it arrived. */
const large = (prefix: string, gzip = gzipSync as (body: Buffer) => Buffer) =>
  fixture.send(prefix, 30, 20_000, gzip);
const all = (prefix: string) => Array.from({ length: 30 }, (_, i) => `${prefix}-${i}`);

test('a large gzip body goes to every backend byte for byte as a request of its own, in order with the others', async () => {
  fixture.destinations.set(1, fixture.backend.url);
  fixture.destinations.set(2, `${fixture.backend.url}/2`);
  // Paused until all is queued: while a backlog grows, requests may be concurrent, and then in no order.
  fixture.backend.respondWith(401);
  await fixture.send('a', 2);
  for (const number of [1, 2]) await fixture.inState('paused', number);
  const b = await large('b');
  const c = await large('c', (body) => gzipSync(body, { level: 9 }));
  await fixture.send('d', 2);
  fixture.backend.respondWith(200);
  for (const number of [1, 2]) fixture.telemetry.resume(number);
  for (const number of [1, 2]) await fixture.settled(number);
  for (const path of ['/v1/traces', '/v1/traces/2']) {
    const got = fixture.backend.requests.filter(({ url, status }) => url === path && status === 200);
    expect(names(got)).toEqual(['a-0', 'a-1', ...all('b'), ...all('c'), 'd-0', 'd-1']);
    expect(got.filter(({ body }) => body.equals(b) || body.equals(c))).toHaveLength(2);
  }
});

test('a gzip body of several members, or with bytes after it, becomes one member', async () => {
  fixture.destinations.set(1, fixture.backend.url);
  await large('a', (body) => Buffer.concat([gzipSync(body), gzipSync('')]));
  await large('b', (body) => Buffer.concat([gzipSync(''), gzipSync(body)]));
  await large('c', (body) =>
    Buffer.concat([gzipSync(body.subarray(0, 9_000)), gzipSync(body.subarray(9_000))]),
  );
  await fixture.settled();
  expect(fixture.backend.requests.map(({ fault }) => fault)).not.toContainEqual(expect.anything());
  expect(names(fixture.backend.requests)).toEqual([...all('a'), ...all('b'), ...all('c')]);
  const member = gzipSync('spans');
  expect(await gunzip(member, 100)).toMatchObject({ oneMember: true });
  const followed = Buffer.concat([member, Buffer.alloc(9)]);
  expect(await gunzip(followed, 100)).toMatchObject({ bytes: Buffer.from('spans'), oneMember: false });
});

test('a large plain body is compressed once: every backend gets the same member with all its spans', async () => {
  fixture.destinations.set(1, fixture.backend.url);
  fixture.destinations.set(2, `${fixture.backend.url}/2`);
  const plain = await fixture.send('a', 30, 20_000);
  for (const number of [1, 2]) await fixture.settled(number);
  const [first, second, ...more] = fixture.backend.requests;
  expect(more).toEqual([]);
  expect(first).toMatchObject({ fault: null, headers: { 'content-encoding': 'gzip' } });
  expect(first!.payload.equals(plain)).toBe(true);
  expect(second!.body.equals(first!.body)).toBe(true);
});

test('the bad span of a forwarded body is found, and a 413 bisects the body', async () => {
  fixture.destinations.set(1, fixture.backend.url);
  await fixture.send('first', 1);
  await fixture.settled();
  fixture.backend.respondWith(refuse((name) => name === 'a-13', 400));
  await large('a');
  await fixture.settled();
  expect(await fixture.health()).toMatchObject({ delivered: 30, dead_lettered: 1 });
  fixture.backend.respondWith((request) => (request.payload.length > 200_000 ? 413 : 200));
  fixture.backend.clear();
  await large('b');
  await fixture.settled();
  expect(names(fixture.backend.requests.filter(({ status }) => status === 200))).toEqual(all('b'));
});

test('attributes of an integration replace those of the resources, for it alone, also in chunks and dead letters', async () => {
  const other = `${fixture.backend.url}/2`;
  fixture.destinations.set(1, fixture.backend.url, {
    resourceAttributes: { 'service.name': 'shop', a: 'ü' },
  });
  fixture.destinations.set(2, other);
  await fixture.send('first', 1);
  for (const number of [1, 2]) await fixture.settled(number);
  fixture.backend.respondWith(refuse((name) => name === 'b-13', 400));
  const a = await fixture.send('a', 30, 20_000);
  const b = await large('b');
  for (const number of [1, 2]) await fixture.settled(number);
  fixture.backend.respondWith(200);
  expect(await fixture.telemetry.deadLetters.retry(1)).toMatchObject({ delivered: 1 });
  const sent = (path: string) =>
    fixture.backend.requests.filter(({ url, status }) => url === path && status === 200);
  const spans = sent('/v1/traces').flatMap((request) => request.spans);
  expect(spans).toHaveLength(61);
  for (const { resource } of spans) expect(resource).toMatchObject({ 'service.name': 'shop', a: 'ü' });
  expect(fixture.backend.requests.map(({ fault }) => fault)).not.toContainEqual(expect.anything());
  const untouched = sent('/v1/traces/2');
  expect(untouched.some(({ payload }) => payload.equals(a))).toBe(true);
  expect(fixture.backend.requests.some(({ url, body }) => url === '/v1/traces/2' && body.equals(b))).toBe(
    true,
  );
  expect(untouched.flatMap((request) => request.spans).some(({ resource }) => 'a' in resource)).toBe(false);
});

test('the part of a forwarded body that was delivered before a restart is not sent again', async () => {
  fixture.destinations.set(1, fixture.backend.url);
  await fixture.send('first', 1);
  await fixture.settled();
  fixture.backend.clear();
  fixture.backend.respondWith((request) =>
    request.payload.length > 400_000 ? 413 : request.spans.some(({ name }) => name === 'a-29') ? 503 : 200,
  );
  await large('a');
  await fixture.inState('retrying');
  await fixture.telemetry.close();
  fixture.backend.respondWith(200);
  await fixture.start();
  await fixture.settled();
  const accepted = fixture.backend.requests.filter(({ status }) => status === 200);
  expect(names(accepted)).toEqual(all('a'));
});
