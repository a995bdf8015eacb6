import { z } from 'zod';
import { type Executor, type Page, selectPage, sql, type Tx } from '../../database/index.ts';
import { text } from '../../http/index.ts';
import {
  type ChangesOf,
  column,
  generated,
  nullable,
  type RecordOf,
  required,
  resource,
  stamps,
  type TableOf,
  type ValuesOf,
  withDefault,
} from '../../resource/index.ts';
import { datasetGraders, shownGrader } from '../../trial-options/index.ts';

const modes = ['worker', 'conversational'] as const;
export type DatasetMode = (typeof modes)[number];

export const fields = {
  name: required(text(200, 1).describe('Unique.')),
  description: nullable(text(10_000)),
  mode: withDefault(z.enum(modes).describe('The mode of the agents that run its cases.'), 'worker').fixed(
    'Cannot be changed. Another mode than the current one is refused.',
  ),
  graders: withDefault(datasetGraders.describe('What scores the trials of its cases. At most 20.'), [])
    .shownAs(z.array(shownGrader))
    .json()
    .refersTo('llm_configuration', 'graders', { inside: { id: 'llm_id', name: 'llm' } }),
};

export const datasets = resource('datasets', fields, {
  id: column<string>(),
  case_count: generated<number>(),
  ...stamps,
});

declare module '../../database/database.ts' {
  interface Schema {
    datasets: TableOf<typeof datasets>;
  }
}

export type Dataset = RecordOf<typeof datasets>;
export type NewDataset = ValuesOf<typeof datasets>;
export type DatasetChanges = ChangesOf<typeof datasets>;

const { columns } = datasets;

/** Newest first. */
export const listDatasets = async (executor: Executor, page: Page): Promise<Dataset[]> =>
  (await selectPage(executor.selectFrom('datasets').select(columns), page)).map((row) => datasets.read(row));

export const findDataset = async (executor: Executor, id: string): Promise<Dataset | undefined> => {
  const row = await executor.selectFrom('datasets').select(columns).where('id', '=', id).executeTakeFirst();
  return row && datasets.read(row);
};

/**
 * The dataset, locked until the transaction ends. `share`: it and its cases do not change; `update`: no one else locks it
 * either.
 */
export const findLockedDataset = async (
  tx: Tx,
  id: string,
  lock: 'share' | 'update',
): Promise<Dataset | undefined> => {
  const query = tx.selectFrom('datasets').select(columns).where('id', '=', id);
  const row = await (lock === 'share' ? query.forShare() : query.forUpdate()).executeTakeFirst();
  return row && datasets.read(row);
};

export const countDatasets = async (tx: Tx): Promise<number> => {
  const { rows } = await sql<{ n: number }>`select count(*)::integer as n from datasets`.execute(tx);
  return rows[0]!.n;
};

/** The id of the dataset with this name; undefined if there is none. */
export const findDatasetIdByName = async (executor: Executor, name: string): Promise<string | undefined> =>
  (await executor.selectFrom('datasets').select('id').where('name', '=', name).executeTakeFirst())?.id;

export const insertDataset = async (tx: Tx, id: string, values: NewDataset): Promise<Dataset> => {
  const row = await tx
    .insertInto('datasets')
    .values({ id, ...datasets.write(values) })
    .returning(columns)
    .executeTakeFirstOrThrow();
  return datasets.read(row);
};

/** Raises the revision of the locked dataset, because cases of it changed; `added` of them are new. */
export const updateDatasetForCases = async (tx: Tx, id: string, added: number): Promise<void> => {
  await sql`update datasets set case_count = case_count + ${added}, revision = revision + 1,
    updated_at = platform_now() where id = ${id}`.execute(tx);
};

/** Deletes the dataset with its cases and experiments. */
export const deleteDatasetRow = async (tx: Tx, id: string): Promise<void> => {
  await tx.deleteFrom('datasets').where('id', '=', id).execute();
};
