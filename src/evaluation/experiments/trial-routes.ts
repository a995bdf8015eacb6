import { z } from 'zod';
import type { Database, Executor } from '../../database/index.ts';
import {
  jsonRoute,
  limit,
  listPage,
  positionCursor,
  type Route,
  readPosition,
  sortedPage,
  webRoute,
} from '../../http/index.ts';
import { notFound } from '../../lib/errors.ts';
import { isId } from '../../lib/ids.ts';
import { gradersOfTrial } from '../../trial-options/index.ts';
import type { CaseContent } from '../cases/content.ts';
import { transcriptOf } from '../cases/transcript.ts';
import { transcriptDocument, transcriptResponse } from '../cases/transcript-response.ts';
import { labelTrial, removeLabel } from './labels.ts';
import { findExperimentRow, onePath } from './routes.ts';
import { labelBody, messagePage, publicLabel, publicTrial, trialPage, trialQuery } from './schemas.ts';
import { findTrial, findTrialMessages, listTrials, toTrialResponses } from './trial-list.ts';

export interface TrialRouteParts {
  db: Database;
  readCase(executor: Executor, caseId: string, revision: number): Promise<CaseContent | undefined>;
}

const trialPath = `${onePath}/trials/{trial_id}`;

/** The trials of an experiment: what they did, their scores, and what people say of them. Under v2 only. */
export const trialRoutes = ({ db, readCase }: TrialRouteParts): Route[] => {
  const findParent = findExperimentRow(db);
  const find = async ({ params }: { params: Record<string, string> }) => {
    const experiment = await findParent({ params });
    const id = params.trial_id!;
    const trial = isId(id) ? await db.run((executor) => findTrial(executor, experiment.id, id)) : undefined;
    if (!trial) throw notFound('trial');
    return { experiment, trial };
  };
  type Found = Awaited<ReturnType<typeof find>>;
  const reads = { base: 'v2', role: 'builder', scope: 'evaluations:read' } as const;
  const acts = { base: 'v2', role: 'builder', scope: 'evaluations' } as const;

  const gradersOf = async (executor: Executor, { experiment, trial }: Found) => {
    const content = await readCase(executor, trial.case_id, trial.case_revision);
    return gradersOfTrial(experiment.graders, content?.graders ?? []);
  };

  return [
    jsonRoute({
      ...reads,
      id: 'listTrials',
      request: `GET ${onePath}/trials`,
      summary: 'List the trials of an experiment',
      find: findParent,
      query: trialQuery,
      response: trialPage,
      handler: listPage(db, async (executor, { case_id, ...query }, { found }) => {
        if (case_id !== undefined && !isId(case_id)) return [];
        return toTrialResponses(executor, await listTrials(executor, found.id, { ...query, case_id }));
      }),
    }),
    jsonRoute({
      ...reads,
      id: 'getTrial',
      request: `GET ${trialPath}`,
      summary: 'Get a trial',
      find,
      response: publicTrial,
      handler: ({ found }) =>
        db.run(async (executor) => (await toTrialResponses(executor, [found.trial]))[0]!),
    }),
    jsonRoute({
      ...reads,
      id: 'listTrialMessages',
      request: `GET ${trialPath}/messages`,
      summary: 'List the messages of a trial',
      description: 'They are there when the trial has ended.',
      find,
      query: z.object({ limit, next: z.string().optional() }),
      response: messagePage,
      handler: async ({ found, query }) => {
        const messages = await db.run((executor) => findTrialMessages(executor, found.trial.id));
        const from = readPosition(query.next, 'message', ['time'])?.[0] ?? 0;
        const newest = messages.toReversed().slice(from, from + query.limit + 1);
        const next = () => positionCursor('message', [from + query.limit]);
        return sortedPage(newest, query.limit, next, (message) => message);
      },
    }),
    webRoute({
      ...reads,
      id: 'getTrialTranscript',
      request: `GET ${trialPath}/transcript`,
      summary: 'Get the transcript of a trial',
      description:
        'Canonical JSON (RFC 8785) of `[{role, content}]` without ids, times and system message. `transcript_hash` is its SHA-256. An empty list before its end.',
      find,
      document: transcriptDocument,
      handler: async ({ found }) =>
        transcriptResponse(
          transcriptOf(await db.run((executor) => findTrialMessages(executor, found.trial.id))),
        ),
    }),
    jsonRoute({
      ...acts,
      id: 'labelTrial',
      request: `POST ${trialPath}/labels`,
      summary: 'Label a trial',
      description:
        'One label a person and grader: another one replaces it. Returns 412 while the trial has not ended.',
      otherStatuses: [412],
      find,
      body: labelBody,
      response: publicLabel,
      idempotent: true,
      handler: ({ found, body, transaction, actor }) =>
        transaction(async (tx) => labelTrial(tx, actor, found.trial, body, await gradersOf(tx, found))),
    }),
    jsonRoute({
      ...acts,
      id: 'removeLabel',
      request: `DELETE ${trialPath}/labels/{grader}`,
      summary: 'Take back a label',
      description: "The caller's own label of the grader.",
      find,
      handler: ({ found, params, transaction, actor }) =>
        transaction(async (tx) =>
          removeLabel(tx, actor, found.trial, params.grader!, await gradersOf(tx, found)),
        ),
    }),
  ];
};
