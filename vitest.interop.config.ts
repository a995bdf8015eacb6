import { defineConfig } from 'vitest/config';

/**
 * The platform with the real products that docs/recipes name, and with real SDKs and Collectors: `npm run test:interop`.
 * `tests/interop/install.sh` installs the products; those that are absent are skipped, with the reason in their names.
 */
export default defineConfig({
  test: {
    include: ['tests/interop/*.interop.ts', 'tests/telemetry/interop-*.test.ts'],
    globalSetup: ['tests/harness/global-setup.ts'],
    pool: 'forks',
    fileParallelism: false,
    // A Java server starts within minutes on a busy machine.
    testTimeout: 120_000,
    hookTimeout: 600_000,
    expect: { poll: { timeout: 30_000 } },
  },
});
