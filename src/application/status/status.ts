import type { findChainState } from '../../audit/index.ts';
import type { ListedReplica } from '../../replicas/index.ts';

/** The roles that a replica can have (ROLES). */
export const replicaRoles = ['api', 'scheduler', 'worker', 'delivery'] as const;

const newest = (times: readonly Date[]): Date | null =>
  times.length === 0 ? null : new Date(Math.max(...times.map((time) => time.getTime())));

/** Returns the number of live replicas of each role, and the time at which one was last seen. */
export const rolesOf = (replicas: readonly ListedReplica[]) =>
  replicaRoles.map((role) => {
    const having = replicas.filter(({ roles }) => roles.includes(role));
    return {
      role,
      alive: having.filter(({ state }) => state === 'alive').length,
      last_seen_at: newest(having.map(({ seen_at }) => seen_at)),
    };
  });

/** The bytes of all telemetry logs that replicas which are alive write. One that they share counts once. */
export const telemetryBytesOf = (replicas: readonly ListedReplica[]): number => {
  const logs = new Map<string, number>();
  for (const { state, telemetry_log_id: id, telemetry_log_bytes: bytes } of replicas) {
    if (state === 'alive' && id !== null) logs.set(id, Math.max(bytes ?? 0, logs.get(id) ?? 0));
  }
  return [...logs.values()].reduce((sum, bytes) => sum + bytes, 0);
};

/** A replica as the API shows it. The text of an error is for admins. */
export const toReplica = (
  { loops, telemetry_log_id: _, ...replica }: ListedReplica,
  errorsShown: boolean,
) => ({
  ...replica,
  roles: replicaRoles.filter((role) => replica.roles.includes(role)),
  loops: loops.map(({ name, idle_ms, error }) => ({
    name,
    last_pass_at: idle_ms === null ? null : new Date(replica.seen_at.getTime() - idle_ms),
    failing: error !== null,
    error: errorsShown ? error : null,
  })),
});

/** The chain of the audit log as the API shows it. */
export const toChain = ({ fault, ...state }: Awaited<ReturnType<typeof findChainState>>) => ({
  ...state,
  state: fault === null ? ('whole' as const) : ('broken' as const),
  fault: fault && { found_at: fault.found_at, position: fault.position, text: fault.fault },
});
