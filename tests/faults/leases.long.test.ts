import { expect, test } from 'vitest';
import { size } from './scenarios/fixture.ts';
import { type Fault, runLeases } from './scenarios/leases.ts';

const faults = size('FAULT_LEASE_FAULTS', 20);
const items = size('FAULT_LEASE_ITEMS', 12);

test(`${faults} replicas killed or stopped past their leases, ${items} new items each: every item is completed once`, async () => {
  const kinds = Array.from({ length: faults }, (_, i): Fault => (i % 3 === 0 ? 'SIGSTOP' : 'SIGKILL'));
  const { problems, ...numbers } = await runLeases(kinds, items);
  console.log(JSON.stringify(numbers));
  expect(problems.slice(0, 10)).toEqual([]);
});
