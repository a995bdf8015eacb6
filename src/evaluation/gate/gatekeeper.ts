import type { Gatekeeper } from '../../agents/index.ts';
import type { Tx } from '../../database/index.ts';
import { unprocessable } from '../../lib/errors.ts';
import { isId } from '../../lib/ids.ts';
import { listEnabledCases } from '../cases/store.ts';
import { type Dataset, findLockedDataset } from '../datasets/store.ts';
import { cancelExperiment, startExperiment } from '../experiments/experiments.ts';
import { hasOpenTrials, listJudgeLlms, listNamedLlms } from '../experiments/store.ts';
import { fewestCases } from '../statistics.ts';
import { unknownFigures } from './verdict.ts';

type Gate = Parameters<Gatekeeper['lockGate']>[2];

const wrong = (path: string, message: string) => unprocessable([{ path, message }]);

const lockGateDataset = async (tx: Tx, { dataset_id }: Pick<Gate, 'dataset_id'>): Promise<Dataset> => {
  const dataset = isId(dataset_id) ? await findLockedDataset(tx, dataset_id, 'share') : undefined;
  if (!dataset) throw wrong('gate.dataset_id', 'is not a dataset');
  return dataset;
};

/** Returns the experiment of one version that a check runs. */
export const experimentOf = (
  { dataset_id, tags, graders, trials, tools, order, on_divergence, approvals }: Gate,
  { agentId, version, publicationId }: { agentId: string; version: number; publicationId: string },
) => ({
  dataset_id,
  agent_id: agentId,
  version,
  repetitions: trials,
  tools,
  order,
  on_divergence,
  approvals,
  model: 'live' as const,
  graders,
  tags,
  publication_id: publicationId,
});

/** Runs the checks of gates as experiments. */
export const gatekeeper: Gatekeeper = {
  lockGate: async (tx, mode, gate, { mayLackCases }) => {
    const dataset = await lockGateDataset(tx, gate);
    if (dataset.mode !== mode) {
      const message = `has cases for ${dataset.mode} agents, and this is a ${mode} agent`;
      throw wrong('gate.dataset_id', message);
    }
    if (mayLackCases) return;
    const { length } = await listEnabledCases(tx, dataset.id, gate.tags);
    if (length >= fewestCases) return;
    const [path, of] =
      gate.tags.length === 0 ? ['gate.dataset_id', ''] : ['gate.tags', ' with one of these tags'];
    throw wrong(path, `${length} enabled cases${of} are too few; a gate needs at least ${fewestCases}`);
  },

  readBasis: async (tx, { agent, gate, candidate }) => {
    const dataset = await lockGateDataset(tx, gate);
    return {
      dataset_id: dataset.id,
      dataset_revision: dataset.revision,
      llms: {
        candidate: await listNamedLlms(tx, agent.id, candidate),
        published: await listNamedLlms(tx, agent.id, agent.version),
        judges: await listJudgeLlms(tx, gate.graders ?? dataset.graders),
      },
    };
  },

  begin: async (tx, actor, { publicationId, agent, gate, candidate }) => {
    const { id } = await lockGateDataset(tx, gate);
    const cases = await listEnabledCases(tx, id, gate.tags);
    if (cases.length < fewestCases) {
      return { figures: { ...unknownFigures([]), cases: cases.length }, verdict: 'inconclusive' };
    }
    const experimentIds: string[] = [];
    for (const version of [candidate, agent.version]) {
      const fields = experimentOf(gate, { agentId: agent.id, version, publicationId });
      experimentIds.push((await startExperiment(tx, actor, { ...fields, reuse: true })).id);
    }
    return { figures: unknownFigures(experimentIds), verdict: null };
  },

  cancel: async (tx, actor, experimentIds) => {
    for (const id of experimentIds) {
      if (await hasOpenTrials(tx, id)) await cancelExperiment(tx, actor, id);
    }
  },
};
