import type { Executor, Tx } from '../database/index.ts';
import { everything } from '../database/index.ts';
import type { Feature, Services } from '../feature.ts';
import { type Files, waitingFolder } from '../files/index.ts';
import type { Actor } from '../lib/principal.ts';
import { createFromRun } from './cases/from-run.ts';
import type { SecretOwners } from './cases/redaction.ts';
import { caseRoutes } from './cases/routes.ts';
import { deleteUnusedContents, repliesColumn } from './cases/store.ts';
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

export { form as datasetForm } from './datasets/routes.ts';

/** The rules of datasets, for the workspace document. */
interface DatasetRules {
  list(executor: Executor): Promise<Dataset[]>;
  /** `leaving`: how many the transaction deletes afterwards. */
  create(tx: Tx, actor: Actor, values: NewDataset, leaving: number): Promise<Dataset>;
  update(tx: Tx, actor: Actor, id: string, changes: DatasetChanges): Promise<Dataset>;
  /** Its cases and experiments are deleted as well. Throws 412 while something needs it. */
  delete(tx: Tx, actor: Actor, id: string): Promise<void>;
}

export interface EvaluationNeeds extends SecretOwners {
  files: Pick<Files, 'bytes'>;
}

export interface Evaluation extends Feature {
  rules: DatasetRules;
}

/** Evaluation: datasets of cases, experiments that run agents on them, and what scores them. */
export const createEvaluation = (
  { db, vault, config }: Services,
  { files, ...secretOwners }: EvaluationNeeds,
): Evaluation => {
  const checks: readonly CheckDatasetUnused[] = [];
  const fromRun = createFromRun({
    db,
    vault,
    bytes: files.bytes,
    folder: waitingFolder(config.dataDir),
    secretOwners,
  });
  return {
    tag: { name: 'Evaluation', description: 'Datasets of cases, and experiments that run agents on them.' },
    routes: [
      ...datasetRoutes(db, { checks }),
      ...exchangeRoutes({ db, vault }),
      ...caseRoutes({ db, vault, fromRun }),
    ],
    secrets: [repliesColumn],
    retention: [(tx, _settings, limit) => deleteUnusedContents(tx, limit)],
    rules: {
      list: (executor) => listDatasets(executor, everything),
      create: createDataset,
      update: async (tx, actor, id, changes) =>
        updateDataset(tx, actor, await lockDatasetToUpdate(tx, id, changes), changes),
      delete: async (tx, actor, id) => deleteDataset(tx, actor, checks, await lockDataset(tx, id)),
    },
  };
};
