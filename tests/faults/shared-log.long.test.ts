import { setTimeout as sleep } from 'node:timers/promises';
import { test } from 'vitest';
import { describeWithNats } from '../harness/nats.ts';
import { until } from '../harness/wait.ts';
import { size } from './scenarios/fixture.ts';
import { leaseOver, Senders, SharedLogFixture } from './scenarios/shared-log.ts';

const rounds = size('FAULT_SHARED_LOG_ROUNDS', 30);

describeWithNats('three replicas and a nats-server that die again and again', () => {
  test(`${rounds} rounds under load: nothing acknowledged is lost, and every span is counted`, async () => {
    await using one = await SharedLogFixture.open(['api,delivery', 'api,delivery', 'api,delivery', 'api']);
    const all = [0, 1, 2, 3];
    const senders = new Senders(one, 'sent', all, 4);
    const faults: ((victim: number) => Promise<void>)[] = [
      async (victim) => {
        await one.kill(victim);
        await sleep(300);
        await one.start(victim);
      },
      async (victim) => {
        await one.fixture.replicas[victim]!.process!.kill('SIGTERM');
        await one.fixture.kill(victim);
        await one.start(victim);
      },
      async (victim) => {
        const { pid } = one.fixture.replicas[victim]!.process!;
        process.kill(pid, 'SIGSTOP');
        await one.fixture.moveClock(leaseOver);
        await sleep(1_500);
        process.kill(pid, 'SIGCONT');
      },
      async () => {
        await one.nats.kill('SIGKILL');
        await sleep(500);
        await one.nats.start();
      },
      // Both at once, so that no replica is left that has counted the end of the stream.
      async () => {
        await one.nats.kill('SIGKILL');
        for (const i of all) await one.fixture.kill(i);
        await one.nats.start();
        for (const i of all) await one.start(i);
        await one.fixture.moveClock(leaseOver);
      },
    ];
    for (let round = 0; round < rounds; round++) {
      // Every other round with a backlog.
      for (const backend of one.backends) backend.respondWith(round % 2 === 0 ? 200 : 503);
      await faults[round % faults.length]!(await one.owner());
      const before = senders.acknowledged.size;
      await until(() => senders.acknowledged.size > before + 10, 60_000);
    }
    for (const backend of one.backends) backend.respondWith(200);
    await senders.stop();
    await one.check(senders.acknowledged, all);
    console.log(
      `shared log: ${rounds} rounds, ${senders.acknowledged.size * 3} spans acknowledged, ${senders.refused} requests refused, ${senders.unanswered} without a response`,
    );
  });
});
