import type { z } from 'zod';
import type { Database } from '../../database/index.ts';
import {
  finder,
  jsonRoute,
  listPage,
  pageQuery,
  positionCursor,
  type Route,
  readPosition,
  sortedPage,
} from '../../http/index.ts';
import { unprocessable } from '../../lib/errors.ts';
import { isId } from '../../lib/ids.ts';
import { figuresOf, listCaseScores, pairCases } from './compare.ts';
import { cancelExperiment, deleteExperiment, startExperiment } from './experiments.ts';
import { listJudges } from './judges.ts';
import {
  compareQuery,
  comparison,
  createBody,
  experimentPage,
  experimentQuery,
  judgePage,
  publicExperiment,
} from './schemas.ts';
import { findExperiment, listExperiments } from './store.ts';
import { toResponses } from './summary.ts';

/** The confidence of the detectable drop that a comparison shows. */
const confidence = 0.95;

const path = '/experiments';
export const onePath = `${path}/{experiment_id}`;

export const findExperimentRow = (db: Database) => finder(db, 'experiment', 'experiment_id', findExperiment);

/** An id in a filter; one that is malformed finds nothing. */
export const knownId = (given: string | undefined): string | undefined =>
  given === undefined || isId(given) ? given : '00000000-0000-0000-0000-000000000000';

/** Experiments: starting, reading, comparing and ending them. Under v2 only. */
export const experimentRoutes = (db: Database): Route[] => {
  const find = findExperimentRow(db);
  const reads = { base: 'v2', role: 'builder', scope: 'evaluations:read' } as const;
  const acts = { base: 'v2', role: 'builder', scope: 'evaluations' } as const;
  return [
    jsonRoute({
      ...reads,
      id: 'listExperiments',
      request: `GET ${path}`,
      summary: 'List experiments',
      query: experimentQuery,
      response: experimentPage,
      handler: listPage(db, async (executor, { agent_id, dataset_id, ...query }) => {
        const filter = { ...query, agent_id: knownId(agent_id), dataset_id: knownId(dataset_id) };
        return toResponses(executor, await listExperiments(executor, filter));
      }),
    }),
    jsonRoute({
      ...acts,
      id: 'createExperiment',
      request: `POST ${path}`,
      summary: 'Start an experiment',
      description:
        'Runs a version of an agent on the enabled cases of a dataset. Nothing of a trial is a Work Item, and with `tools: replay` nothing outside is contacted but the model.',
      otherStatuses: [400],
      body: createBody,
      response: publicExperiment,
      idempotent: true,
      handler: ({ body, transaction, actor }) =>
        transaction(async (tx) => {
          const row = await startExperiment(tx, actor, body as z.output<typeof createBody>);
          return (await toResponses(tx, [row]))[0]!;
        }),
    }),
    jsonRoute({
      ...reads,
      id: 'getExperiment',
      request: `GET ${onePath}`,
      summary: 'Get an experiment',
      find,
      response: publicExperiment,
      handler: ({ found }) => db.run(async (executor) => (await toResponses(executor, [found]))[0]!),
    }),
    jsonRoute({
      ...acts,
      id: 'deleteExperiment',
      request: `DELETE ${onePath}`,
      summary: 'Delete an experiment',
      description: 'With its trials and scores. Returns 412 while it runs.',
      otherStatuses: [412],
      find,
      handler: ({ found, transaction, actor }) =>
        transaction(async (tx) => {
          await deleteExperiment(tx, actor, found.id);
        }),
    }),
    jsonRoute({
      ...acts,
      id: 'cancelExperiment',
      request: `POST ${onePath}/cancel`,
      summary: 'Cancel an experiment',
      description: 'Trials that run end within 30 s. Returns 412 if it has finished.',
      otherStatuses: [412],
      find,
      response: publicExperiment,
      handler: ({ found, transaction, actor }) =>
        transaction(async (tx) => {
          const row = await cancelExperiment(tx, actor, found.id);
          return (await toResponses(tx, [row]))[0]!;
        }),
    }),
    jsonRoute({
      ...reads,
      id: 'compareExperiments',
      request: `GET ${onePath}/compare`,
      summary: 'Compare two experiments',
      description: 'Case by case, over the same dataset. `before` is this experiment, `after` the other one.',
      find,
      query: compareQuery,
      response: comparison,
      handler: async ({ found, query }) => {
        const cases = await db.run(async (executor) => {
          const other = isId(query.with) ? await findExperiment(executor, query.with) : undefined;
          if (!other) throw unprocessable([{ path: 'with', message: 'is not an experiment' }]);
          if (other.dataset_id !== found.dataset_id) {
            throw unprocessable([{ path: 'with', message: 'is an experiment over another dataset' }]);
          }
          const before = await listCaseScores(executor, found.id);
          return pairCases(before, await listCaseScores(executor, other.id));
        });
        const seed = [found.id, query.with.toLowerCase()];
        const {
          pValue: p_value,
          detectableDrop: detectable_drop,
          ...shown
        } = await figuresOf(cases, {
          confidence,
          seed,
        });
        const from = readPosition(query.next, 'drop', ['time'])?.[0] ?? 0;
        const page = sortedPage(
          cases.slice(from, from + query.limit + 1),
          query.limit,
          () => positionCursor('drop', [from + query.limit]),
          (one) => one,
        );
        return { ...shown, p_value, detectable_drop, ...page };
      },
    }),
    jsonRoute({
      ...reads,
      id: 'listJudges',
      request: 'GET /judges',
      summary: 'List judges',
      description: 'Models that graded trials, and how well they agree with people.',
      query: pageQuery,
      response: judgePage,
      handler: listPage(db, listJudges),
    }),
  ];
};
