import { expect, test } from 'vitest';
import { describeWithNats } from '../harness/nats.ts';
import { runClusterStarts } from './scenarios/cluster-moments.ts';

describeWithNats('a cluster of three nats-servers', () => {
  test('a replica starts with one server of three away, and while the leader of the stream dies', async () => {
    const report = await runClusterStarts(2);
    console.log(`cluster starts: ${JSON.stringify(report)}`);
    expect(report.problems).toEqual([]);
  }, 400_000);
});
