import type { CallbackStore } from '../callbacks/index.ts';
import type { Database } from '../database/index.ts';
import { finder, jsonRoute, type Route } from '../http/index.ts';
import { changeDraft, deleteWorkItem, lockDraft, lockFinished, revisionOf } from './changes.ts';
import { changeBody, publicWorkItem, toWorkItemResponse } from './schemas.ts';
import { findWorkItemId } from './store.ts';
import { checkPayloadSize } from './work-items.ts';

/** Changing a draft and deleting a finished Work Item. */
export const changeRoutes = (db: Database, callbacks: CallbackStore): Route[] => {
  const find = finder(db, 'Work Item', 'work_item_id', findWorkItemId);
  return [
    jsonRoute({
      id: 'updateWorkItem',
      role: 'member',
      scope: 'work_items',
      base: 'v2',
      request: 'PATCH /work-items/{work_item_id}',
      summary: 'Update a draft',
      description:
        'Only a DRAFT can be changed. What is left out stays. `If-Match` with the ETag of the Work Item refuses to overwrite a change of someone else.',
      otherStatuses: [412],
      find,
      body: { schema: changeBody, precheck: (body) => checkPayloadSize(db, body.payload) },
      response: publicWorkItem,
      cache: 'revision',
      lock: (tx, { found, body, actor }) => lockDraft(tx, actor, callbacks, found.id, body),
      handler: ({ transaction, etag, actor }) =>
        transaction(async (tx, locked) => {
          const { item, shown } = await changeDraft(tx, actor, callbacks, locked);
          etag(revisionOf(item));
          return { ...toWorkItemResponse(item), callbacks: shown };
        }),
    }),
    jsonRoute({
      id: 'deleteWorkItem',
      role: 'builder',
      scope: 'work_items',
      base: 'v2',
      request: 'DELETE /work-items/{work_item_id}',
      summary: 'Delete a finished Work Item',
      description:
        'Only what is COMPLETED, ERROR or CANCELLED. Its messages, payload, result, steps, files, data frames and callbacks are gone at once. The ledger of its schedule and the audit log keep its id.',
      otherStatuses: [412],
      find,
      lock: (tx, { found }) => lockFinished(tx, found.id),
      handler: ({ transaction, actor }) => transaction((tx, { item }) => deleteWorkItem(tx, actor, item)),
    }),
  ];
};
