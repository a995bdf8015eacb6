import { beforeAll, expect, test } from 'vitest';
import { describeWithKafka } from '../../harness/kafka.ts';
import { describeWithNats } from '../../harness/nats.ts';
import { type BrokerKillsOptions, type BrokerKillsReport, runBrokerKills } from './triggers-brokers.ts';

/** The guarantees of triggers that read a broker, under `kill -9` of the broker and of replicas. */
export const describeBrokerKills = (options: BrokerKillsOptions, timeoutMs = 400_000): void => {
  const describeWith = options.broker === 'nats' ? describeWithNats : describeWithKafka;
  describeWith(`${options.kills} times SIGKILL with ${options.broker}`, () => {
    let report: BrokerKillsReport;
    beforeAll(async () => {
      report = await runBrokerKills(options);
      const { problems, ...figures } = report;
      console.log(JSON.stringify({ ...options, ...figures, problems: problems.length }));
    }, timeoutMs);

    test('each message has exactly one Work Item, and further deliveries are counted', () => {
      expect(report.problems.slice(0, 10)).toEqual([]);
      expect(report.items).toBe(report.messages);
    });

    test('reading goes on within 15 s', () => {
      expect(report.longestPauseMs).toBeLessThan(15_000);
    });
  });
};
