import { agentCalls } from '../../agents/index.ts';
import { audit } from '../../audit/index.ts';
import { notify, sql, type Tx } from '../../database/index.ts';
import { ApiError, badRequest, unprocessable } from '../../lib/errors.ts';
import { isId, newId } from '../../lib/ids.ts';
import type { Actor } from '../../lib/principal.ts';
import { readSettings } from '../../settings/index.ts';
import type { Grader } from '../../trial-options/index.ts';
import { listEnabledCases } from '../cases/store.ts';
import { lockJudgeLlms } from '../datasets/datasets.ts';
import { findLockedDataset } from '../datasets/store.ts';
import { trialCancelsChannel, trialRuns, trialsChannel } from './kind.ts';
import {
  deleteExperimentRow,
  type ExperimentRow,
  findExperiment,
  findLockedExperiment,
  hasOpenTrials,
  insertExperiment,
  isDatasetInUse,
  listNamedLlms,
  listTestedCases,
  markReused,
  type NewTrial,
  requestCancel,
  updateCancelled,
} from './store.ts';
import type { TrialModes } from './trial-run.ts';

/** The rules of experiments. */

export interface NewExperimentFields extends TrialModes {
  dataset_id: string;
  agent_id: string;
  version: 'draft' | 'published' | number;
  repetitions: number;
  /** Null: those of the dataset. */
  graders: readonly Grader[] | null;
  tags: readonly string[];
  reuse: boolean;
  /** The publication that it decides on; null: none. */
  publication_id?: string | null;
  /** The experiment whose cases it runs again, in their revisions; null: the enabled ones. */
  repeats?: string | null;
}

const wrong = (path: string, message: string) => unprocessable([{ path, message }]);

const lockTestedAgent = async (tx: Tx, id: string) => {
  const agent = await agentCalls.lock(tx, id).catch((error: unknown) => {
    if (!(error instanceof ApiError) || error.code !== 'not_found') throw error;
    throw wrong('agent_id', 'is not an agent');
  });
  if (agent.execution === 'external') {
    throw badRequest(
      'External workers execute the Work Items of this agent: the platform cannot run it on a case.',
    );
  }
  return agent;
};

/** Throws 412 while an experiment over the dataset has trials that have not ended. */
export const checkDatasetIdle = async (tx: Tx, id: string): Promise<void> => {
  if (!(await isDatasetInUse(tx, id))) return;
  throw new ApiError(
    'precondition_failed',
    'An experiment over the dataset runs. Cancel it, or wait for its end.',
  );
};

/**
 * Starts an experiment: freezes the version and stores all its trials, which any replica runs. Throws 400 and 422 for what
 * cannot be run.
 */
export const startExperiment = async (
  tx: Tx,
  actor: Actor,
  fields: NewExperimentFields,
): Promise<ExperimentRow> => {
  const dataset = isId(fields.dataset_id)
    ? await findLockedDataset(tx, fields.dataset_id, 'share')
    : undefined;
  if (!dataset) throw wrong('dataset_id', 'is not a dataset');
  const agent = await lockTestedAgent(tx, fields.agent_id);
  if (agent.mode !== dataset.mode) {
    throw wrong(
      'agent_id',
      `is a ${agent.mode} agent, and the cases of this dataset are for ${dataset.mode} agents`,
    );
  }
  if (fields.graders) await lockJudgeLlms(tx, fields.graders);
  const { repeats = null } = fields;
  const cases = repeats
    ? await listTestedCases(tx, repeats)
    : await listEnabledCases(tx, dataset.id, fields.tags);
  if (cases.length === 0) {
    const which = fields.tags.length > 0 ? 'no enabled case with one of these tags' : 'no enabled case';
    throw wrong(fields.tags.length > 0 ? 'tags' : 'dataset_id', `has ${which}`);
  }
  const { repetitions } = fields;
  const total = cases.length * repetitions;
  const { MAX_TRIALS_PER_EXPERIMENT: most } = await readSettings(tx);
  if (total > most) {
    const text = `${cases.length} cases × ${repetitions} are ${total} trials; the maximum is ${most}.`;
    throw badRequest(text, { setting: 'MAX_TRIALS_PER_EXPERIMENT' });
  }
  const version = await agentCalls.freeze(tx, agent, fields.version, actor.principal);
  if (version === null) throw wrong('version', 'is not a version of this agent');
  const id = newId();
  const trials = cases.flatMap((one): NewTrial[] =>
    Array.from({ length: repetitions }, (_, i) => ({ id: newId(), case: one, repetition: i + 1 })),
  );
  const { tools, order, on_divergence, model, approvals, tags, reuse, publication_id = null } = fields;
  await insertExperiment(
    tx,
    {
      id,
      dataset_id: dataset.id,
      agent_id: agent.id,
      version,
      repetitions,
      tools,
      order,
      on_divergence,
      model,
      approvals,
      graders: [...(fields.graders ?? dataset.graders)],
      tags: [...tags],
      reuse,
      llms: model === 'recorded' ? [] : await listNamedLlms(tx, agent.id, version),
      publication_id,
      trials: total,
      created_by: actor.principal.id,
    },
    trials,
  );
  if (reuse) await markReused(tx, { id });
  await audit(tx, actor, 'experiment.create', id, {
    agent_id: agent.id,
    dataset_id: dataset.id,
    version,
    trials: total,
    tools,
    model,
  });
  await notify(tx, trialsChannel);
  return (await findExperiment(tx, id))!;
};

/** Cancels the trials that have not ended, those that run within 30 s. Throws 412 if all have. */
export const cancelExperiment = async (tx: Tx, actor: Actor, id: string): Promise<ExperimentRow> => {
  const experiment = (await findLockedExperiment(tx, id))!;
  if (experiment.cancelled_at !== null || !(await hasOpenTrials(tx, id))) {
    throw new ApiError('precondition_failed', 'The experiment has finished: there is nothing to cancel.', {
      state: experiment.cancelled_at === null ? 'done' : 'cancelled',
    });
  }
  await updateCancelled(tx, id);
  await trialRuns.move(tx, {
    where: sql`w.experiment_id = ${id} and w.status = 'queued'`,
    to: sql`'cancelled'`,
    action: 'cancel',
    principal: actor.principal,
  });
  for (const trial of await requestCancel(tx, id)) await notify(tx, trialCancelsChannel, trial);
  const { agent_id, dataset_id } = experiment;
  await audit(tx, actor, 'experiment.cancel', id, { agent_id, dataset_id });
  return (await findExperiment(tx, id))!;
};

/** Deletes an experiment with its trials and their scores. Throws 412 while it runs. */
export const deleteExperiment = async (tx: Tx, actor: Actor, id: string): Promise<void> => {
  const experiment = (await findLockedExperiment(tx, id))!;
  if (await hasOpenTrials(tx, id)) {
    throw new ApiError('precondition_failed', 'The experiment runs. Cancel it, or wait for its end.', {
      state: experiment.cancelled_at === null ? 'running' : 'cancelled',
    });
  }
  await deleteExperimentRow(tx, id);
  const { agent_id, dataset_id } = experiment;
  await audit(tx, actor, 'experiment.delete', id, { agent_id, dataset_id });
};
