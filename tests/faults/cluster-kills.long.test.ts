import { expect, test } from 'vitest';
import { describeWithNats } from '../harness/nats.ts';
import { runClusterKills } from './scenarios/cluster-kills.ts';
import { size } from './scenarios/fixture.ts';

const kills = size('FAULT_CLUSTER_KILLS', 20);

describeWithNats('a cluster of three nats-servers', () => {
  test(`${kills} kills of one server of the three under load: nothing acknowledged is lost`, async () => {
    const report = await runClusterKills(kills);
    console.log(`cluster kills: ${JSON.stringify(report)}`);
    expect(report.acknowledged).toBeGreaterThan(kills * 60);
  });
});
