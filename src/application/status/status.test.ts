import { expect, it } from 'vitest';
import type { ListedReplica } from '../../replicas/index.ts';
import { rolesOf, telemetryBytesOf } from './status.ts';

const replica = (fields: Partial<ListedReplica>): ListedReplica => ({
  id: '',
  name: 'a',
  roles: ['worker'],
  version: '1.0.0',
  started_at: new Date(0),
  seen_at: new Date(0),
  scheduling_at: null,
  stopped_at: null,
  clock_skew_ms: null,
  loops: [],
  telemetry_log_id: null,
  telemetry_log_bytes: null,
  state: 'alive',
  ...fields,
});

it('a role is alive while one replica that has it is, and was last seen with the newest of them', () => {
  const roles = rolesOf([
    replica({ roles: ['worker', 'api'], seen_at: new Date(3) }),
    replica({ seen_at: new Date(2), state: 'silent' }),
    replica({ roles: ['delivery'], seen_at: new Date(1), state: 'stopped' }),
  ]);
  expect(roles).toEqual([
    { role: 'api', alive: 1, last_seen_at: new Date(3) },
    { role: 'scheduler', alive: 0, last_seen_at: null },
    { role: 'worker', alive: 1, last_seen_at: new Date(3) },
    { role: 'delivery', alive: 0, last_seen_at: new Date(1) },
  ]);
});

it('a telemetry log that replicas share counts once, and that of a replica that is gone does not count', () => {
  const bytes = telemetryBytesOf([
    replica({ telemetry_log_id: 'shared', telemetry_log_bytes: 10 }),
    replica({ telemetry_log_id: 'shared', telemetry_log_bytes: 12 }),
    replica({ telemetry_log_id: 'own', telemetry_log_bytes: 100 }),
    replica({ telemetry_log_id: 'gone', telemetry_log_bytes: 1_000, state: 'stopped' }),
    replica({}),
  ]);
  expect(bytes).toBe(112);
});
