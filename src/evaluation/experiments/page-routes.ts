import { z } from 'zod';
import type { Executor } from '../../database/index.ts';
import {
  finder,
  id,
  jsonRoute,
  jsonValue,
  listPage,
  pageOf,
  pageQuery,
  type Route,
} from '../../http/index.ts';
import { notFound } from '../../lib/errors.ts';
import { isId } from '../../lib/ids.ts';
import { gradersOfTrial, shownGrader } from '../../trial-options/index.ts';
import { shownTape } from '../cases/schemas.ts';
import { outcomes } from './kind.ts';
import { caseExists, findLabelQueue, listCasesOf, listNamesOf } from './page-store.ts';
import { knownId } from './routes.ts';
import { experimentQuery, publicExperiment, publicTrial, trialMessage } from './schemas.ts';
import { type ExperimentRow, findExperiment, listExperiments } from './store.ts';
import { toResponses } from './summary.ts';
import { findTrial, findTrialMessages, toTrialResponses } from './trial-list.ts';
import type { TrialRouteParts } from './trial-routes.ts';

const named = z.object({ id, name: z.string() });
const names = { agent: named, dataset: named };

const namedExperiment = publicExperiment.extend(names).meta({ id: 'NamedExperiment' });

const experimentCase = z
  .object({
    id: id.describe('The id of the case.'),
    name: z.string(),
    trials: z.array(
      z
        .object({
          id,
          repetition: z.int(),
          outcome: z.enum(outcomes).nullable(),
          score: z.number().nullable(),
          label: z
            .enum(['pass', 'fail', 'error'])
            .nullable()
            .describe('Of `grader`, or the worst of all graders.'),
        })
        .meta({ id: 'TrialMark' }),
    ),
  })
  .meta({ id: 'ExperimentCase' });

const trialDetail = publicTrial
  .extend({
    ...names,
    graders: z.array(shownGrader),
    messages: z.array(trialMessage).describe('Oldest first; empty before its end.'),
    case: z
      .object({
        exists: z.boolean().describe('Whether the case is still in its dataset.'),
        message: z.string(),
        payload: z.record(z.string(), z.unknown()),
        expected: jsonValue.describe('null: nothing is expected.'),
        recorded: z.array(shownTape.shape.messages.element).nullable().describe('Null without a tape.'),
      })
      .meta({ id: 'TrialCase' })
      .nullable()
      .describe('The revision that the trial ran; null if it is gone.'),
  })
  .meta({ id: 'TrialDetail' });

const labelQueue = z
  .object({
    total: z.int().describe('Trials that the grader scored.'),
    labelled: z.int().describe('Those of them that someone has labelled.'),
    trial_ids: z.array(id).describe('The first 1,000 of the others, oldest first.'),
  })
  .meta({ id: 'LabelQueue' });

/** Trials of a queue of labels that one response names. */
const mostQueued = 1_000;

const reads = { base: 'app', role: 'builder', scope: 'evaluations:read' } as const;

/** Experiments with the names of what they run, for the pages of the application. */
export const experimentPageRoutes = ({ db, readCase }: TrialRouteParts): Route[] => {
  const find = finder(db, 'experiment', 'experiment_id', findExperiment);
  const toNamed = async (executor: Executor, rows: readonly ExperimentRow[]) => {
    const responses = await toResponses(executor, rows);
    const named = await listNamesOf(
      executor,
      rows.map((row) => row.id),
    );
    return responses.map((response) => ({ ...response, ...named.get(response.id)! }));
  };
  return [
    jsonRoute({
      ...reads,
      id: 'listNamedExperiments',
      request: 'GET /experiments',
      summary: 'List experiments with the names of their agents and datasets',
      query: experimentQuery,
      response: pageOf('NamedExperimentPage', namedExperiment),
      handler: listPage(db, async (executor, { agent_id, dataset_id, ...query }) => {
        const filter = { ...query, agent_id: knownId(agent_id), dataset_id: knownId(dataset_id) };
        return toNamed(executor, await listExperiments(executor, filter));
      }),
    }),
    jsonRoute({
      ...reads,
      id: 'getNamedExperiment',
      request: 'GET /experiments/{experiment_id}',
      summary: 'Get an experiment with the names of its agent and dataset',
      find,
      response: namedExperiment,
      handler: ({ found }) => db.run(async (executor) => (await toNamed(executor, [found]))[0]!),
    }),
    jsonRoute({
      ...reads,
      id: 'listExperimentCases',
      request: 'GET /experiments/{experiment_id}/cases',
      summary: 'List the cases of an experiment with the outcomes of their trials',
      description: 'Cases that have a trial which matches, with all their trials.',
      find,
      query: pageQuery.extend({
        outcome: z.enum(outcomes).optional(),
        grader: z.string().optional().describe('Cases that this grader scored; their labels are of it.'),
        label: z.enum(['pass', 'fail']).optional(),
      }),
      response: pageOf('ExperimentCasePage', experimentCase),
      handler: listPage(db, (executor, query, { found }) => listCasesOf(executor, found.id, query)),
    }),
    jsonRoute({
      ...reads,
      id: 'getLabelQueue',
      request: 'GET /experiments/{experiment_id}/label-queue',
      summary: 'Get the trials that no one has labelled',
      find,
      query: z.object({
        grader: z.string().describe('The name of a grader of the type human or llm_judge.'),
      }),
      response: labelQueue,
      handler: ({ found, query }) =>
        db.run((executor) => findLabelQueue(executor, found.id, query.grader, mostQueued)),
    }),
    jsonRoute({
      ...reads,
      id: 'getTrialDetail',
      request: 'GET /experiments/{experiment_id}/trials/{trial_id}',
      summary: 'Get a trial with its messages and what was recorded',
      find: async ({ params }) => {
        const experiment = await find({ params });
        const trialId = params.trial_id!;
        const trial = isId(trialId)
          ? await db.run((executor) => findTrial(executor, experiment.id, trialId))
          : undefined;
        if (!trial) throw notFound('trial');
        return { experiment, trial };
      },
      response: trialDetail,
      handler: ({ found: { experiment, trial } }) =>
        db.run(async (executor) => {
          const [shown] = await toTrialResponses(executor, [trial]);
          const content = await readCase(executor, trial.case_id, trial.case_revision);
          const named = await listNamesOf(executor, [experiment.id]);
          return {
            ...shown!,
            ...named.get(experiment.id)!,
            graders: gradersOfTrial(experiment.graders, content?.graders ?? []),
            messages: await findTrialMessages(executor, trial.id),
            case: content
              ? {
                  exists: await caseExists(executor, trial.case_id),
                  message: content.input.message,
                  payload: content.input.payload,
                  expected: content.expected ?? null,
                  recorded: content.tape?.messages ?? null,
                }
              : null,
          };
        }),
    }),
  ];
};
