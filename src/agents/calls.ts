import { getAgent, lockAgent, lockAgentForShare, lockAgentMode, requireWorker } from './agents.ts';
import { findAgentNames } from './store.ts';
import { findPinned, getPinned } from './versions/pins.ts';
import { recordFirstRun } from './versions/store.ts';
import { freezeReference, listMissing } from './versions/versions.ts';

/** The calls that other features make, in their own transactions. Each needs nothing but the database. */
export const agentCalls = {
  get: getAgent,
  findNames: findAgentNames,
  lock: lockAgent,
  lockForShare: lockAgentForShare,
  lockMode: lockAgentMode,
  requireWorker,
  /** Agents with the content of the version that a run works with. */
  findPinned,
  getPinned,
  recordFirstRun,
  listMissing,
  freeze: freezeReference,
};
