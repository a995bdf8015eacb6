import { SpanStatusCode } from '@opentelemetry/api';
import type { Feature, Services } from './feature.ts';
import { counter } from './lib/metrics.ts';
import type { LlmConfigurations } from './llm-configurations/index.ts';
import type { Observability } from './observability/index.ts';
import { createRuntime as createWorker } from './runtime/index.ts';
import type { Telemetry } from './telemetry/index.ts';
import { workItemTraceRoute } from './work-item-trace.ts';
import { retainWorkItems, workItemRoutes } from './work-items/index.ts';

export const createWorkItems = (
  { db }: Services,
  { traceLinks }: { traceLinks: Observability['traceLinks'] },
): Feature => ({
  tag: { name: 'Work Items', description: 'What a Worker agent has to do, is doing or has done.' },
  routes: [...workItemRoutes(db), workItemTraceRoute(db, traceLinks)],
  retention: [(tx, settings, limit) => retainWorkItems(tx, settings.WORK_ITEM_RETENTION_DAYS, limit)],
});

export const createRuntime = (
  services: Services,
  { llms, telemetry }: { llms: LlmConfigurations; telemetry: Telemetry },
): Feature => {
  const finished = counter(
    'agent_platform_work_items_finished_total',
    'Runs of Work Items that ended on this replica, by the status that they left the Work Item in',
    ['status'],
  );
  for (const status of ['COMPLETED', 'NEEDS_REVIEW', 'INDETERMINATE', 'ERROR', 'CANCELLED'])
    finished.inc({ status }, 0);
  const worker = createWorker({
    ...services,
    llms,
    tracing: telemetry.tracing,
    flush: () => telemetry.flush(),
    onFinished: (status) => finished.inc({ status }),
  });
  return {
    metrics: [finished],
    loops: [{ role: 'worker', start: () => worker.start(), stop: () => worker.stop() }],
  };
};
void SpanStatusCode;
