import type { Feature, Services } from '../feature.ts';
import { type Files, type OwnerKind, removedChannel, waitingFolder } from '../files/index.ts';
import type { Sandbox } from '../sandbox/index.ts';
import type { SemanticDataModels } from '../semantic-data-models/index.ts';
import { type AgentFrames, agentFrames } from './agents.ts';
import type { FrameParts } from './parts.ts';
import { frameRoutes } from './routes.ts';

export type { AgentFrames } from './agents.ts';
export { frameName } from './names.ts';
export type { QueryResult } from './query.ts';
export { type DataFrame, insertFrame, listAllFrames } from './store.ts';

export interface DataFrameNeeds {
  files: Files;
  sandbox: Sandbox;
  owners: readonly OwnerKind[];
  /** Keeps a trial, which may own frames, from being deleted before the transaction ends. */
  lockTrial: OwnerKind['lock'];
  models: Pick<SemanticDataModels, 'ask' | 'isGivenTo'>;
}

export interface DataFrames extends Feature {
  forAgents: AgentFrames;
}

/**
 * Data frames: tables of conversations and Work Items, made of their files, of what semantic data models answer, and of
 * queries over other frames.
 */
export const createDataFrames = (
  { db, config, settings }: Services,
  { files, sandbox, owners, models, lockTrial }: DataFrameNeeds,
): DataFrames => {
  const parts: FrameParts = {
    db,
    settings,
    sandbox,
    bytes: files.bytes,
    folder: waitingFolder(config.dataDir),
  };
  return {
    start: async () => db.listen(removedChannel, () => void sandbox.endKept()),
    forAgents: agentFrames(parts, owners, lockTrial),
    tag: { name: 'Data frames', description: 'Tables of conversations and Work Items, and SQL over them.' },
    routes: owners.flatMap((kind) => frameRoutes(parts, models, kind)),
  };
};
