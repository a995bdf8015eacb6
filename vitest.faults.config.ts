import { defineConfig } from 'vitest/config';

/** The long fault runs: minutes to hours, one file at a time, started by hand with `npm run test:faults`. */
export default defineConfig({
  test: {
    include: ['tests/**/*.long.test.ts'],
    globalSetup: ['tests/harness/global-setup.ts'],
    pool: 'forks',
    fileParallelism: false,
    testTimeout: 3_600_000,
    hookTimeout: 120_000,
  },
});
