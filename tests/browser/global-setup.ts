import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import type { TestProject } from 'vitest/node';
import { findProgram } from '../harness/programs.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** The address of the one Chromium of the test run; null if the machine has none. */
    chromium: string | null;
  }
}

const root = join(import.meta.dirname, '..', '..');

/** Builds the application unless it is current. Vitest's own NODE_ENV would make React's slower build. */
const buildConsole = (): void => {
  const { NODE_ENV: _, ...env } = process.env;
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(root, 'tools', 'console.ts')], {
    env,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`The application does not build.\n${stdout}${stderr}`);
};

/** The application as it is now, and one Chromium for all files: a new one takes a second, a context in it 50 ms. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  buildConsole();
  const executablePath = findProgram('chromium');
  if (!executablePath) {
    project.provide('chromium', null);
    return async () => {};
  }
  // Chromium has no sandbox for root, as whom containers run tests.
  const args = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  const server = await chromium.launchServer({ executablePath, args });
  project.provide('chromium', server.wsEndpoint());
  return () => server.close();
}
