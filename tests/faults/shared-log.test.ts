import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeWithNats } from '../harness/nats.ts';
import { until } from '../harness/wait.ts';
import { must } from './scenarios/fixture.ts';
import { leaseOver, Senders, SharedLogFixture } from './scenarios/shared-log.ts';

describeWithNats('two replicas that deliver and one that does not, on one telemetry log', () => {
  let one: SharedLogFixture;
  beforeAll(async () => {
    one = await SharedLogFixture.open(['api,delivery', 'api,delivery', 'api']);
  }, 400_000);
  afterAll(() => one?.[Symbol.asyncDispose]());

  const acknowledged = new Set<string>();
  const settings = async (k: number): Promise<object> =>
    (await must(one.fixture.api().get(`/observability/integrations/${one.integrations[k]}`))).settings!;
  const add = (senders: Senders) => {
    for (const prefix of senders.acknowledged) acknowledged.add(prefix);
  };

  test('what any of them accepts is delivered, and all report the same counters', async () => {
    for (const i of [0, 1, 2]) {
      expect((await one.send(i, `first.${i}`)).status).toBe(200);
      acknowledged.add(`first.${i}`);
    }
    await one.check(acknowledged, [0, 1, 2]);
    expect((await one.health(2)).state).toBe('delivering');
  });

  test('when one is killed with a backlog, the other delivers it, and nothing acknowledged is lost', async () => {
    for (const backend of one.backends) backend.respondWith(503);
    const owner = await one.owner();
    const others = [0, 1, 2].filter((i) => i !== owner);
    const senders = new Senders(one, 'killed', others);
    await until(async () => (await one.health(2)).queued > 30);
    await one.kill(owner);
    for (const backend of one.backends) backend.respondWith(200);
    await sleep(300);
    await senders.stop();
    add(senders);
    await one.check(acknowledged, others);
    expect(others).toContain(await one.owner());
    expect(senders.refused + senders.unanswered).toBe(0);
    await one.start(owner);
  });

  test('when the nats-server is killed under load, traces are refused until it is back, and nothing acknowledged is lost', async () => {
    const senders = new Senders(one, 'nats', [0, 1, 2]);
    await sleep(400);
    await one.nats.kill('SIGKILL');
    await until(() => senders.refused > 5, 15_000);
    await one.nats.start();
    const before = senders.acknowledged.size;
    await until(() => senders.acknowledged.size > before + 20, 15_000);
    await senders.stop();
    add(senders);
    await one.check(acknowledged, [0, 1, 2]);
  });

  test('a replica that freezes for longer than its lease does not deliver what another took over', async () => {
    const owner = await one.owner();
    const others = [0, 1, 2].filter((i) => i !== owner);
    const frozen = one.fixture.replicas[owner]!.process!.pid;
    // Half a batch is in flight when it freezes.
    for (const backend of one.backends) backend.respondWith({ delayMs: 100 });
    const senders = new Senders(one, 'frozen', others);
    await sleep(300);
    process.kill(frozen, 'SIGSTOP');
    try {
      await one.fixture.moveClock(leaseOver);
      const before = senders.acknowledged.size;
      await until(() => senders.acknowledged.size > before + 20, 15_000);
      await senders.stop();
      add(senders);
      await one.check(acknowledged, others);
    } finally {
      process.kill(frozen, 'SIGCONT');
    }
    // Its clock stood still, so it may consider itself the owner until its next check, within 1 s.
    await until(async () => (await one.owner()) !== owner, 5_000);
    await one.check(acknowledged, [0, 1, 2]);
  });

  test('every replica lists a dead letter and can retry it', async () => {
    const [first] = one.backends;
    const deadLetters = (i: number) =>
      must(
        one.fixture.api(i, '/app/api').get(`/observability/integrations/${one.integrations[0]}/dead-letters`),
      );
    first!.respondWith((request) => (request.spans.some(({ name }) => name === 'bad-1') ? 400 : 200));
    expect((await one.send(2, 'bad')).status).toBe(200);
    acknowledged.add('bad');
    await until(async () => (await one.health(0)).dead_lettered === 1);
    const lists = await Promise.all([0, 1, 2].map(deadLetters));
    expect(lists[0]!.data).toHaveLength(1);
    expect([lists[1], lists[2]]).toEqual([lists[0], lists[0]]);
    first!.respondWith(200);
    const owner = await one.owner();
    const other = [0, 1].find((i) => i !== owner)!;
    const path = `/observability/integrations/${one.integrations[0]}/dead-letters/retry`;
    expect(await must(one.fixture.api(other, '/app/api').post(path))).toMatchObject({ delivered: 1 });
    await one.check(acknowledged, [0, 1, 2]);
  });

  test('a disabled integration keeps its backlog, an edited one sends it, that of a deleted one is discarded and counted', async () => {
    const { fixture, backends, integrations } = one;
    const path = `/observability/integrations/${integrations[1]}`;
    backends[1]!.respondWith(503);
    for (let i = 0; i < 5; i++) expect((await one.send(2, `kept.${i}`)).status).toBe(200);
    await until(async () => (await one.health(0, 1)).queued === 15);
    await must(fixture.api(2).put(path, { settings: { ...(await settings(1)), is_enabled: false } }));
    await until(async () => (await one.health(1, 1)).state === 'disabled');
    expect((await one.health(1, 1)).queued).toBe(15);
    backends[1]!.respondWith(200);
    await must(fixture.api(2).put(path, { settings: { ...(await settings(1)), is_enabled: true } }));
    for (const i of [0, 1, 2]) await until(async () => (await one.health(i, 1)).queued === 0);
    backends[1]!.respondWith(503);
    for (let i = 0; i < 5; i++) expect((await one.send(2, `gone.${i}`)).status).toBe(200);
    await until(async () => (await one.health(0, 1)).queued === 15);
    await must(fixture.api(2).delete(path));
    const discarded = async (): Promise<number[]> =>
      Promise.all(
        [0, 1, 2].map(async (i) => {
          const text = await (await fetch(`http://127.0.0.1:${fixture.replicas[i]!.port}/metrics`)).text();
          const [, after = ''] = text.split(
            `_spans{integration="${one.integrations[1]}",state="discarded"} `,
          );
          return Number.parseInt(after, 10) || 0;
        }),
      );
    // One of them reports it.
    await until(async () => (await discarded()).sort().join() === '0,0,15');
  });
});
