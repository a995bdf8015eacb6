import { accessSync, constants, readdirSync, readFileSync, statfsSync } from 'node:fs';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

const memory = '/dev/shm';
const gigabyte = 1024 ** 3;

/**
 * Temporary folders are in memory if it may be written and has room for them. On a disk, copying databases and syncing telemetry logs
 * takes a third of the run, and how long it takes varies. A killed process loses nothing in either place.
 */
const roomInMemory = (): boolean => {
  try {
    accessSync(memory, constants.W_OK);
  } catch {
    return false;
  }
  const { bavail, bsize } = statfsSync(memory);
  return bavail * bsize > 4 * gigabyte;
};
if (roomInMemory()) process.env.TMPDIR ??= memory;

/**
 * The tests that start platforms, commands and servers as processes, kill them, install or compile, or run many jobs of
 * the sandbox: a platform takes three seconds of CPU until it is ready, a job half a second. `npm test` does without them.
 */
const processes = [
  'tests/{clients,faults,harness,processes,start-up,telemetry,upgrade}/**/*.test.ts',
  'tests/contract/{data-frames,document-tools,documents,model-frames}.test.ts',
  'src/sandbox/*.test.ts',
  'src/data-connections/engines/sqlite.test.ts',
  'src/tool-servers/local-process.test.ts',
];

/** Files that take more than about eight seconds of CPU time. `npm test` does without them. */
const long = [
  'src/{audit/verify,workspace/round-trip}.test.ts',
  'tests/contract/{access,agent-gate,agent-versions,alerts-in-channels,audits,budget-actions}.test.ts',
  'tests/contract/{budget-waits,channels-slack}.test.ts',
  'tests/contract/{cases,console,conversation-streams}.test.ts',
  'tests/contract/{experiments,external-workers,lists,tool-protocol-work-items}.test.ts',
  'tests/contract/{requests,semantic-data-models,sessions,unknown-ids,workspace,workspace-rules}.test.ts',
  'tests/contract/{sign-in-flow,tool-servers,wrong-bodies}.test.ts',
];

/** Files that read SMALL_SAMPLES: `npm test` runs a part of what they have. */
const sampled = [
  'packages/cron/src/occurrences.oracle.test.ts',
  'src/runtime/model/model.test.ts',
  'tests/contract/{openapi,permissions}.test.ts',
];

const isOnBoth = (file: string): boolean =>
  /\b(eachDatabase|onEachDatabase|testedDatabases)\b/.test(
    readFileSync(join(import.meta.dirname, file), 'utf8'),
  );

/** Files with tests of both databases: `npm test` runs these on PostgreSQL. */
const onBoth = ['src', 'tests/contract'].flatMap((folder) =>
  readdirSync(join(import.meta.dirname, folder), { recursive: true, encoding: 'utf8' })
    .map((file) => join(folder, file))
    .filter((file) => file.endsWith('.test.ts') && isOnBoth(file)),
);

const never = ['**/node_modules/**', '**/*.long.test.ts'];

const everywhere = {
  pool: 'forks',
  // Files share a process: what they import is loaded once and stays compiled, which halves their CPU time. A file
  // that changes something for the whole process takes it back at its end.
  isolate: false,
  // Far more than any test takes, for machines that others use too.
  testTimeout: 180_000,
  hookTimeout: 180_000,
  expect: { poll: { timeout: 60_000 } },
} as const;

export default defineConfig({
  test: {
    globalSetup: ['tests/harness/global-setup.ts'],
    reporters: ['default', './tests/harness/skipped-reporter.ts'],
    projects: [
      {
        test: {
          ...everywhere,
          name: 'platform',
          include: [
            'src/**/*.test.ts',
            'packages/*/src/**/*.test.ts',
            'console/src/**/*.test.ts',
            'tests/**/*.test.ts',
          ],
          exclude: [...never, ...processes, ...long, 'tests/browser/**'],
          env: { TEST_DATABASE: 'postgres', SMALL_SAMPLES: 'true' },
          // The database is a process of its own, and a test often waits for it.
          maxWorkers: 4,
        },
      },
      {
        test: {
          ...everywhere,
          name: 'processes',
          include: processes,
          exclude: never,
          // A test often waits for the processes that it starts.
          maxWorkers: 4,
        },
      },
      {
        test: {
          ...everywhere,
          name: 'wide',
          include: [...long, ...sampled],
          exclude: never,
          maxWorkers: 4,
        },
      },
      {
        test: {
          ...everywhere,
          name: 'embedded',
          include: onBoth,
          exclude: [...never, ...processes, ...long],
          env: { TEST_DATABASE: 'embedded', SMALL_SAMPLES: 'true' },
          maxWorkers: 4,
        },
      },
      {
        test: {
          ...everywhere,
          name: 'browser',
          include: ['tests/browser/**/*.test.ts'],
          globalSetup: ['tests/browser/global-setup.ts'],
          // After the others and two at a time: Chromium has processes of its own.
          maxWorkers: 2,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
