import { defineConfig } from 'vitest/config';

/**
 * The long fault runs: minutes to hours, one file at a time, started by hand with `npm run test:faults`. The runs of
 * schedules print their totals, one line each; the last line is the sum. The environment sets the sizes (defaults in
 * parentheses).
 *
 * Schedules:
 * - FAULT_KILLS (40, for each kind of deployment), FAULT_SCHEDULES (80), FAULT_SEED (from the clock; printed)
 * - FAULT_FLEET_SCHEDULES (1,500), FAULT_FLEET_MOVES (60, of the clock), FAULT_FLEET_KILLS (30): for 16 replicas and for 8
 * - FAULT_STOP_SECONDS (60), FAULT_EDITED_SCHEDULES (12, of each kind), FAULT_EDITED_INSTANTS (60),
 *   FAULT_BOUNDARY_ROUNDS (2), FAULT_LEASE_FAULTS (20), FAULT_LEASE_ITEMS (12), FAULT_EXTERNAL_KILLS (40),
 *   FAULT_EXTERNAL_ITEMS (60), FAULT_DATABASE_RESTARTS (10), FAULT_FAIL_OVERS (40),
 *   FAULT_CUT_OFFS (12: one replica of three is cut off for longer than its leases)
 *
 * Triggers that read a broker, which dies like the replicas:
 * - FAULT_BROKER_KILLS (50, for each kind of broker), FAULT_SEED
 *
 * Webhooks of triggers:
 * - FAULT_EVENTS (100,000, each delivered one to five times), FAULT_EVENT_KILLS (30)
 *
 * Money:
 * - FAULT_BUDGET_ROUNDS (1,000)
 * - FAULT_CALLS (5,000), FAULT_CHARGE_FAULTS (12: a replica is killed, or stands still for longer than its lease)
 *
 * Telemetry:
 * - FAULT_TELEMETRY_KILLS (200), FAULT_TELEMETRY_SPANS (1,000,000), FAULT_STORE_KILLS (200; a quarter on the embedded database)
 * - FAULT_ISOLATION_REQUESTS (400, of 500 spans), FAULT_ISOLATION_ROUNDS (7), FAULT_OUTAGE_MEGABYTES (1,500),
 *   FAULT_SHARED_LOG_ROUNDS (30), FAULT_CLUSTER_KILLS (20),
 *   FAULT_CLUSTER_MOMENTS (4: the server that leads the stream dies while spans expire, and while a replica starts)
 *
 * The soak, everything at once at a low load (less than half a core) and under faults; four fifths of the time on
 * PostgreSQL with three replicas, the rest on the embedded database:
 * - FAULT_SOAK_MINUTES (240), FAULT_SOAK_SCHEDULES (60), FAULT_SOAK_PAUSE_MS (3,000: of a client between two Work Items)
 *
 * The oracles of occurrences go through every time zone. The tests of the API's contract and of the features run on both
 * databases, and every operation meets every scope. The
 * official conformance suites of the Model Context Protocol run, builds of the application, and the commands of the
 * README and the first hours.
 */
export default defineConfig({
  test: {
    include: [
      'tests/**/*.long.test.ts',
      'tests/contract/**/*.test.ts',
      'tests/processes/**/*.test.ts',
      'src/**/*.test.ts',
      'packages/cron/src/occurrences.oracle.test.ts',
    ],
    env: { CRON_ORACLE: 'long', EVERY_DATABASE: 'true', EVERY_PERMISSION: 'true', FAULT_AUDIT_KILLS: '8' },
    globalSetup: ['tests/harness/global-setup.ts', 'tests/faults/scenarios/totals.ts'],
    reporters: ['default', './tests/harness/skipped-reporter.ts'],
    pool: 'forks',
    fileParallelism: false,
    testTimeout: 3_600_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000 } },
  },
});
