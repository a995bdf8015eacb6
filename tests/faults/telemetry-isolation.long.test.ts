import { expect, test } from 'vitest';
import { size } from './scenarios/fixture.ts';
import { describeIsolation } from './scenarios/telemetry-isolation.describe.ts';
import { measureIsolation } from './scenarios/telemetry-isolation.ts';

const requests = size('FAULT_ISOLATION_REQUESTS', 400);
const rounds = size('FAULT_ISOLATION_ROUNDS', 7);

describeIsolation(requests, 300_000);

const median = (values: number[]): number => values.sort((a, b) => a - b)[Math.floor(values.length / 2)]!;

test('the healthy one keeps its throughput among the bad ones (measured)', async () => {
  const pairs = await measureIsolation(rounds, requests);
  const kept = median(pairs.map(({ alone, among }) => among.spansASecond / alone.spansASecond));
  const cpu = (of: 'alone' | 'among') => median(pairs.map((pair) => pair[of].cpuASpan)).toFixed(1);
  const speed = (of: 'alone' | 'among') => Math.round(median(pairs.map((pair) => pair[of].spansASecond)));
  console.log(
    `among bad backends ${speed('among')} spans/s, without ${speed('alone')}: the median of ${rounds} pairs keeps ` +
      `${(kept * 100).toFixed(1)} %; ${cpu('among')} and ${cpu('alone')} µs of CPU a span`,
  );
  expect(pairs).toHaveLength(rounds);
});
