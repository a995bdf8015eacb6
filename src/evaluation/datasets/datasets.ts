import { audit } from '../../audit/index.ts';
import { advisoryLock, type Tx } from '../../database/index.ts';
import { badRequest, type Fault, notFound, unprocessable } from '../../lib/errors.ts';
import { isId, newId } from '../../lib/ids.ts';
import type { Actor } from '../../lib/principal.ts';
import { lockLlmForShare } from '../../llm-configurations/index.ts';
import { readSettings } from '../../settings/index.ts';
import { type Grader, judgeLlms } from '../../trial-options/index.ts';
import {
  countDatasets,
  type Dataset,
  type DatasetChanges,
  datasets,
  deleteDatasetRow,
  findDatasetIdByName,
  findLockedDataset,
  insertDataset,
  type NewDataset,
} from './store.ts';

/** A check before a dataset is deleted, in its transaction. Throws 412 while something needs the dataset. */
export type CheckDatasetUnused = (tx: Tx, id: string) => Promise<void>;

/**
 * Throws 422 for a judge whose LLM configuration does not exist. Those that exist are locked for share. `at`: the field
 * with the graders.
 */
export const lockJudgeLlms = async (
  tx: Tx,
  graders: readonly Grader[] | undefined,
  at = 'graders',
): Promise<void> => {
  const faults: Fault[] = [];
  for (const { path, id } of judgeLlms(graders ?? [])) {
    if (isId(id) && (await lockLlmForShare(tx, id))) continue;
    faults.push({ path: `${at}${path}`, message: 'is not an LLM configuration' });
  }
  if (faults.length > 0) throw unprocessable(faults);
};

/** Two creates or renames with one name come one after the other. Throws 422 if another dataset has the name. */
const lockName = async (tx: Tx, name: string, ownId: string | null): Promise<void> => {
  await advisoryLock(tx, 'datasets');
  const taken = await findDatasetIdByName(tx, name);
  if (taken === undefined || taken === ownId) return;
  throw unprocessable([{ path: 'name', message: 'belongs to another dataset; give another one' }]);
};

/**
 * Creates a dataset. Throws 400 if there are as many as there may be. `leaving`: how many others the transaction deletes
 * afterwards.
 */
export const createDataset = async (
  tx: Tx,
  actor: Actor,
  values: NewDataset,
  leaving = 0,
): Promise<Dataset> => {
  await lockName(tx, values.name, null);
  const { MAX_DATASETS: max } = await readSettings(tx);
  if ((await countDatasets(tx)) - leaving >= max) {
    throw badRequest(`There are ${max} datasets, the maximum. Delete one first.`, {
      setting: 'MAX_DATASETS',
    });
  }
  await lockJudgeLlms(tx, values.graders);
  const dataset = await insertDataset(tx, newId(), values);
  await audit(tx, actor, 'dataset.create', dataset.id, { name: dataset.name, mode: dataset.mode });
  return dataset;
};

/** Returns the dataset, locked until the transaction ends. Throws 404 if there is none. */
export const lockDataset = async (tx: Tx, id: string): Promise<Dataset> => {
  const dataset = isId(id) ? await findLockedDataset(tx, id, 'update') : undefined;
  if (!dataset) throw notFound('dataset');
  return dataset;
};

/** Returns the dataset, locked. Throws 422 for changes that it cannot have. */
export const lockDatasetToUpdate = async (tx: Tx, id: string, changes: DatasetChanges): Promise<Dataset> => {
  const before = await lockDataset(tx, id);
  if (changes.mode !== undefined && changes.mode !== before.mode) {
    throw unprocessable([{ path: 'mode', message: `cannot be changed; this dataset's is ${before.mode}` }]);
  }
  if (changes.name !== undefined && changes.name !== before.name) await lockName(tx, changes.name, id);
  await lockJudgeLlms(tx, changes.graders);
  return before;
};

/** Changes the dataset that `lockDatasetToUpdate` returned. */
export const updateDataset = async (
  tx: Tx,
  actor: Actor,
  before: Dataset,
  changes: DatasetChanges,
): Promise<Dataset> => {
  const after = datasets.read(await datasets.update(tx, before.id, changes));
  await audit(tx, actor, 'dataset.update', after.id, {
    name: after.name,
    changed: datasets.changed(changes),
  });
  return after;
};

/** Deletes the locked dataset with its cases and experiments. Throws 412 while something needs it. */
export const deleteDataset = async (
  tx: Tx,
  actor: Actor,
  checks: readonly CheckDatasetUnused[],
  { id, name, case_count }: Dataset,
): Promise<void> => {
  for (const check of checks) await check(tx, id);
  await deleteDatasetRow(tx, id);
  await audit(tx, actor, 'dataset.delete', id, { name, cases: case_count });
};
