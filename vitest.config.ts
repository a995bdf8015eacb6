import { existsSync, statfsSync } from 'node:fs';
import { defineConfig } from 'vitest/config';

const memory = '/dev/shm';
const gigabyte = 1024 ** 3;

/**
 * Temporary folders are in memory if it has room for them. On a disk, copying databases and syncing telemetry logs
 * takes a third of the run, and how long it takes varies. A killed process loses nothing in either place.
 */
const roomInMemory = (): boolean => {
  if (!existsSync(memory)) return false;
  const { bavail, bsize } = statfsSync(memory);
  return bavail * bsize > 4 * gigabyte;
};
if (roomInMemory()) process.env.TMPDIR ??= memory;

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'tests/**/*.test.ts'],
    exclude: ['**/node_modules/**', '**/*.long.test.ts'],
    globalSetup: ['tests/harness/global-setup.ts'],
    pool: 'forks',
    maxWorkers: 2,
    // Files share a process: what they import is loaded once and stays compiled, which halves their CPU time. A file
    // that changes something for the whole process takes it back at its end.
    isolate: false,
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});
