import type { CallbackStore } from '../callbacks/index.ts';
import type { Database } from '../database/index.ts';
import { finder, type Route, route } from '../http/index.ts';
import { changeDraft, deleteWorkItem, revisionOf } from './changes.ts';
import { changeBody, publicWorkItem, toWorkItemResponse } from './schemas.ts';
import { findWorkItemId } from './store.ts';
import { checkPayloadSize } from './work-items.ts';

/** Changing a draft and deleting a finished Work Item. */
export const changeRoutes = (db: Database, callbacks: CallbackStore): Route[] => {
  const find = finder(db, 'Work Item', 'work_item_id', findWorkItemId);
  return [
    route({
      id: 'updateWorkItem',
      role: 'member',
      scope: 'work_items',
      method: 'PATCH',
      base: 'v2',
      path: '/work-items/{work_item_id}',
      summary: 'Update a draft',
      description:
        'Only a DRAFT can be changed. What is left out stays. `If-Match` with the ETag of the Work Item refuses to overwrite a change of someone else.',
      otherStatuses: [412],
      find,
      checkBody: (body) => checkPayloadSize(db, body.payload),
      body: changeBody,
      response: publicWorkItem,
      etag: true,
      handler: ({ found, body, transaction, ifMatch, etag, actor }) =>
        transaction(async (tx) => {
          const { item, shown } = await changeDraft(tx, actor, callbacks, found.id, body, ifMatch);
          etag(revisionOf(item));
          return { ...toWorkItemResponse(item), callbacks: shown };
        }),
    }),
    route({
      id: 'deleteWorkItem',
      role: 'builder',
      scope: 'work_items',
      method: 'DELETE',
      base: 'v2',
      path: '/work-items/{work_item_id}',
      summary: 'Delete a finished Work Item',
      description:
        'Only what is COMPLETED, ERROR or CANCELLED. Its messages, payload, result, steps, files, data frames and callbacks are gone at once. The ledger of its schedule and the audit log keep its id.',
      otherStatuses: [412],
      find,
      status: 204,
      etag: true,
      handler: ({ found, transaction, ifMatch, actor }) =>
        transaction((tx) => deleteWorkItem(tx, actor, found.id, ifMatch)),
    }),
  ];
};
