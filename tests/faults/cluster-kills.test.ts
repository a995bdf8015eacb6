import { expect, test } from 'vitest';
import { describeWithNats } from '../harness/nats.ts';
import { runClusterKills } from './scenarios/cluster-kills.ts';

describeWithNats('a cluster of three nats-servers', () => {
  test('a server of the three dies during ingest and the start of a replica: nothing acknowledged is lost', async () => {
    const report = await runClusterKills(3);
    console.log(`cluster kills: ${JSON.stringify(report)}`);
    expect(report.acknowledged).toBeGreaterThan(100);
  }, 400_000);
});
