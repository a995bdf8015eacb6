import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { names, refuse, useTelemetry } from '../../../tests/harness/telemetry.ts';
import { gunzip } from '../otlp/gzip.ts';

const rig = useTelemetry();
/** 600 KB: large enough to be forwarded as it came. */
const large = (prefix: string, gzip = gzipSync as (body: Buffer) => Buffer) =>
  rig.send(prefix, 30, 20_000, gzip);
const all = (prefix: string) => Array.from({ length: 30 }, (_, i) => `${prefix}-${i}`);

test('a large gzip body goes to every backend byte for byte as a request of its own, in order with the others', async () => {
  rig.destinations.set(1, rig.backend.url);
  rig.destinations.set(2, `${rig.backend.url}/2`);
  // Paused until all is queued: while a backlog grows, requests may go side by side, and then in no order.
  rig.backend.respondWith(401);
  await rig.send('a', 2);
  for (const number of [1, 2]) await rig.inState('paused', number);
  const b = await large('b');
  const c = await large('c', (body) => gzipSync(body, { level: 9 }));
  await rig.send('d', 2);
  rig.backend.respondWith(200);
  for (const number of [1, 2]) rig.telemetry.resume(number);
  for (const number of [1, 2]) await rig.settled(number);
  for (const path of ['/v1/traces', '/v1/traces/2']) {
    const got = rig.backend.requests.filter(({ url, status }) => url === path && status === 200);
    expect(names(got)).toEqual(['a-0', 'a-1', ...all('b'), ...all('c'), 'd-0', 'd-1']);
    expect(got.filter(({ body }) => body.equals(b) || body.equals(c))).toHaveLength(2);
  }
});

test('a body of several members, or with something behind it, is made one member', async () => {
  rig.destinations.set(1, rig.backend.url);
  await large('a', (body) => Buffer.concat([gzipSync(body), gzipSync('')]));
  await large('b', (body) => Buffer.concat([gzipSync(''), gzipSync(body)]));
  await large('c', (body) =>
    Buffer.concat([gzipSync(body.subarray(0, 9_000)), gzipSync(body.subarray(9_000))]),
  );
  await rig.settled();
  expect(rig.backend.requests.map(({ fault }) => fault)).not.toContainEqual(expect.anything());
  expect(names(rig.backend.requests)).toEqual([...all('a'), ...all('b'), ...all('c')]);
  const member = gzipSync('spans');
  expect(await gunzip(member, 100)).toMatchObject({ oneMember: true });
  const followed = Buffer.concat([member, Buffer.alloc(9)]);
  expect(await gunzip(followed, 100)).toMatchObject({ bytes: Buffer.from('spans'), oneMember: false });
});

test('a large plain body is compressed once: every backend gets the same one member, and what came in it', async () => {
  rig.destinations.set(1, rig.backend.url);
  rig.destinations.set(2, `${rig.backend.url}/2`);
  const plain = await rig.send('a', 30, 20_000);
  for (const number of [1, 2]) await rig.settled(number);
  const [first, second, ...more] = rig.backend.requests;
  expect(more).toEqual([]);
  expect(first).toMatchObject({ fault: null, headers: { 'content-encoding': 'gzip' } });
  expect(first!.payload.equals(plain)).toBe(true);
  expect(second!.body.equals(first!.body)).toBe(true);
});

test('the bad span of a forwarded body is found, and a 413 halves it', async () => {
  rig.destinations.set(1, rig.backend.url);
  await rig.send('first', 1);
  await rig.settled();
  rig.backend.respondWith(refuse((name) => name === 'a-13', 400));
  await large('a');
  await rig.settled();
  expect(await rig.health()).toMatchObject({ delivered: 30, dead_lettered: 1 });
  rig.backend.respondWith((request) => (request.payload.length > 200_000 ? 413 : 200));
  rig.backend.clear();
  await large('b');
  await rig.settled();
  expect(names(rig.backend.requests.filter(({ status }) => status === 200))).toEqual(all('b'));
});

test('what of a forwarded body was delivered before a restart is not sent again', async () => {
  rig.destinations.set(1, rig.backend.url);
  await rig.send('first', 1);
  await rig.settled();
  rig.backend.clear();
  rig.backend.respondWith((request) =>
    request.payload.length > 400_000 ? 413 : request.spans.some(({ name }) => name === 'a-29') ? 503 : 200,
  );
  await large('a');
  await rig.inState('retrying');
  await rig.telemetry.close();
  rig.backend.respondWith(200);
  await rig.start();
  await rig.settled();
  const accepted = rig.backend.requests.filter(({ status }) => status === 200);
  expect(names(accepted)).toEqual(all('a'));
});
