import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { spansNamed } from '../../packages/otlp/tests/encode.ts';
import { type OtlpReceiver, startOtlpReceiver } from '../harness/otlp-receiver.ts';
import { adminKey } from '../harness/process.ts';
import { until } from '../harness/wait.ts';
import { type Fixture, ok, useReplicas } from './fixture.ts';

describe('telemetry of two replicas on one database', () => {
  let a: Fixture;
  let b: Fixture;
  let backend: OtlpReceiver;
  let integration: { id: string; settings: object };
  useReplicas((...replicas) => {
    [a, b] = replicas;
  });
  beforeAll(async () => {
    backend = await startOtlpReceiver();
    integration = await ok(
      a.api.post('/observability/integrations', {
        settings: { provider: 'otlp_custom_headers', url: backend.url, headers: { 'X-Tenant': 'a' } },
        version: '1',
      }),
      201,
    );
    await until(() => b.test.platform.features.telemetry.path.health(1), 2_000);
  });
  afterAll(() => backend?.close());

  const send = async (to: Fixture, prefix: string, count: number): Promise<void> => {
    const response = await fetch(`${to.test.origin}/api/v2/telemetry/v1/traces`, {
      method: 'POST',
      headers: { authorization: `Bearer ${adminKey}`, 'content-type': 'application/x-protobuf' },
      body: new Uint8Array(spansNamed(prefix, count, 'agent')),
    });
    expect(response.status).toBe(200);
  };
  const health = (of: Fixture) => ok(of.api.get(`/observability/integrations/${integration.id}/health`));
  const deadLetters = (of: Fixture, more = '') =>
    ok(of.app.get(`/observability/integrations/${integration.id}/dead-letters${more}`));
  /** Waits until both replicas report `wanted`. */
  const bothReport = async (wanted: object): Promise<void> => {
    for (const one of [a, b]) {
      await until(async () => {
        const reported = await health(one);
        return Object.entries(wanted).every(([name, value]) => reported[name] === value);
      }, 15_000).catch(async () => expect(await health(one)).toMatchObject(wanted));
    }
  };

  test('each replica reports the counts of both', async () => {
    await send(a, 'a', 3);
    await send(b, 'b', 4);
    await bothReport({ state: 'delivering', delivered: 7, queued: 0, last_error: null });
    expect((await health(b)).last_success_at).toMatch(/Z$/);
  });

  test('delivery that is paused on one replica is paused in the health of both, until an edit', async () => {
    backend.respondWith((request) => (request.spans.some(({ name }) => name.startsWith('x')) ? 401 : 200));
    await send(a, 'x', 2);
    await bothReport({ state: 'paused', delivered: 7, queued: 2 });
    expect((await health(b)).last_error).toContain('401');
    expect((await health(b)).backlog_bytes).toBeGreaterThan(0);
    backend.respondWith(200);
    await ok(b.api.put(`/observability/integrations/${integration.id}`, { version: '2' }));
    await bothReport({ state: 'delivering', delivered: 9, queued: 0 });
  });

  test('dead letters of one replica are counted by both, and sent again or purged through both', async () => {
    backend.respondWith((request) => (request.spans.some(({ name }) => /-[12]$/.test(name)) ? 400 : 200));
    await send(a, 'bad', 3);
    await send(b, 'worse', 3);
    await bothReport({ dead_lettered: 4, delivered: 11, queued: 0 });
    const page = await deadLetters(a);
    expect(page).toMatchObject({ has_more: false, next: '', on_other_replicas: 2, total: 4 });
    expect(page.data).toEqual(
      [1, 2].map(() => ({
        id: expect.stringMatching(new RegExp(`^${page.replica_id}\\.\\d{16}$`)),
        at: expect.any(String),
        status: 400,
        reason: expect.stringContaining('400'),
        bytes: expect.any(Number),
      })),
    );
    const first = await deadLetters(a, '?limit=1');
    expect([first.data, first.total]).toEqual([[page.data[0]], 4]);
    expect((await deadLetters(a, `?limit=1&next=${first.next}`)).data).toEqual([page.data[1]]);
    expect(
      (await b.app.get(`/observability/integrations/${integration.id}/dead-letters?next=${first.next}`))
        .status,
    ).toBe(422);

    // A request to the other replica: it does nothing itself, and the one that holds the dead letter purges it.
    const path = `/observability/integrations/${integration.id}/dead-letters`;
    expect(await ok(b.app.post(`${path}/purge`, { ids: [page.data[0].id] }))).toMatchObject({ discarded: 0 });
    await bothReport({ dead_lettered: 3, discarded: 1 });
    expect(await ok(a.app.post(`${path}/retry`))).toMatchObject({ delivered: 0, failed: 1, untried: 0 });
    backend.respondWith(503);
    expect(await ok(a.app.post(`${path}/retry`))).toMatchObject({ delivered: 0, failed: 0, untried: 1 });
    backend.respondWith(200);
    expect(await ok(a.app.post(`${path}/retry`))).toMatchObject({ delivered: 1, on_other_replicas: 2 });
    await bothReport({ dead_lettered: 0, delivered: 14, discarded: 1 });
    expect(await deadLetters(b)).toMatchObject({ data: [], total: 0 });
    const audits = await ok(a.api.get(`/audits?target_id=${integration.id}`));
    expect(audits.data.map((row: { action: string }) => row.action)).toEqual(
      expect.arrayContaining(['integration.dead_letters_retry', 'integration.dead_letters_purge']),
    );
  });

  test('malformed ids of dead letters are 422', async () => {
    const path = `/observability/integrations/${integration.id}/dead-letters`;
    expect((await a.app.post(`${path}/purge`, { ids: ['x'] })).status).toBe(422);
  });

  test('the counts that a lost replica reported still count; its state does not', async () => {
    await a.sql`insert into telemetry_accounts (replica_id, number, delivered, rejected, dead_lettered, expired, discarded,
        queued, backlog_bytes, oldest_at, state, last_error, updated_at)
        values (gen_random_uuid(), 1, 100, 1, 0, 0, 0, 5, 50, now() - interval '1 hour', 'paused', 'old',
          platform_now() - interval '1 hour')`;
    const reported = await health(a);
    expect(reported).toMatchObject({ state: 'delivering', delivered: 114, rejected: 1, queued: 5 });
    expect(reported.last_error).not.toBe('old');
    expect(reported.backlog_age_seconds).toBeGreaterThanOrEqual(3_599);
  });
});
