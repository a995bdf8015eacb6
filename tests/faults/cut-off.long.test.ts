import { expect, test } from 'vitest';
import { describeWithNats } from '../harness/nats.ts';
import { runCutOffs } from './scenarios/cut-off.ts';
import { size } from './scenarios/fixture.ts';
import { reportTotals } from './scenarios/totals.ts';

const rounds = size('FAULT_CUT_OFFS', 12);
const schedules = size('FAULT_SCHEDULES', 40);

describeWithNats('one replica of three is cut off in silence', () => {
  test(`${rounds} times, from the database with and without the log: nothing is missing, doubled or lost`, async () => {
    const kinds = Array.from({ length: rounds }, (_, n) => ({ log: n % 2 === 1, late: n % 4 < 2 }));
    const { verification, problems, ...figures } = await runCutOffs(kinds, schedules);
    reportTotals('cut off', verification, figures);
    expect(problems.slice(0, 10)).toEqual([]);
    expect(verification.problems.slice(0, 10)).toEqual([]);
  });
});
