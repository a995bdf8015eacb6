import { expect, test } from 'vitest';
import { runGates } from './scenarios/gates.ts';

test('checks and publishes whose replicas are killed end once, and pointer and ledger agree', async () => {
  const { problems, interrupted } = await runGates(2);
  expect(problems).toEqual([]);
  expect(interrupted).toBeGreaterThan(0);
}, 400_000);
