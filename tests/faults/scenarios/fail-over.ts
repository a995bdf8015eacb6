import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { int, seeded } from '../../../packages/cron/tests/random.ts';
import { startCallbackReceiver } from '../../harness/callback-receiver.ts';
import { openEventStream } from '../../harness/event-stream.ts';
import { startPostgresPair } from '../../harness/postgres-pair.ts';
import { adminKey } from '../../harness/process.ts';
import { until } from '../../harness/wait.ts';
import { signed } from '../../harness/webhook-sender.ts';
import { nothingDue } from './due.ts';
import { Fixture, must } from './fixture.ts';
import { verifyWithProduct } from './product-verifier.ts';
import { askForWords, expectWords } from './streams.ts';
import { makeSchedules } from './test-schedules.ts';
import type { Verification } from './verifier.ts';
import { forever, Writer } from './workloads.ts';

// biome-ignore lint/suspicious/noExplicitAny: JSON, read field by field
type Json = any;

const minute = 60_000;
const replicas = 3;

export interface FailOverOptions {
  failOvers: number;
  schedules: number;
  seed: number;
}

export interface FailOverReport {
  failOvers: number;
  /** Those in which the old primary lived on for a moment. */
  overlaps: number;
  kills: number;
  /** Until the standby took commits, and until the API took writes again. */
  promotedMs: number[];
  writtenMs: number[];
  writes: number;
  /** Writes that had to be sent more than once. */
  repeated: number;
  events: number;
  runs: Record<string, number>;
  approvals: number;
  streams: number;
  published: number;
  problems: string[];
  verification: Verification;
}

const brief = () => ({ signal: AbortSignal.timeout(5_000) });

/** Repeats a request under one Idempotency-Key, through each replica in turn, until it succeeds. */
const persist = async (
  request: (i: number, headers: Record<string, string>) => Promise<{ status: number; body: Json }>,
): Promise<Json> => {
  const headers = { 'idempotency-key': randomUUID() };
  let n = int(Math.random, 0, replicas - 1);
  return until(
    async () => {
      const { status, body } = await request(n++ % replicas, headers);
      if (status >= 400 && status < 500 && status !== 409 && status !== 429)
        return { refused: `${status} ${JSON.stringify(body)}` };
      return status < 300 && body;
    },
    120_000,
    50,
  );
};

/** Everything at once on a pair whose primary dies again and again, with replicas. */
export const runFailOvers = async (options: FailOverOptions): Promise<FailOverReport> => {
  const random = seeded(options.seed);
  const pair = await startPostgresPair({ max_connections: '150' });
  await using fixture = await Fixture.open('postgres', replicas, pair);
  await using receiver = await startCallbackReceiver();
  const env = { EGRESS_ALLOW: '127.0.0.0/8' };
  await Promise.all(fixture.replicas.map((_, i) => fixture.start(i, { env })));
  const api = fixture.api();
  await must(api.patch('/advanced-settings', { WORK_ITEM_LEASE_SECONDS: 2 }));
  const schedules = await makeSchedules(api, options.schedules, undefined, {
    mock: { steps: [{ text: 'Done.' }] },
  });
  const agent = await must(
    api.post('/agents', { name: 'runs', mode: 'worker', settings: { max_concurrency: 20 } }),
  );
  const hooked = await must(api.post('/agents', { name: 'hooked', mode: 'worker', execution: 'external' }));
  const hook: Json = await must(
    api.post(`/agents/${hooked.id}/triggers`, {
      name: 't',
      kind: 'webhook',
      settings: { scheme: 'standard_webhooks' },
      mapping: { message: 'Event {{ event.body.n }}' },
    }),
  );
  const released = await must(api.post('/agents', { name: 'released', mode: 'worker', release: 'manual' }));

  const talker = await must(api.post('/agents', { name: 'talker', mode: 'conversational' }));

  const problems: string[] = [];
  const writer = new Writer(
    fixture.replicas.map((_, i) => fixture.api(i)),
    2,
    50,
  );
  /** Work Items with a callback, every third with an approval: the ids of the acknowledged ones. */
  const items = new Set<string>();
  let made = 0;
  const runs = forever(2, 100, async () => {
    const last =
      made++ % 3 === 0
        ? { tool: 'request_review', args: { reason: 'Look' } }
        : { text: 'Done.', delay_ms: 300 };
    const item = await persist((i, headers) =>
      fixture.api(i).post(
        '/work-items',
        {
          agent_id: agent.id,
          message: 'go',
          payload: { mock: { steps: [{ tool: 'current_time' }, last] } },
          callbacks: [{ url: `${receiver.url}/cb`, events: ['work_item.completed'] }],
        },
        { headers, ...brief() },
      ),
    );
    if (item.refused) problems.push(`a Work Item: ${item.refused}`);
    else items.add(item.id);
  });
  /** Continues what waits for a person. Each is decided once: what was decided does not wait again. */
  const decided = new Set<string>();
  const approvals = forever(1, 200, async () => {
    const i = int(Math.random, 0, replicas - 1);
    const waiting = await fixture
      .api(i)
      .get('/work-items?status=NEEDS_REVIEW&limit=100', brief())
      .catch(() => null);
    for (const { id } of waiting?.status === 200 ? waiting.body.records : []) {
      if (decided.has(id)) problems.push(`the Work Item ${id} waits again`);
      const { status } = await fixture
        .api(i)
        .post(`/work-items/${id}/continue`, undefined, brief())
        .catch(() => ({ status: 0 }));
      if (status === 200) decided.add(id);
    }
  });
  /** Events of a trigger: the entry that each 202 named. */
  const entries = new Map<string, string>();
  let event = 0;
  const events = forever(2, 50, async () => {
    const id = `event-${event++}`;
    const body = JSON.stringify({ n: id });
    const entry = await until(
      async () => {
        const { port } = fixture.replicas[int(Math.random, 0, replicas - 1)]!;
        const response = await fetch(`http://127.0.0.1:${port}${new URL(hook.url).pathname}`, {
          method: 'POST',
          headers: signed(hook.secret, body, id) as Record<string, string>,
          body,
          ...brief(),
        });
        return response.status === 202 && ((await response.json()) as Json).occurrence_id;
      },
      120_000,
      50,
    );
    entries.set(id, entry);
  });
  /** Publishes: the latest version that was acknowledged. */
  let published = 1;
  let edition = 0;
  const publishes = forever(1, 200, async () => {
    const n = edition++;
    await persist((i, headers) =>
      fixture
        .api(i)
        .patch(`/agents/${released.id}`, { instructions: `edition ${n}` }, { headers, ...brief() }),
    );
    const { version } = await persist((i, headers) =>
      fixture.api(i).post(`/agents/${released.id}/publish`, {}, { headers, ...brief() }),
    );
    if (version) published = Math.max(published, version);
  });
  const loads = [writer, runs, events, publishes];

  const promotedMs: number[] = [];
  const writtenMs: number[] = [];
  let [overlaps, kills, streams] = [0, 0, 0];
  try {
    for (let n = 0; n < options.failOvers; n++) {
      const victim = int(random, 0, replicas - 1);
      const path = `/agents/${talker.id}/conversations/${(await must(fixture.api((victim + 1) % replicas).post(`/agents/${talker.id}/conversations`, {}))).id}`;
      const urlOn = (i: number) => `http://127.0.0.1:${fixture.replicas[i]!.port}/api/v2${path}/stream`;
      const talk = await openEventStream(urlOn(victim), { key: adminKey, body: { content: askForWords } });
      await talk.find(({ event }) => event === 'message.delta');
      // The minute begins within moments of the death of the primary.
      await until(() => nothingDue(fixture), 60_000, 50);
      const left = minute - (fixture.now() % minute);
      await fixture.moveClock(left - 150);
      await fixture.wake();
      await sleep(random() * 300);
      const overlap = n % 2 === 1;
      if (overlap) overlaps++;
      const killing = random() < 0.75 ? sleep(random() * 400).then(() => fixture.kill(victim)) : null;
      const begun = performance.now();
      promotedMs.push(Math.round(await pair.failOver({ aliveForMs: overlap ? 1_500 : 0 })));
      if (killing) {
        await killing;
        kills++;
        await fixture.start(victim, { env });
      }
      const before = writer.acknowledged.size;
      await until(() => writer.acknowledged.size > before + 2, 60_000);
      writtenMs.push(Math.round(performance.now() - begun));
      await talk.ended.catch(() => {});
      const got = [...talk.events];
      for (let i = 0; got.at(-1)!.event !== 'run.completed' && i < 10; i++) {
        const resumed = await openEventStream(urlOn(i % replicas), {
          key: adminKey,
          lastEventId: got.at(-1)!.id,
        });
        await resumed.ended.catch(() => {});
        got.push(...resumed.events);
      }
      expectWords(got);
      streams++;
      await pair.rebuild();
    }
  } finally {
    await Promise.all(loads.map((load) => load.stop()));
  }

  // Everything ends.
  const results: Record<string, number> = {};
  for (const id of items) {
    const item: Json = await until(
      async () => {
        const one: Json = await must(fixture.api().get(`/work-items/${id}`));
        return ['COMPLETED', 'ERROR', 'CANCELLED', 'INDETERMINATE'].includes(one.status) && one;
      },
      90_000,
      50,
    ).catch(() => ({ status: 'stuck' }));
    results[item.status] = (results[item.status] ?? 0) + 1;
    if (item.status !== 'COMPLETED') problems.push(`the Work Item ${id} is ${item.status}`);
  }
  await until(() => [...items].every((id) => receiver.of(id).length > 0), 90_000, 100).catch(() => {
    const without = [...items].filter((id) => receiver.of(id).length === 0);
    problems.push(`${without.length} Work Items of ${items.size} have no callback`);
  });
  await approvals.stop();
  const { version } = await must(fixture.api().get(`/agents/${released.id}`));
  if (Number(version) < published) problems.push(`version ${published} was published, ${version} runs`);
  await fixture.inspect(async (rows) => {
    problems.push(...(await writer.problems(rows)));
    const stored = await rows<{ id: string; event_id: string; items: number }>(
      `select e.id, e.event_id, (select count(*)::int from work_items w where w.occurrence_id = e.id) as items
         from trigger_events e`,
    );
    const byEvent = new Map(stored.map((row) => [row.event_id, row]));
    if (byEvent.size !== stored.length) problems.push('an event has two entries');
    for (const [id, entry] of entries) {
      const row = byEvent.get(id);
      if (row?.id !== entry || row.items !== 1) problems.push(`${id}: ${JSON.stringify(row)}, not ${entry}`);
    }
    for (const id of items) {
      const kept = await rows(`select 1 from work_items where id = '${id}'`);
      if (kept.length !== 1) problems.push(`the Work Item ${id} is lost`);
    }
  });
  const verification = await verifyWithProduct(fixture, schedules);
  return {
    failOvers: options.failOvers,
    overlaps,
    kills,
    promotedMs,
    writtenMs,
    writes: writer.acknowledged.size,
    repeated: writer.repeated,
    events: entries.size,
    runs: results,
    approvals: decided.size,
    streams,
    published,
    problems,
    verification,
  };
};
