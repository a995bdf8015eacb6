import type { Agents } from '../agents/index.ts';
import type { Executor, Tx } from '../database/index.ts';
import { everything } from '../database/index.ts';
import type { Feature, Services } from '../feature.ts';
import { type Files, waitingFolder } from '../files/index.ts';
import type { Actor } from '../lib/principal.ts';
import type { LlmConfigurations } from '../llm-configurations/index.ts';
import { createFromRun } from './cases/from-run.ts';
import type { SecretOwners } from './cases/redaction.ts';
import { caseRoutes } from './cases/routes.ts';
import { deleteUnusedContents, findCaseContent, repliesColumn } from './cases/store.ts';
import {
  type CheckDatasetUnused,
  createDataset,
  deleteDataset,
  lockDataset,
  lockDatasetToUpdate,
  updateDataset,
} from './datasets/datasets.ts';
import { datasetRoutes } from './datasets/routes.ts';
import { type Dataset, type DatasetChanges, listDatasets, type NewDataset } from './datasets/store.ts';
import { exchangeRoutes } from './exchange/routes.ts';
import { checkDatasetIdle, createExperiments, type ExperimentNeeds } from './experiments/index.ts';

import { gatekeeper } from './gate/gatekeeper.ts';
import { checkLoop } from './gate/loop.ts';

export { form as datasetForm } from './datasets/routes.ts';
export { keepTrial } from './experiments/index.ts';

export interface EvaluationNeeds extends SecretOwners, Omit<ExperimentNeeds, 'readCase'> {
  files: Pick<Files, 'bytes'>;
  llms: LlmConfigurations;
  agents: Pick<Agents, 'gates'>;
}

export interface Evaluation extends Feature {
  list(executor: Executor): Promise<Dataset[]>;
  /** `leaving`: how many the transaction deletes afterwards. */
  create(tx: Tx, actor: Actor, values: NewDataset, leaving: number): Promise<Dataset>;
  update(tx: Tx, actor: Actor, id: string, changes: DatasetChanges): Promise<Dataset>;
  /** Its cases and experiments are deleted as well. Throws 412 while something needs it. */
  delete(tx: Tx, actor: Actor, id: string): Promise<void>;
}

/** Evaluation: datasets of cases, experiments that run agents on them, and what scores them. */
export const createEvaluation = (
  services: Services,
  { agents, files, runtime, dataFrames, tracing, ...secretOwners }: EvaluationNeeds,
): Evaluation => {
  const { db, log, vault, config } = services;
  const { gates } = agents;
  const checks: readonly CheckDatasetUnused[] = [gates.checkDatasetUnused, checkDatasetIdle];
  gates.keptBy(gatekeeper);
  const gateLoop = checkLoop({ db, log, gates });
  const experiments = createExperiments(services, {
    runtime,
    llms: secretOwners.llms,
    files,
    dataFrames,
    tracing,
    readCase: (executor, id, revision) => findCaseContent(executor, vault, id, revision),
  });
  const fromRun = createFromRun({
    db,
    vault,
    bytes: files.bytes,
    folder: waitingFolder(config.dataDir),
    secretOwners,
  });
  return {
    tag: { name: 'Evaluation', description: 'Datasets of cases, and experiments that run agents on them.' },
    ...experiments,
    routes: [
      ...datasetRoutes(db, { checks }),
      ...exchangeRoutes({ db, vault }),
      ...caseRoutes({ db, vault, fromRun }),
      ...experiments.routes,
    ],
    start: async () => {
      await experiments.start();
      gateLoop.listen();
    },
    loops: [...experiments.loops, gateLoop],
    secrets: [repliesColumn],
    retention: [...experiments.retention, (tx, _settings, limit) => deleteUnusedContents(tx, limit)],
    list: (executor) => listDatasets(executor, everything),
    create: createDataset,
    update: async (tx, actor, id, changes) =>
      updateDataset(tx, actor, await lockDatasetToUpdate(tx, id, changes), changes),
    delete: async (tx, actor, id) => deleteDataset(tx, actor, checks, await lockDataset(tx, id)),
  };
};
