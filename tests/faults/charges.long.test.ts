import { expect, test } from 'vitest';
import { runCharges } from './scenarios/charges.ts';
import { size } from './scenarios/fixture.ts';

test('many calls and faults: each reply is charged once, all sums agree, and only calls in flight are lost', async () => {
  const { problems, ...report } = await runCharges(
    size('FAULT_CALLS', 5_000),
    size('FAULT_CHARGE_FAULTS', 12),
  );
  console.log(JSON.stringify(report));
  expect(problems).toEqual([]);
}, 14_400_000);
