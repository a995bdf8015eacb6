import { appendFileSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inject } from 'vitest';
import type { TestProject } from 'vitest/node';
import type { Verification } from './verifier.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** The file to which the scenarios of a long run append their figures, one per line; undefined in a short run. */
    faultTotals?: string;
  }
}

const counted = ['occurrences', 'fired', 'caughtUp', 'skipped', 'missing', 'doubled'] as const;
type Figures = Record<(typeof counted)[number] | 'kills', number>;

/** Prints the figures of one scenario on one line, and adds them to those of the whole run. */
export const reportTotals = (
  scenario: string,
  verification: Verification,
  more: Record<string, unknown>,
): void => {
  const figures = Object.fromEntries(counted.map((name) => [name, verification[name]]));
  const line = JSON.stringify({ scenario, ...figures, problems: verification.problems.length, ...more });
  console.log(line);
  const file = inject('faultTotals');
  if (file) appendFileSync(file, `${line}\n`);
};

/** The setup of a whole long run: at its end prints the totals of its scenarios. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), 'ap-fault-totals-'));
  const file = join(folder, 'totals');
  project.provide('faultTotals', file);
  return async () => {
    const text = await readFile(file, 'utf8').catch(() => '');
    const lines = text.split('\n').filter((line) => line !== '');
    const total: Figures = {
      kills: 0,
      occurrences: 0,
      fired: 0,
      caughtUp: 0,
      skipped: 0,
      missing: 0,
      doubled: 0,
    };
    for (const line of lines) {
      const figures = JSON.parse(line) as Partial<Figures>;
      for (const name of Object.keys(total) as (keyof Figures)[]) total[name] += figures[name] ?? 0;
    }
    if (lines.length > 0) console.log(JSON.stringify({ scenario: `all ${lines.length}`, ...total }));
    await rm(folder, { recursive: true });
  };
}
