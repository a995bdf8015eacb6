import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { must } from '../faults/scenarios/fixture.ts';
import { type OtlpReceiver, startOtlpReceiver } from '../harness/otlp-receiver.ts';
import { until } from '../harness/wait.ts';
import { integrations, startTracedPlatform, type TracedPlatform } from './fixture.ts';

const away = 'http://127.0.0.1:9/v1/traces';
const settings = (url: string, more: object = {}) => ({ provider: 'otlp_custom_headers', url, ...more });

let platform: TracedPlatform;
let backend: OtlpReceiver;
beforeAll(async () => {
  platform = await startTracedPlatform();
  backend = await startOtlpReceiver();
});
afterAll(async () => {
  await platform?.[Symbol.asyncDispose]();
  await backend?.close();
});
beforeEach(() => {
  backend.clear();
  backend.respondWith(200);
});
const names = () => backend.spans().map(({ name }) => name);
const named = (prefix: string, count: number) => Array.from({ length: count }, (_, i) => `${prefix}-${i}`);
const edit = (id: string, body: object) =>
  must(platform.api.put(`${integrations}/${id}`, { version: '2', ...body }));
const done = async (id: string): Promise<void> => {
  expect((await platform.api.delete(`${integrations}/${id}`)).status).toBe(204);
};

test('an edited integration sends its backlog to the new settings', async () => {
  const id = await platform.integrate(settings(away, { headers: { 'X-Tenant': 'old' } }));
  await platform.send('a', 7);
  await platform.healthIs(id, { state: 'retrying', queued: 7, delivered: 0 });
  await edit(id, { settings: settings(backend.url, { headers: { 'X-Tenant': 'new' } }) });
  await platform.healthIs(id, { state: 'delivering', queued: 0, delivered: 7 });
  expect(names()).toEqual(named('a', 7));
  expect(backend.requests.map(({ headers }) => headers['x-tenant'])).toEqual(['new']);
  await done(id);
});

test('a paused integration resumes after the edit that fixes it, and delivers once and in order', async () => {
  backend.respondWith((request) => (request.headers.authorization === 'Bearer right' ? 200 : 401));
  const id = await platform.integrate(settings(backend.url, { headers: { Authorization: 'Bearer wrong' } }));
  await platform.send('a', 3);
  await platform.healthIs(id, { state: 'paused', queued: 3 });
  await platform.send('b', 2);
  await platform.healthIs(id, { state: 'paused', queued: 5 });
  await edit(id, { settings: settings(backend.url, { headers: { Authorization: 'Bearer right' } }) });
  await platform.healthIs(id, { state: 'delivering', queued: 0, delivered: 5 });
  expect(names()).toEqual([...named('a', 3), ...named('b', 2)]);
  await done(id);
});

test('a disabled integration keeps its backlog, gets nothing new, and sends the backlog when it is enabled', async () => {
  const id = await platform.integrate(settings(away));
  await platform.send('kept', 4);
  await platform.healthIs(id, { state: 'retrying', queued: 4 });
  await edit(id, { settings: settings(backend.url, { is_enabled: false }) });
  await platform.send('missed', 3);
  await platform.healthIs(id, { state: 'disabled', queued: 4, delivered: 0 });
  await edit(id, { settings: settings(backend.url, { is_enabled: true }) });
  await platform.send('new', 2);
  await platform.healthIs(id, { state: 'delivering', queued: 0, delivered: 6 });
  expect(names()).toEqual([...named('kept', 4), ...named('new', 2)]);
  await done(id);
});

test('a smaller retention takes effect at once: the oldest spans expire, the newest are delivered', async () => {
  const retain = (megabytes: number) =>
    must(platform.api.patch('/advanced-settings', { TELEMETRY_RETENTION_MB: megabytes }));
  const id = await platform.integrate(settings(away));
  for (let i = 0; i < 8; i++) await platform.send(`r${i}`, 1_500, 2_000);
  await retain(16);
  const { expired } = await until(async () => {
    const now = await platform.health(id);
    return now.expired > 0 && now;
  });
  expect(expired).toBeLessThan(6_000);
  await edit(id, { settings: settings(backend.url) });
  await platform.healthIs(id, { queued: 0, expired, delivered: 12_000 - expired });
  expect(names().at(-1)).toBe('r7-1499');
  await retain(10_240);
  await done(id);
});

test('the backlog and dead letters of a deleted integration count as discarded, and its final counts survive a restart', async () => {
  const id = await platform.integrate(settings(backend.url));
  await platform.send('ok', 1);
  await platform.healthIs(id, { delivered: 1 });
  backend.respondWith((request) => (request.spans.some(({ name }) => name === 'bad-1') ? 400 : 200));
  await platform.send('bad', 3);
  await platform.healthIs(id, { delivered: 3, dead_lettered: 1, queued: 0 });
  backend.respondWith(503);
  await platform.send('left', 5);
  await platform.healthIs(id, { state: 'retrying', queued: 5 });
  expect(await platform.metrics(id)).toMatchObject({ delivered: 3, dead_lettered: 1, queued: 5 });
  await done(id);

  const final = { delivered: 3, rejected: 0, dead_lettered: 0, expired: 0, discarded: 6, queued: 0 };
  await expect.poll(() => platform.metrics(id)).toEqual(final);
  expect((await platform.api.get(`${integrations}/${id}/health`)).status).toBe(404);

  const later = await platform.integrate(settings(backend.url));
  backend.respondWith(200);
  backend.clear();
  await platform.send('later', 2);
  await platform.healthIs(later, { delivered: 2, queued: 0 });
  expect(names()).toEqual(named('later', 2));
  await platform.restart();
  expect(await platform.metrics(id)).toEqual(final);
  expect(await platform.metrics(later)).toMatchObject({ delivered: 2, queued: 0, discarded: 0 });
});
