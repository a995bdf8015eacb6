import { isDeepStrictEqual } from 'node:util';
import { audit } from '../audit/index.ts';
import { type CallbackStore, checkChangedCallbacks } from '../callbacks/index.ts';
import type { Tx } from '../database/index.ts';
import { ApiError, notFound, unprocessable } from '../lib/errors.ts';
import type { Actor } from '../lib/principal.ts';
import { recordEvents } from './history-store.ts';
import type { ChangeBody } from './schemas.ts';
import { readStart } from './start.ts';
import { allowedActions, finishedStatuses, type Status } from './states.ts';
import { deleteWorkItemRow, findLockedWorkItem, updateDraft, type WorkItem } from './store.ts';

/** Changes that people make to a Work Item besides moving it: they edit a draft and delete a finished one. */

/** The revision of a Work Item in its ETag. Every change of a status, and of a draft, gives it a later time. */
export const revisionOf = ({ updated_at }: Pick<WorkItem, 'updated_at'>): number => updated_at.getTime();

const lockWorkItem = async (tx: Tx, id: string): Promise<WorkItem> => {
  const item = await findLockedWorkItem(tx, id);
  if (!item) throw notFound('Work Item');
  return item;
};

const stateOf = ({ status, agent_exists }: WorkItem) => ({
  status,
  allowed_actions: allowedActions(status, agent_exists),
});

/** A locked Work Item; the 412 of another revision shows its state. */
const lockedOf = (item: WorkItem) => ({ item, revision: revisionOf(item), errorContext: stateOf(item) });

/** Locks a draft, and checks the body against it. Throws 412 if it is none any more, and 422 for a wrong body. */
export const lockDraft = async (
  tx: Tx,
  actor: Actor,
  store: CallbackStore,
  id: string,
  { agent_id, start_at, callbacks: wanted, ...body }: ChangeBody,
) => {
  const item = await lockWorkItem(tx, id);
  if (item.status !== 'DRAFT') {
    const message = `Only a DRAFT can be changed, and this Work Item is ${item.status}.`;
    throw new ApiError('precondition_failed', message, stateOf(item));
  }
  if (agent_id !== undefined && agent_id !== item.agent_id) {
    throw unprocessable([{ path: 'agent_id', message: 'cannot be changed; create another Work Item' }]);
  }
  const given = { ...body, ...(start_at === undefined ? {} : { start_at: await readStart(tx, start_at) }) };
  if (wanted) {
    const before = item.callbacks ?? [];
    checkChangedCallbacks(before, wanted);
    const refused = store.refusalOf(actor, wanted, before);
    if (refused) throw refused;
  }
  return { ...lockedOf(item), given, wanted };
};

/**
 * Changes a draft, which its history says. If nothing changes, nothing is written. `shown` are its callbacks as the
 * response shows them: with the secrets that were generated.
 */
export const changeDraft = async (
  tx: Tx,
  actor: Actor,
  store: CallbackStore,
  { item, given, wanted }: Awaited<ReturnType<typeof lockDraft>>,
) => {
  const { id } = item;
  const before = item.callbacks ?? [];
  const { stored, shown } = wanted
    ? await store.replace(tx, { workItemId: id }, before, wanted, actor)
    : { stored: before, shown: before };
  const next = { ...item, ...given, callbacks: stored.length > 0 ? stored : null };
  const changed = (['message', 'payload', 'work_item_name', 'start_at', 'callbacks'] as const).filter(
    (field) => !isDeepStrictEqual(item[field], next[field]),
  );
  if (changed.length === 0) return { item, shown };
  const after = await updateDraft(tx, next);
  const moved = [{ id, from: item.status, to: item.status, details: { changed } }];
  await recordEvents(tx, { action: 'update', principal: actor.principal, moved });
  await audit(tx, actor, 'work_item.update', id, { agent_id: item.agent_id, changed });
  return { item: after, shown };
};

const isFinished = (status: Status): boolean => (finishedStatuses as readonly Status[]).includes(status);

/** Locks a finished Work Item. Throws 412 if it is not finished. */
export const lockFinished = async (tx: Tx, id: string) => {
  const item = await lockWorkItem(tx, id);
  if (!isFinished(item.status)) {
    const message = `A Work Item that is ${item.status} cannot be deleted. Cancel it or let it finish first.`;
    throw new ApiError('precondition_failed', message, stateOf(item));
  }
  return lockedOf(item);
};

/**
 * Deletes a finished Work Item with all that it has. The ledger of its schedule and the audit log remain, which have its
 * id.
 */
export const deleteWorkItem = async (tx: Tx, actor: Actor, item: WorkItem): Promise<void> => {
  await deleteWorkItemRow(tx, item.id);
  const { id, agent_id, schedule_id, occurrence, status } = item;
  await audit(tx, actor, 'work_item.delete', id, {
    agent_id,
    status,
    ...(schedule_id === null ? {} : { schedule_id }),
    ...(occurrence === null ? {} : { scheduled_for: occurrence.toISOString() }),
  });
};
