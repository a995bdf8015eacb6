import { expect, test } from 'vitest';
import { size } from './scenarios/fixture.ts';
import { runSoak, type SoakOptions } from './scenarios/soak/soak.ts';
import { reportTotals } from './scenarios/totals.ts';

const minutes = size('FAULT_SOAK_MINUTES', 240);
const schedules = size('FAULT_SOAK_SCHEDULES', 60);
const pauseMs = size('FAULT_SOAK_PAUSE_MS', 3_000);
const seed = size('FAULT_SEED', Date.now() % 1_000_000);

const runs: Pick<SoakOptions, 'database' | 'replicas' | 'minutes'>[] = [
  { database: 'postgres', replicas: 3, minutes: minutes * 0.8 },
  { database: 'embedded', replicas: 1, minutes: minutes * 0.2 },
];

test.each(runs)(
  '$minutes minutes of everything on $database with $replicas replica(s): nothing is lost, and nothing grows',
  async (run) => {
    const options = { ...run, schedules, pauseMs, seed };
    console.log(`the seed is ${seed}`);
    const { verification, problems, ...numbers } = await runSoak(options);
    reportTotals(`soak, ${run.database}`, verification, {
      ...options,
      ...numbers,
      problems: problems.slice(0, 20),
    });
    expect(verification.problems.slice(0, 10)).toEqual([]);
    expect(problems.slice(0, 20)).toEqual([]);
    expect(verification.fired).toBeGreaterThan((schedules * run.minutes) / 4);
  },
  (minutes + 30) * 60_000,
);
