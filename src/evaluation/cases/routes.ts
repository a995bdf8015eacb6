import { z } from 'zod';
import type { Database } from '../../database/index.ts';
import { jsonRoute, listPage, pageQuery, type Route, webRoute } from '../../http/index.ts';
import type { Vault } from '../../lib/crypto.ts';
import { notFound } from '../../lib/errors.ts';
import { isId } from '../../lib/ids.ts';
import { lockDataset } from '../datasets/datasets.ts';
import { datasetFinder, shared } from '../datasets/routes.ts';
import type { Dataset } from '../datasets/store.ts';
import {
  createCase,
  deleteCase,
  lockCase,
  lockCaseToUpdate,
  toResponse,
  toShown,
  updateCase,
  writtenValues,
} from './cases.ts';
import type { FromRun } from './from-run.ts';
import { casePage, createBody, publicCase, updateBody } from './schemas.ts';
import { type Case, findCase, listCases, listThings } from './store.ts';
import { transcriptOf } from './transcript.ts';
import { transcriptDocument, transcriptResponse } from './transcript-response.ts';

const flag = z
  .enum(['true', 'false'])
  .transform((value) => value === 'true')
  .optional();

const listQuery = pageQuery.extend({
  tag: z.string().optional().describe('Cases with this tag.'),
  q: z.string().optional().describe('A part of the name, whatever the case.'),
  enabled: flag,
  has_tape: flag,
});

interface Found {
  dataset: Dataset;
  found: Case;
}

export interface CaseParts {
  db: Database;
  vault: Vault;
  fromRun: FromRun;
}

/** Loads the case that a path names. Throws 404. */
const caseFinder = (db: Database) => {
  const findDatasetOf = datasetFinder(db);
  return async (request: { params: Record<string, string> }): Promise<Found> => {
    const dataset = await findDatasetOf(request);
    const id = request.params.case_id!;
    const found = isId(id) ? await db.run((executor) => findCase(executor, dataset.id, id)) : undefined;
    if (!found) throw notFound('case');
    return { dataset, found };
  };
};

export const caseRoutes = ({ db, vault, fromRun }: CaseParts): Route[] => {
  const findDatasetOf = datasetFinder(db);
  const find = caseFinder(db);
  return [
    jsonRoute({
      ...shared,
      id: 'listCases',
      scope: 'evaluations:read',
      request: 'GET /datasets/{dataset_id}/cases',
      summary: 'List the cases of a dataset',
      description: 'Without their tapes.',
      find: findDatasetOf,
      query: listQuery,
      response: casePage,
      handler: async (context) => {
        const { mode, id } = context.found;
        const page = await listPage(db, (executor, query) => listCases(executor, id, query))(context);
        const ids = page.data.map((one) => one.id);
        const things = await db.run((executor) => listThings(executor, ids));
        return { ...page, data: page.data.map((one) => toShown(mode, one, things)) };
      },
    }),
    jsonRoute({
      ...shared,
      id: 'createCase',
      scope: 'evaluations',
      request: 'POST /datasets/{dataset_id}/cases',
      summary: 'Create a case',
      description:
        'Of an input, or of a finished Work Item or run of a conversation: its messages become the tape, and its files and data frames are copied (at most 50 MB). Secrets of its agent and valid API keys are redacted. A run that is not finished is a 412.',
      otherStatuses: [400, 412],
      find: findDatasetOf,
      body: createBody,
      response: publicCase,
      idempotent: true,
      cache: 'revision',
      handler: async ({ found: { id, mode }, body, transaction, etag, actor }) => {
        const { work_item_id, run_id, input, expected = null, ...rest } = body;
        if (input) {
          return transaction(async (tx) => {
            const dataset = await lockDataset(tx, id);
            const values = writtenValues(mode, { ...rest, input, expected });
            const created = await createCase(tx, vault, actor, dataset, values);
            etag(created.revision);
            return toResponse(tx, mode, created);
          });
        }
        return fromRun({ datasetId: id, mode, body, actor, transaction }, async (tx, created) => {
          etag(created.revision);
          return toResponse(tx, mode, created);
        });
      },
    }),
    jsonRoute({
      ...shared,
      id: 'getCase',
      scope: 'evaluations:read',
      request: 'GET /datasets/{dataset_id}/cases/{case_id}',
      summary: 'Get a case',
      find,
      response: publicCase,
      cache: 'revision',
      handler: async ({ found: { dataset, found }, etag }) => {
        etag(found.revision);
        return db.run((executor) => toResponse(executor, dataset.mode, found));
      },
    }),
    jsonRoute({
      ...shared,
      id: 'updateCase',
      scope: 'evaluations',
      request: 'PATCH /datasets/{dataset_id}/cases/{case_id}',
      summary: 'Update a case',
      description: 'Makes a new revision. Experiments keep the one that they began with.',
      otherStatuses: [400],
      find,
      body: updateBody,
      response: publicCase,
      cache: 'revision',
      lock: (tx, { found: { dataset, found }, body }) => lockCaseToUpdate(tx, dataset.id, found.id, body),
      handler: ({ body, transaction, etag, actor }) =>
        transaction(async (tx, before) => {
          const updated = await updateCase(tx, vault, actor, before, body);
          etag(updated.revision);
          return toResponse(tx, before.dataset.mode, updated);
        }),
    }),
    jsonRoute({
      ...shared,
      id: 'deleteCase',
      scope: 'evaluations',
      request: 'DELETE /datasets/{dataset_id}/cases/{case_id}',
      summary: 'Delete a case',
      find,
      lock: (tx, { found: { dataset, found } }) => lockCase(tx, dataset.id, found.id),
      handler: ({ transaction, actor }) => transaction((tx, found) => deleteCase(tx, actor, found)),
    }),
    webRoute({
      ...shared,
      id: 'getCaseTranscript',
      scope: 'evaluations:read',
      request: 'GET /datasets/{dataset_id}/cases/{case_id}/transcript',
      summary: 'Get the transcript of a case',
      description:
        'Canonical JSON (RFC 8785) of `[{role, content}]` without ids, times and system message. `transcript_hash` is its SHA-256. An empty list without a tape.',
      find,
      document: transcriptDocument,
      handler: async ({ found: { found } }) => transcriptResponse(transcriptOf(found.tape?.messages ?? [])),
    }),
  ];
};
