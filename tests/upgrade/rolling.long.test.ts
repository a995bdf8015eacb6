import { describe, expect, test } from 'vitest';
import { Fixture, type StartOptions, size } from '../faults/scenarios/fixture.ts';
import type { Client } from '../harness/http.ts';
import { describeWithNats, type Nats, startNats } from '../harness/nats.ts';
import { startOtlpReceiver } from '../harness/otlp-receiver.ts';
import { skipNote } from '../harness/programs.ts';
import { until } from '../harness/wait.ts';
import { must } from './clients.ts';
import { sendSpans } from './fill.ts';
import { readEverything } from './responses.ts';

const release = process.env.PREVIOUS_RELEASE;
const rounds = size('UPGRADE_ROUNDS', 40);
const minute = 60_000;

/** Sends requests to replicas of both releases, one after the other, and keeps every response that is not expected. */
class Traffic {
  readonly faults: string[] = [];
  readonly #fixture: Fixture;
  /** Work Items that were acknowledged. */
  readonly created: string[] = [];
  /** Names of the spans that were acknowledged. */
  readonly spans: string[] = [];
  readonly #agent: string;
  #n = 0;
  #stopping = false;
  #running: Promise<void>[] = [];

  constructor(fixture: Fixture, agent: string) {
    this.#fixture = fixture;
    this.#agent = agent;
  }

  start(clients: number): void {
    this.#running = Array.from({ length: clients }, () => this.#loop());
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    await Promise.all(this.#running);
  }

  async #loop(): Promise<void> {
    while (!this.#stopping) {
      await this.#once().catch((error: unknown) => this.#lost(error));
      await new Promise((next) => setTimeout(next, 5));
    }
  }

  /** Replicas are stopped and killed in this test; a request that one of them was serving is lost. */
  #lost(error: unknown): void {
    if (!/fetch failed|ECONN|terminated|socket|refused with 503/i.test(String(error)))
      this.faults.push(String(error));
  }

  async #once(): Promise<void> {
    const n = this.#n++;
    const running = this.#fixture.replicas.flatMap((replica, i) => (replica.process ? [i] : []));
    const pick = (shift: number) => this.#fixture.api(running[(n + shift) % running.length]!);
    const check = (what: string, { status, text }: { status: number; text: string }): void => {
      if (status >= 300 && status !== 503) this.faults.push(`${what}: ${status} ${text.slice(0, 300)}`);
    };
    // The same request twice, at two replicas: a client whose connection was lost.
    const body = { agent_id: this.#agent, message: `number ${n}`, work_item_name: `traffic ${n}` };
    const headers = { 'idempotency-key': `traffic-${n}` };
    const [first, second] = [
      await pick(0).post('/work-items', body, { headers }),
      await pick(1).post('/work-items', body, { headers }),
    ];
    check('create', first);
    check('repeated create', second);
    const ids = [first, second].filter(({ status }) => status === 200).map(({ body: item }) => item.id);
    if (new Set(ids).size > 1) this.faults.push(`two Work Items for one key: ${ids.join(' ')}`);
    if (!ids[0]) return;
    this.created.push(ids[0]);
    const paths = [
      '/work-items?limit=20',
      `/work-items/${ids[0]}`,
      `/work-items/${ids[0]}/messages`,
      `/work-items/${ids[0]}/events`,
      '/agents',
      `/agents/${this.#agent}/schedules`,
      '/llm-configurations',
      '/observability/integrations',
      '/api-keys',
      '/advanced-settings',
    ];
    check(paths[n % paths.length]!, await pick(2).get(paths[n % paths.length]!));
    if (n % 3 === 0) {
      const { port } = this.#fixture.replicas[running[n % running.length]!]!;
      await sendSpans(`http://127.0.0.1:${port}`, this.#agent, `span-${n}`, 20);
      this.spans.push(...Array.from({ length: 20 }, (_, i) => `span-${n}-${i}`));
    }
    if (n % 5 === 0)
      check('patch', await pick(3).patch(`/agents/${this.#agent}`, { description: `changed ${n}` }));
  }
}

const newFields = {
  result_schema: { type: 'object', properties: { z: { type: 'string' }, a: { type: 'number' } } },
  approval_role: 'admin',
  settings: { max_tokens: 10_000, tool_concurrency: 2 },
};

/** Adds what the release before does not know. */
const addWhatIsNew = async (api: Client, app: Client, agent: string): Promise<void> => {
  // Of the kinds that the release before knows. It responds with 500 to a list that has others: docs/operations.md.
  const model = { base_url: 'https://models.example.com/v1', api_key: 'key', timeout_seconds: 30 };
  const { id } = await must(
    api.post('/llm-configurations', { kind: 'openai_compatible', name: 'New', model: 'house', ...model }),
  );
  await must(
    api.post('/agents', { name: 'With new fields', mode: 'worker', fallback_llm_ids: [id], ...newFields }),
  );
  await must(api.post('/agents', { name: 'External', mode: 'worker', execution: 'external' }));
  const talker = await must(api.post('/agents', { name: 'Talker', mode: 'conversational' }));
  const conversation = await must(api.post(`/agents/${talker.id}/conversations`, {}));
  await must(
    api.post(`/agents/${talker.id}/conversations/${conversation.id}/messages`, {
      content: 'Hello',
      wait_seconds: 20,
    }),
  );
  await must(api.post('/api-keys', { name: 'limited', role: 'member', scopes: ['telemetry'] }));
  await must(api.post('/users', { email: 'a@example.com', name: 'A', role: 'builder' }));
  await must(api.post('/role-mappings', { claim: 'groups', value: 'staff', role: 'member', priority: 1 }));
  await must(
    api.post('/work-items', {
      agent_id: agent,
      message: 'with a callback',
      callbacks: [{ url: 'http://127.0.0.1:9/', events: ['work_item.completed'] }],
    }),
  );
  await must(app.get('/overview'));
};

/** What the release before changes of it keeps what it does not know. */
const changeByOldRelease = async (old: Client, now: Client): Promise<void> => {
  const find = async (list: string, name: string) => {
    const { data } = await must(now.get(`${list}?limit=200`));

    return data.find((one: { name: string }) => one.name === name).id;
  };
  const agent = `/agents/${await find('/agents', 'With new fields')}`;
  await must(old.patch(agent, { description: 'changed by the release before', settings: { max_steps: 7 } }));
  expect(await must(now.get(agent))).toMatchObject({
    ...newFields,
    description: 'changed by the release before',
    settings: { ...newFields.settings, max_steps: 7 },
  });
};

describe.skipIf(!release)(
  `side by side with the release before${skipNote(release ? null : 'PREVIOUS_RELEASE names no folder')}`,
  () => {
    const upgrade = async (nats: Nats | null): Promise<void> => {
      await using fixture = await Fixture.open('postgres', 3);
      await using receiver = await startOtlpReceiver();
      const now = nats ? { env: { TELEMETRY_LOG_URL: nats.url } } : {};
      const previous = { ...now, release: release! };
      const outputs: (() => string)[] = [];
      const start = async (i: number, options: StartOptions): Promise<boolean> => {
        const ready = await fixture.start(i, options);
        const process = fixture.replicas[i]!.process;
        if (process) outputs.push(process.output);
        return ready;
      };
      await start(0, previous);
      await start(1, previous);
      const api = fixture.api(0);
      // The moves of the clock are no loss of a worker.
      await must(api.patch('/advanced-settings', { WORK_ITEM_LEASE_SECONDS: 3_600 }));
      const agent = await must(api.post('/agents', { name: 'Night clerk', mode: 'worker' }));
      const settings = { provider: 'otlp_custom_headers', url: receiver.url };
      const integration = `/observability/integrations/${(await must(api.post('/observability/integrations', { version: '1', settings }))).id}`;
      await must(api.post(`${integration}/scopes`, { scope: 'global' }));
      const schedules = await Promise.all(
        Array.from({ length: 20 }, (_, i) =>
          must(
            api.post(`/agents/${agent.id}/schedules`, {
              cron_expression: i % 2 ? '* * * * *' : '*/2 * * * *',
              timezone: i % 3 ? 'UTC' : 'Europe/Berlin',
              message: `schedule ${i}`,
            }),
          ),
        ),
      );
      const traffic = new Traffic(fixture, agent.id);
      traffic.start(3);
      const occurrences = async (count: number) => {
        for (let i = 0; i < count; i++) {
          await fixture.moveClock(minute / 2);
          await new Promise((next) => setTimeout(next, 250));
        }
      };
      await occurrences(6);

      // The first new replica, killed at different moments of its start.
      for (const after of [300, 700, 1_000, 1_300, 1_600]) {
        const starting = start(2, now).catch(() => false);
        await new Promise((next) => setTimeout(next, after));
        await fixture.kill(2);
        await starting;
      }
      await occurrences(4);
      await start(2, now);
      await addWhatIsNew(fixture.api(2), fixture.api(2, '/app/api'), agent.id);
      await occurrences(rounds);
      for (const i of [0, 1, 2])
        await readEverything({ api: fixture.api(i), app: fixture.api(i, '/app/api') });
      await changeByOldRelease(fixture.api(0), fixture.api(2));
      // Taken back, and begun again, with a backlog.
      receiver.respondWith(503);
      await occurrences(4);
      await fixture.replicas[2]!.process!.kill('SIGTERM');
      await fixture.kill(2);
      await start(2, previous);
      await occurrences(6);
      receiver.respondWith(200);
      for (const i of [2, 0, 1]) {
        expect(await fixture.replicas[i]!.process!.kill('SIGTERM')).toMatchObject({ code: 0 });
        await fixture.kill(i);
        await start(i, now);
        await occurrences(8);
      }
      await traffic.stop();
      console.log(`${traffic.created.length} Work Items were created by requests`);
      expect(traffic.faults).toEqual([]);

      const unfinished = () =>
        fixture.inspect((rows) =>
          rows<{ status: string; n: string }>(
            `select status, count(*) as n, max(error::text) from work_items where status <> 'COMPLETED' group by 1`,
          ),
        );
      await until(async () => (await unfinished()).length === 0, 120_000, 500).catch(() => {});
      expect(await unfinished()).toEqual([]);
      const [ends] = await fixture.inspect((rows) =>
        rows(`select count(*) as n from (select work_item_id from work_item_events where to_status = 'COMPLETED'
          group by 1 having count(*) <> 1) twice`),
      );
      expect(ends).toEqual({ n: 0 });
      for (const { id } of schedules) {
        const path = `/agents/${agent.id}/schedules/${id}/audit`;
        const { data } = await must(fixture.api(0, '/app/api').get(path));
        const odd = (data as { status: string }[]).filter(({ status }) => status === 'missing');
        expect(odd).toEqual([]);
      }
      const health = () => must(fixture.api(0).get(`${integration}/health`));
      await until(async () => (await health()).queued === 0, 120_000, 200);
      expect(await health()).toMatchObject({ rejected: 0, dead_lettered: 0, expired: 0, discarded: 0 });
      const received = receiver.spans().map(({ name }) => name);
      const names = new Set(received);
      expect(traffic.spans.filter((name) => !names.has(name))).toEqual([]);
      // Every replica ended in order, so nothing was sent twice. Leases of a shared log expire when the clock is moved.
      const { delivered } = await health();
      if (nats) expect(received.length).toBeGreaterThanOrEqual(delivered);
      else expect(received.length).toBe(delivered);
      console.log(
        `${traffic.spans.length} spans were sent, ${received.length} were delivered, with the platform's own`,
      );
      const verified = await must(fixture.api(0).get('/audits/verify'));
      expect(verified).toMatchObject({ ok: true });
      const logged = outputs
        .flatMap((output) => output().split('\n'))
        .filter((line) => line.startsWith('{'))
        .map((line) => JSON.parse(line) as { level: string; msg: string });
      expect(logged.filter(({ level }) => level === 'error' || level === 'fatal')).toEqual([]);
    };

    test('replicas are upgraded one by one, also if the first is killed while it migrates', () =>
      upgrade(null));

    describeWithNats('with one telemetry log for both releases', () => {
      test('replicas are upgraded one by one', async () => {
        await using nats = await startNats();
        await upgrade(nats);
      });
    });
  },
);
