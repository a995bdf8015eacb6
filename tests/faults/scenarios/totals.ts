import { appendFileSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inject } from 'vitest';
import type { TestProject } from 'vitest/node';
import type { Account } from './verifier.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** Where the scenarios of a long run leave their figures, a line each; undefined in a short one. */
    faultTotals?: string;
  }
}

const counted = ['occurrences', 'fired', 'caughtUp', 'skipped', 'missing', 'doubled'] as const;
type Figures = Record<(typeof counted)[number] | 'kills', number>;

/** Prints the figures of one scenario in a line, and adds them to those of the whole run. */
export const tell = (scenario: string, account: Account, more: Record<string, unknown>): void => {
  const figures = Object.fromEntries(counted.map((name) => [name, account[name]]));
  const line = JSON.stringify({ scenario, ...figures, problems: account.problems.length, ...more });
  console.log(line);
  const file = inject('faultTotals');
  if (file) appendFileSync(file, `${line}\n`);
};

/** Around a whole long run: prints at its end what its scenarios add up to. */
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
