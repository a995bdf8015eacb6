import type { Feature, Services } from '../feature.ts';
import { counter } from '../lib/metrics.ts';
import type { LlmConfigurations } from '../llm-configurations/index.ts';
import type { Tracing } from '../telemetry/index.ts';
import { builtInTools } from './tools.ts';
import { createWorker } from './worker.ts';

export { createProbe } from './probe.ts';

export interface RuntimeNeeds {
  llms: Pick<LlmConfigurations, 'resolve'>;
  telemetry: {
    tracing: Tracing;
    /** Resolves when ended spans are durable. */
    flush(): Promise<void>;
  };
}

/** The agent runtime: a worker on each replica with the role `worker`. */
export const createRuntime = (services: Services, { llms, telemetry }: RuntimeNeeds): Feature => {
  const finished = counter(
    'agent_platform_work_items_finished_total',
    'Runs of Work Items that ended on this replica, by the status that they left the Work Item in',
    ['status'],
  );
  // A series that appears with 1 shows no increase to an alert: those that are watched begin at 0.
  for (const status of ['COMPLETED', 'NEEDS_REVIEW', 'INDETERMINATE', 'ERROR', 'CANCELLED']) {
    finished.inc({ status }, 0);
  }
  const { db, egress, log, settings } = services;
  const worker = createWorker({
    db,
    egress,
    log,
    settings,
    llms,
    tracing: telemetry.tracing,
    flush: () => telemetry.flush(),
    toolsOf: async () => builtInTools,
    onFinished: (status) => finished.inc({ status }),
  });
  return {
    metrics: [finished],
    start: async () => worker.listen(),
    loops: [{ role: 'worker', start: worker.start, stop: worker.stop }],
  };
};
