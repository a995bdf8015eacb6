import type { Feature, Services } from '../feature.ts';
import type { LoopPass } from '../lib/loop.ts';
import { Heartbeat } from './heartbeat.ts';
import { deleteOldOutages, deleteOldReplicas } from './store.ts';

export {
  findScheduling,
  type ListedReplica,
  listOutages,
  listReplicas,
  type Outage,
  type OutageCause,
  type Scheduling,
  silentAfterMs,
} from './store.ts';

interface Needs {
  /** What the loops of this replica last did. */
  loops: () => readonly LoopPass[];
  /** What the firing loop last did, on a replica that runs it. */
  firing: () => LoopPass;
  /** The telemetry log of this replica. */
  telemetryLog: () => { id: string; bytes: number };
}

/** Who runs: the heartbeat of this replica, and when no replica was scheduling. */
export const createReplicas = (
  { config, db, log, clock }: Services,
  { loops, firing, telemetryLog }: Needs,
): Feature => {
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
    loops: [heartbeat],
    retention: [
      (tx, _settings, limit) => deleteOldReplicas(tx, limit),
      (tx, settings, limit) => deleteOldOutages(tx, settings.OCCURRENCE_RETENTION_DAYS, limit),
    ],
  };
};
