import { expect, test } from 'vitest';
import { describeWithNats } from '../harness/nats.ts';
import { runClusterStarts, runExpiryKills } from './scenarios/cluster-moments.ts';
import { size } from './scenarios/fixture.ts';

const kills = size('FAULT_CLUSTER_MOMENTS', 4);

describeWithNats('a cluster of three nats-servers', () => {
  test(`${kills} times the leader of the stream dies while spans expire: each is delivered or counted as expired`, async () => {
    const report = await runExpiryKills(kills);
    console.log(`expiry kills: ${JSON.stringify(report)}`);
    expect(report.problems).toEqual([]);
    expect(report.expired).toBeGreaterThan(0);
  });

  test(`${kills} times the leader of the stream dies while a replica starts`, async () => {
    const report = await runClusterStarts(kills);
    console.log(`cluster starts: ${JSON.stringify(report)}`);
    expect(report.problems).toEqual([]);
  });
});
