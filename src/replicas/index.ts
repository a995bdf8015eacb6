import type { Feature, Services } from '../feature.ts';
import type { LoopPass } from '../lib/loop.ts';
import { replicaAttention } from './attention.ts';
import { Heartbeat } from './heartbeat.ts';
import { deleteOldOutages, deleteOldReplicas, listRoles } from './store.ts';

export {
  findScheduling,
  type ListedReplica,
  listOutages,
  listReplicas,
  type Outage,
  type OutageCause,
  type Scheduling,
  workerAlive,
} from './store.ts';

export interface Replicas extends Feature {
  overview: { roles: typeof listRoles; attention: typeof replicaAttention };
}

interface Needs {
  /** Returns the last passes of the loops of this replica. */
  loops: () => readonly LoopPass[];
  /** Returns the last pass of the firing loop, on a replica that runs it. */
  firing: () => LoopPass;
  /** The telemetry log of this replica. */
  telemetryLog: () => { id: string; bytes: number };
}

/** Replicas: the heartbeat of this one, and the times at which none was scheduling. */
export const createReplicas = (
  { config, db, log, clock }: Services,
  { loops, firing, telemetryLog }: Needs,
): Replicas => {
  const heartbeat = new Heartbeat({
    db,
    log,
    clock,
    roles: [...config.roles],
    loops,
    firing: () => (config.roles.has('scheduler') ? firing() : null),
    telemetryLog,
  });
  return {
    overview: { roles: listRoles, attention: replicaAttention },
    loops: [heartbeat],
    retention: [
      (tx, _settings, limit) => deleteOldReplicas(tx, limit),
      (tx, settings, limit) => deleteOldOutages(tx, settings.OCCURRENCE_RETENTION_DAYS, limit),
    ],
  };
};
