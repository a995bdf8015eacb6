import { z } from 'zod';
import { findChainState } from '../../audit/index.ts';
import type { Database } from '../../database/index.ts';
import { id, jsonRoute, type Route, timestamp } from '../../http/index.ts';
import { mayCall } from '../../lib/principal.ts';
import { version } from '../../lib/version.ts';
import { findScheduling, listReplicas } from '../../replicas/index.ts';
import type { CurrentSettings } from '../../settings/index.ts';
import { replicaRoles, rolesOf, telemetryBytesOf, toChain, toReplica } from './status.ts';
import { findDatabaseFacts } from './store.ts';

/** A replica that restarts again and again makes a row each time. */
const mostReplicas = 200;

const role = z.enum(replicaRoles);

const replica = z
  .object({
    id: id.describe('A new one at each start.'),
    name: z.string().describe('The name of the machine.'),
    roles: z.array(role),
    version: z.string(),
    state: z
      .enum(['alive', 'silent', 'stopped'])
      .describe(
        '`silent`: it was not seen for 15 s. It ended without a stop, or does not reach the database.',
      ),
    started_at: timestamp,
    seen_at: timestamp.describe('Its last heartbeat.'),
    scheduling_at: timestamp.nullable().describe('When it was last scheduling; null if it never was.'),
    stopped_at: timestamp.nullable(),
    clock_skew_ms: z
      .int()
      .nullable()
      .describe('Its clock minus that of the database; null before its second heartbeat.'),
    telemetry_log_bytes: z.int().nullable(),
    loops: z.array(
      z
        .object({
          name: z.string(),
          last_pass_at: timestamp.nullable().describe('When its last pass ended; null before the first has.'),
          failing: z.boolean().describe('Whether its last pass failed.'),
          error: z.string().nullable().describe('Why. Admins only.'),
        })
        .meta({ id: 'LoopStatus' }),
    ),
  })
  .meta({ id: 'ReplicaStatus' });

const auditChain = z
  .object({
    state: z
      .enum(['whole', 'broken'])
      .describe('`broken`: a verification found a fault. `whole`: none is known.'),
    first_position: z.int().nullable(),
    last_position: z.int().nullable(),
    unchained: z.int().describe('The number of entries that are not in the chain yet.'),
    checkpoint: z
      .object({ position: z.int(), at: timestamp })
      .nullable()
      .describe('The newest checkpoint; null before the first.'),
    fault: z
      .object({
        found_at: timestamp,
        position: z.int().nullable().describe('The first position that does not match, if any.'),
        text: z.string(),
      })
      .nullable(),
  })
  .meta({ id: 'AuditChainStatus' });

const status = z
  .object({
    now: timestamp.describe('The time of the database, which decides what is due.'),
    version: z.string().describe('The version of the replica that responded.'),
    replicas: z
      .array(replica)
      .describe('Those that were seen last first, at most 200. They are kept for a week.'),
    roles: z
      .array(
        z
          .object({
            role,
            alive: z.int().describe('How many replicas with the role are alive.'),
            last_seen_at: timestamp.nullable().describe('When one was last seen; null if none is known.'),
          })
          .meta({ id: 'RoleStatus' }),
      )
      .describe('One for each role.'),
    scheduling: z
      .object({
        alive: z.boolean().describe('Whether a replica is scheduling. False: no schedule fires.'),
        last_at: timestamp.nullable().describe('When one last was; null if none is known.'),
      })
      .meta({ id: 'SchedulingStatus' }),
    database: z
      .object({
        kind: z.enum(['embedded', 'postgres']),
        version: z.string().describe('The version of PostgreSQL.'),
        size_bytes: z.int(),
      })
      .meta({ id: 'DatabaseStatus' }),
    telemetry_log: z
      .object({
        kind: z
          .enum(['files', 'shared'])
          .describe('`files`: each replica has its own. `shared`: one for all (TELEMETRY_LOG_URL).'),
        size_bytes: z.int().describe('Of all replicas that are alive.'),
        retention_hours: z.int(),
        retention_mb: z.int().describe('Of one log.'),
      })
      .meta({ id: 'TelemetryLogStatus' }),
    audit: auditChain.nullable().describe('Null for callers that may not read the audit log.'),
  })
  .meta({ id: 'Status' });

interface StatusParts {
  db: Database;
  settings: CurrentSettings;
  /** True if all replicas share one telemetry log. */
  sharedLog: boolean;
}

export const statusRoutes = ({ db, settings, sharedLog }: StatusParts): Route[] => [
  jsonRoute({
    id: 'getStatus',
    role: 'member',
    scope: 'observability:read',
    base: 'app',
    request: 'GET /status',
    summary: 'Get the status of the platform',
    description:
      'The replicas by their last heartbeats, the database, the telemetry log and the chain of the audit log.',
    response: status,
    handler: async ({ principal }) => {
      const { TELEMETRY_RETENTION_HOURS, TELEMETRY_RETENTION_MB } = settings.get();
      const facts = await db.run(findDatabaseFacts);
      const replicas = await db.run((executor) => listReplicas(executor, mostReplicas));
      const { alive, last_at } = await db.run(findScheduling);
      return {
        now: facts.now,
        version,
        replicas: replicas.map((one) => toReplica(one, principal.role === 'admin')),
        roles: rolesOf(replicas),
        scheduling: { alive, last_at },
        database: { kind: db.kind, version: facts.version, size_bytes: facts.size_bytes },
        telemetry_log: {
          kind: sharedLog ? ('shared' as const) : ('files' as const),
          size_bytes: telemetryBytesOf(replicas),
          retention_hours: TELEMETRY_RETENTION_HOURS,
          retention_mb: TELEMETRY_RETENTION_MB,
        },
        audit: mayCall(principal, 'admin', 'audit:read') ? toChain(await db.run(findChainState)) : null,
      };
    },
  }),
];
