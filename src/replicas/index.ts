import type { Feature, Services } from '../feature.ts';
import type { LoopPass } from '../lib/loop.ts';
import { replicaAttention } from './attention.ts';
import { Heartbeat } from './heartbeat.ts';
import { deleteOldOutages, deleteOldReplicas, listRoles } from './store.ts';

export {
  allTakeInput,
  findScheduling,
  isAmongOldest,
  type ListedReplica,
  listOutages,
  listReplicas,
  type Outage,
  type OutageCause,
  type Scheduling,
  workerAlive,
} from './store.ts';

export interface Replicas extends Feature {
  /** The id of this one. */
  id: string;
  overview: { roles: typeof listRoles; attention: typeof replicaAttention };
}

interface Needs {
  /** All features: what their loops did is part of the heartbeat. Read when it beats. */
  features: readonly Feature[];
  schedules: { firing: { pass(): LoopPass } };
  telemetry: { readonly replicaId: string; readonly bytes: number };
}

/** Replicas: the heartbeat of this one, and the times at which none was scheduling. */
export const createReplicas = (
  { config, db, log, clock }: Services,
  { features, schedules, telemetry }: Needs,
): Replicas => {
  const heartbeat = new Heartbeat({
    db,
    log,
    clock,
    roles: [...config.roles],
    loops: () =>
      features
        .flatMap((feature) => feature.loops ?? [])
        .filter(({ role }) => !role || config.roles.has(role))
        .flatMap((loop) => loop.pass?.() ?? []),
    firing: () => (config.roles.has('scheduler') ? schedules.firing.pass() : null),
    telemetryLog: () => ({ id: telemetry.replicaId, bytes: telemetry.bytes }),
  });
  return {
    id: heartbeat.id,
    overview: { roles: listRoles, attention: replicaAttention },
    loops: [heartbeat],
    retention: [
      (tx, _settings, limit) => deleteOldReplicas(tx, limit),
      (tx, settings, limit) => deleteOldOutages(tx, settings.OCCURRENCE_RETENTION_DAYS, limit),
    ],
  };
};
