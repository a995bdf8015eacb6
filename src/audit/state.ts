import type { Executor } from '../database/index.ts';
import { findNewestCheckpoint } from './checkpoint-store.ts';
import { type AuditFault, findFault } from './faults.ts';
import { findExtent } from './store.ts';

export interface ChainState {
  /** The positions of the first and the last entry; null if the chain is empty. */
  first_position: number | null;
  last_position: number | null;
  /** The number of entries that are not in the chain yet. */
  unchained: number;
  /** The newest checkpoint; null before the first. */
  checkpoint: { position: number; at: Date } | null;
  /** The fault that was found last; null if none is known. */
  fault: AuditFault | null;
}

/** Returns how the chain stands, without verifying it. */
export const findChainState = async (executor: Executor): Promise<ChainState> => {
  const newest = await findNewestCheckpoint(executor);
  return {
    ...(await findExtent(executor)),
    checkpoint: newest ? { position: newest.position, at: newest.at } : null,
    fault: await findFault(executor),
  };
};
