import type { Tx } from '../database/index.ts';
import { ApiError } from '../lib/errors.ts';
import { allowedActions } from './states.ts';
import { lockDraftForShare, lockFinishedForShare } from './store.ts';
import { getWorkItem } from './work-items.ts';

/** Locks a draft, so that it is not submitted before the transaction ends. Throws 404, and 412 if it is no draft. */
export const lockDraft = async (tx: Tx, id: string): Promise<void> => {
  if (await lockDraftForShare(tx, id)) return;
  const { status, agent_exists } = await getWorkItem(tx, id);
  throw new ApiError('precondition_failed', `The files of a Work Item that is ${status} cannot be changed.`, {
    status,
    allowed_actions: allowedActions(status, agent_exists),
  });
};

/**
 * Keeps a Work Item from being deleted before the transaction ends; throws 404 if it is gone. Only a finished one is ever
 * deleted, and only such a one is locked: a worker passes over a row that is locked.
 */
export const keepWorkItem = async (tx: Tx, id: string): Promise<void> => {
  if (await lockFinishedForShare(tx, id)) return;
  await getWorkItem(tx, id);
};
