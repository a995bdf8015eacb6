import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeWithNats } from '../harness/nats.ts';
import { until } from '../harness/wait.ts';
import { Senders, SharedLogGround } from './scenarios/shared-log.ts';

describeWithNats('two replicas that deliver and one that does not, on one telemetry log', () => {
  let one: SharedLogGround;
  beforeAll(async () => {
    one = await SharedLogGround.open(['api,delivery', 'api,delivery', 'api']);
  }, 120_000);
  afterAll(() => one?.[Symbol.asyncDispose]());

  const acknowledged = new Set<string>();
  const add = (senders: Senders) => {
    for (const prefix of senders.acknowledged) acknowledged.add(prefix);
  };

  test('what any of them accepts is delivered, and all tell the same account', async () => {
    for (const i of [0, 1, 2]) {
      expect((await one.send(i, `first.${i}`)).status).toBe(200);
      acknowledged.add(`first.${i}`);
    }
    await one.check(acknowledged, [0, 1, 2]);
    expect((await one.health(2)).state).toBe('delivering');
  });

  test('when one is killed with a backlog, the other delivers it, and nothing acknowledged is lost', async () => {
    for (const backend of one.backends) backend.respondWith(503);
    const senders = new Senders(one, 'killed', [1, 2]);
    await sleep(500);
    expect((await one.health(2)).queued).toBeGreaterThan(0);
    await one.kill(0);
    await sleep(300);
    for (const backend of one.backends) backend.respondWith(200);
    await sleep(500);
    await senders.stop();
    add(senders);
    await one.check(acknowledged, [1, 2]);
    expect(senders.refused + senders.unanswered).toBe(0);
    await one.start(0);
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
});
