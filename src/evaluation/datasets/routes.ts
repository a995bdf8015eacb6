import { z } from 'zod';
import type { Database } from '../../database/index.ts';
import {
  finder,
  id,
  jsonRoute,
  listPage,
  pageOf,
  pageQuery,
  type Route,
  timestamp,
} from '../../http/index.ts';
import {
  type CheckDatasetUnused,
  createDataset,
  deleteDataset,
  lockDataset,
  lockDatasetToUpdate,
  updateDataset,
} from './datasets.ts';
import { datasets, fields, findDataset, listDatasets } from './store.ts';

const publicDataset = z
  .object({
    id,
    ...datasets.shown,
    case_count: z.int(),
    revision: z.int().describe('The number of its changes, those of its cases included.'),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: 'PublicDataset' });

const createBody = z.object(datasets.create).meta({ id: 'CreateDatasetBody' });
const updateBody = z.object(datasets.patch).meta({ id: 'UpdateDatasetBody' });

/** Datasets in a workspace document. */
export const form = { fields, body: createBody, patch: updateBody };

export const datasetFinder = (db: Database) => finder(db, 'dataset', 'dataset_id', findDataset);

/** Options that all routes of this group share. Cases hold what people wrote: reading them requires a builder, too. */
export const shared = { role: 'builder', base: 'v2' } as const;

export const datasetRoutes = (
  db: Database,
  { checks }: { checks: readonly CheckDatasetUnused[] },
): Route[] => {
  const find = datasetFinder(db);
  return [
    jsonRoute({
      ...shared,
      id: 'listDatasets',
      scope: 'evaluations:read',
      request: 'GET /datasets',
      summary: 'List datasets',
      query: pageQuery,
      response: pageOf('DatasetPage', publicDataset),
      handler: listPage(db, listDatasets),
    }),
    jsonRoute({
      ...shared,
      id: 'createDataset',
      scope: 'evaluations',
      request: 'POST /datasets',
      summary: 'Create a dataset',
      otherStatuses: [400],
      body: createBody,
      response: publicDataset,
      idempotent: true,
      cache: 'revision',
      handler: ({ body, transaction, etag, actor }) =>
        transaction(async (tx) => {
          const dataset = await createDataset(tx, actor, body);
          etag(dataset.revision);
          return dataset;
        }),
    }),
    jsonRoute({
      ...shared,
      id: 'getDataset',
      scope: 'evaluations:read',
      request: 'GET /datasets/{dataset_id}',
      summary: 'Get a dataset',
      find,
      response: publicDataset,
      cache: 'revision',
      handler: async ({ found, etag }) => {
        etag(found.revision);
        return found;
      },
    }),
    jsonRoute({
      ...shared,
      id: 'updateDataset',
      scope: 'evaluations',
      request: 'PATCH /datasets/{dataset_id}',
      summary: 'Update a dataset',
      find,
      body: updateBody,
      response: publicDataset,
      cache: 'revision',
      lock: (tx, { found, body }) => lockDatasetToUpdate(tx, found.id, body),
      handler: ({ body, transaction, etag, actor }) =>
        transaction(async (tx, before) => {
          const dataset = await updateDataset(tx, actor, before, body);
          etag(dataset.revision);
          return dataset;
        }),
    }),
    jsonRoute({
      ...shared,
      id: 'deleteDataset',
      scope: 'evaluations',
      request: 'DELETE /datasets/{dataset_id}',
      summary: 'Delete a dataset',
      description: 'Its cases and experiments are deleted as well.',
      find,
      lock: (tx, { found }) => lockDataset(tx, found.id),
      handler: ({ transaction, actor }) =>
        transaction((tx, dataset) => deleteDataset(tx, actor, checks, dataset)),
    }),
  ];
};
