import type { Accounts } from '../charges/index.ts';
import type { DataFrames } from '../data-frames/index.ts';
import type { AgentDocuments } from '../document-intelligence/index.ts';
import type { Feature, Services } from '../feature.ts';
import type { Files } from '../files/index.ts';
import type { LlmConfigurations } from '../llm-configurations/index.ts';
import type { RunRow } from '../runs/index.ts';
import type { ModelTools } from '../semantic-data-models/index.ts';
import type { Tracing } from '../telemetry/index.ts';
import type { ToolServerTools } from '../tool-servers/index.ts';
import type { WorkItem } from '../work-items/index.ts';
import { dataTools } from './data-tools.ts';
import { documentTools } from './document-tools.ts';
import { openTools } from './server-tools.ts';
import { builtInTools } from './tools.ts';
import { workItemSource } from './work-item-source.ts';
import { createWorker, type Worker, type WorkSource } from './worker.ts';

export { runtimeCalls } from './calls.ts';
export type { Candidate } from './fallback.ts';
export { RunEnded } from './lease.ts';
export type { Message, ProviderParts } from './messages.ts';
export { createModels } from './models.ts';
export { submitResultName } from './result.ts';
export type { AttemptOutcome, Run, RunStart } from './run-store.ts';
export { ModelError } from './step.ts';
export type { OpenedTools } from './tools.ts';
export type { WorkSource } from './worker.ts';

interface RuntimeNeeds {
  accounts: Accounts;
  llms: Pick<LlmConfigurations, 'resolve'>;
  telemetry: {
    tracing: Tracing;
    /** Resolves when ended spans are durable. */
    flush(): Promise<void>;
  };
  /** The tools of tool servers. */
  toolServers: ToolServerTools;
  /** The tools of semantic data models. */
  modelTools: ModelTools;
  files: Pick<Files, 'bytes'>;
  dataFrames: Pick<DataFrames, 'forAgents'>;
  documents: AgentDocuments;
  /** A run ended with this status of its Work Item. */
  onFinished(status: WorkItem['status']): void;
}

export interface Runtime extends Feature {
  /** Makes the worker of this replica for another kind of run. Its feature listens, starts and stops it. */
  workerOf<Row extends RunRow>(source: WorkSource<Row>): Worker;
  /** The tools of an agent; with `discover: false`, of what is in the database. */
  openTools: ReturnType<typeof openTools>;
}

/** The agent runtime: a worker on each replica with the role `worker`. */
export const createRuntime = (
  services: Services,
  {
    accounts,
    llms,
    telemetry,
    toolServers,
    modelTools,
    files,
    dataFrames,
    documents,
    onFinished,
  }: RuntimeNeeds,
): Runtime => {
  const { db, egress, log, settings } = services;
  const deps = {
    db,
    egress,
    accounts,
    log,
    settings,
    llms,
    tracing: telemetry.tracing,
    flush: () => telemetry.flush(),
    openTools: openTools(toolServers, { modelTools, frames: dataFrames.forAgents }, [
      ...builtInTools,
      ...dataTools({ db, frames: dataFrames.forAgents }),
      ...documentTools({ db, bytes: files.bytes, documents }),
    ]),
  };
  const worker = createWorker(deps, workItemSource(services, onFinished));
  return {
    start: async () => worker.listen(),
    loops: [{ role: 'worker', start: worker.start, stop: worker.stop, pass: worker.pass }],
    workerOf: (source) => createWorker(deps, source),
    openTools: deps.openTools,
  };
};
