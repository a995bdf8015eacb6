import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { client } from '../harness/http.ts';
import { completion, type Endpoint, startEndpoint } from '../harness/llm-endpoint.ts';
import { type OtlpReceiver, startOtlpReceiver } from '../harness/otlp-receiver.ts';
import { until as untilWithin } from '../harness/wait.ts';
import { checksumOf, databases, readDump, releases } from './archive.ts';
import { type Clients, must } from './clients.ts';
import { pickyBackend, secrets } from './fill.ts';
import { Upgrade } from './fixture.ts';
import { lasting, readAgain } from './responses.ts';

/** The machine may be busy: each wait has nearly as long as its test. */
const until = <T>(fn: () => T | Promise<T>) => untilWithin(fn, 50_000);

const basic = (text: string): string => `Basic ${Buffer.from(text).toString('base64')}`;
const countOf = (names: readonly string[]): Map<string, number> =>
  names.reduce((counts, name) => counts.set(name, (counts.get(name) ?? 0) + 1), new Map<string, number>());

describe.each(releases())('from %s', (release) => {
  test('none of its migrations was changed', () => {
    const { migrations } = readDump(release);
    expect(Object.keys(migrations).length).toBeGreaterThan(10);
    for (const [name, checksum] of Object.entries(migrations))
      expect([name, checksumOf(name)]).toEqual([name, checksum]);
  });

  // Each test continues where the one before it ended.
  describe.each(databases)('on the %s database', (kind) => {
    let backend: OtlpReceiver;
    let model: Endpoint;
    let upgrade: Upgrade;
    let clients: Clients;
    beforeAll(async () => {
      backend = await startOtlpReceiver();
      model = await startEndpoint(() => ({ body: completion({ content: 'Done by the house model.' }) }));
      upgrade = await Upgrade.open(release, kind, { backendPort: backend.port, modelUrl: model.url });
      backend.respondWith(503);
      clients = await upgrade.start(upgrade.facts.endedAt + 1_000, 'api,delivery');
    });
    afterAll(async () => {
      await upgrade?.[Symbol.asyncDispose]();
      await backend?.close();
      await model?.[Symbol.asyncDispose]();
    });
    const health = (name: keyof Upgrade['facts']['integrations']) =>
      must(clients.api.get(`/observability/integrations/${upgrade.facts.integrations[name]}/health`));
    const healthBefore = (name: keyof Upgrade['facts']['integrations']) =>
      upgrade.responses.bodies[
        `/api/v2/observability/integrations/${upgrade.facts.integrations[name]}/health`
      ] as Record<string, number>;

    test('every response is what it was, or differs as differences.ts says', async () => {
      const { expected } = await import(`./${release}/differences.ts`);
      const { bodies, etags } = upgrade.responses;
      const now = await readAgain(clients, Object.keys(bodies));
      for (const [path, body] of Object.entries(bodies))
        expect(now.bodies[path], path).toMatchObject(expected(path, lasting(path, body)));
      expect(now.etags).toMatchObject(etags);
      expect(Object.keys(bodies).length).toBeGreaterThan(100);
    });

    test('the audit log verifies, has the entry that was noted before, and goes on', async () => {
      const { checked: position, last_hash: hash } = upgrade.responses.bodies['/api/v2/audits/verify'] as {
        checked: number;
        last_hash: string;
      };
      await until(async () => {
        const verified = await must(clients.api.get(`/audits/verify?position=${position}&hash=${hash}`));
        expect(verified).toMatchObject({ ok: true, anchor: 'matches' });
        return verified.checked > position && verified.unchained === 0;
      });
    });

    test('API keys do what they did, and a revoked one nothing', async () => {
      const { keys, agents } = upgrade.facts;
      const as = (name: keyof typeof keys) => client(`${upgrade.origin}/api/v2`, keys[name].value);
      const statuses = async (name: keyof typeof keys) => [
        (await as(name).get('/agents')).status,
        (await as(name).patch(`/agents/${agents.careful}`, {})).status,
        (await as(name).get('/advanced-settings')).status,
      ];
      expect(await statuses('admin')).toEqual([200, 200, 200]);
      expect(await statuses('builder')).toEqual([200, 200, 403]);
      expect(await statuses('member')).toEqual([200, 403, 403]);
      expect(await statuses('expiring')).toEqual([200, 403, 403]);
      expect(await statuses('revoked')).toEqual([401, 401, 401]);
    });

    test('a request with an Idempotency-Key that was answered gets the same response again', async () => {
      const { idempotent, backendPort } = upgrade.facts;
      expect(idempotent.length).toBeGreaterThan(0);
      for (const { path, key, body, status, response } of idempotent) {
        const again = await clients.api.post(path, body, { headers: { 'idempotency-key': key } });
        expect([again.status, again.headers.get('idempotency-replayed')], path).toEqual([status, 'true']);
        expect(JSON.parse(again.text.replaceAll(`:${backend.port}/`, `:${backendPort}/`))).toEqual(response);
      }
    });

    test('the secrets of a model open', async () => {
      const tested = await must(clients.api.post(`/llm-configurations/${upgrade.facts.llm}/test`));
      expect(tested.steps?.[0]?.ok ?? tested.ok).toBe(true);
      expect(model.requests.at(-1)!.headers).toMatchObject({
        authorization: `Bearer ${secrets.model.api_key}`,
        'x-house': secrets.model.header,
      });
    });

    test('the backlog is delivered and accounted for to the span, with the credentials', async () => {
      pickyBackend(backend);
      const names = ['dashboard', 'tracing', 'custom'] as const;
      for (const name of names) await until(async () => (await health(name)).queued === 0);
      for (const name of names) {
        const { delivered, queued, dead_lettered } = healthBefore(name);
        expect(queued).toBeGreaterThan(50);
        expect(await health(name)).toMatchObject({
          delivered: delivered! + queued!,
          dead_lettered,
          rejected: 0,
          expired: 0,
          discarded: 0,
        });
        const taken = backend.requests.filter(({ url, status }) => url === `/${name}` && status === 200);
        const spans = taken.flatMap((request) => request.spans.map((span) => span.name));
        expect(spans).toHaveLength(queued!);
        const counts = countOf(spans);
        for (let i = 0; i < 50; i++) expect(counts.get(`backlog-${i}`)).toBe(1);
        for (let i = 0; i < 7; i++) expect(counts.get(`careful-${i}`)).toBe(1);
      }
      const headersOf = (name: string) => backend.requests.findLast(({ url }) => url === `/${name}`)!.headers;
      const { dashboard, tracing, custom } = secrets;
      expect(headersOf('dashboard').authorization).toBe(
        basic(`${dashboard.dashboard_instance_id}:${dashboard.api_token}`),
      );
      expect(headersOf('tracing')).toMatchObject({
        'x-api-key': tracing.api_key,
        'x-project-name': 'night shift',
      });
      expect(headersOf('custom')).toMatchObject(custom);
    });

    test('dead letters are sent again', async () => {
      backend.clear();
      backend.respondWith(200);
      const { delivered, queued, dead_lettered } = healthBefore('custom');
      expect(dead_lettered).toBe(3);
      await must(
        clients.app.post(
          `/observability/integrations/${upgrade.facts.integrations.custom}/dead-letters/retry`,
        ),
      );
      await until(async () => (await health('custom')).delivered === delivered! + queued! + 3);
      expect(await health('custom')).toMatchObject({ dead_lettered: 0, queued: 0 });
      expect(countOf(backend.spans().map(({ name }) => name))).toEqual(
        new Map([0, 1, 2].map((i) => [`poison-${i}`, 1])),
      );
    });

    const scheduleOf = (name: string) => {
      const { agent, id } = upgrade.facts.schedules[name]!;
      return `/agents/${agent}/schedules/${id}`;
    };
    type Occurrence = { scheduled_for: string; outcome: string; count: number; work_item_id: string };
    const occurrencesBefore = (name: string) =>
      (
        upgrade.responses.bodies[`/app/api${scheduleOf(name)}/occurrences?limit=200`] as {
          data: Occurrence[];
        }
      ).data;
    const newOccurrences = async (name: string): Promise<Occurrence[]> => {
      const { data } = await must(clients.app.get(`${scheduleOf(name)}/occurrences?limit=200`));
      return data.slice(0, data.length - occurrencesBefore(name).length);
    };
    const nextRun = (name: string): string | null =>
      (upgrade.responses.bodies[`/api/v2${scheduleOf(name)}`] as { next_run_at: string | null }).next_run_at;

    test('what was executing is taken over, and each schedule fires its next occurrence once', async () => {
      const { facts } = upgrade;
      const at = Date.parse(nextRun('often')!) + 1_000;
      expect(at - facts.endedAt).toBeLessThan(10 * 60_000 + 1_000);
      // Longer than the lease, so that the Work Item of the killed release is taken over at once.
      clients = await upgrade.start(Math.max(at, facts.endedAt + 35_000));
      const statusOf = async (name: string) =>
        (await must(clients.api.get(`/work-items/${facts.workItems[name]}`))).status;
      for (const name of Object.keys(facts.schedules)) {
        const next = nextRun(name);
        const due = next !== null && Date.parse(next) <= at;
        if (due) await until(async () => (await newOccurrences(name)).length > 0);
        const fired = await newOccurrences(name);
        expect(fired.map(({ scheduled_for, count }) => [scheduled_for, count])).toEqual(
          due ? [[next, 1]] : [],
        );
      }
      for (const name of ['executing', 'pending'])
        await until(async () => (await statusOf(name)) === 'COMPLETED');
      const events = await must(clients.api.get(`/work-items/${facts.workItems.executing}/events`));
      expect(events.data.map(({ action }: { action: string }) => action)).toContain('lease_lost');
    });

    test('the schedules go on over a change of the clocks', async () => {
      // 2027-03-28 03:00 in Berlin, where 02:30 did not exist.
      const at = Date.parse(nextRun('onceAYear')!);
      expect(new Date(at).toISOString()).toBe('2027-03-28T01:00:00.000Z');
      clients = await upgrade.start(at + 1_000);
      await until(async () => (await newOccurrences('onceAYear')).length === 1);
      expect(await newOccurrences('onceAYear')).toMatchObject([{ scheduled_for: nextRun('onceAYear') }]);
      expect(await newOccurrences('paused')).toEqual([]);
      for (const name of ['often', 'berlin', 'lordHowe', 'resumed']) {
        const from = new Date(at - 24 * 3_600_000).toISOString();
        const { data } = await must(clients.app.get(`${scheduleOf(name)}/audit?from=${from}`));
        expect(data.length).toBeGreaterThan(0);
        expect(data.filter(({ status }: { status: string }) => status === 'missing')).toEqual([]);
      }
    });
  });
});
