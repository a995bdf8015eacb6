import { audit } from '../audit/index.ts';
import type { Database, Executor } from '../database/index.ts';
import { finder, jsonRoute, listPage, pageQuery, type Route } from '../http/index.ts';
import { ApiError, notFound } from '../lib/errors.ts';
import { isId } from '../lib/ids.ts';
import { deliveryPage, publicDelivery } from './schemas.ts';
import { listDeliveries, lockDelivery, restartDelivery } from './store.ts';

const path = '/work-items/{work_item_id}/callbacks';

/** Returns the Work Item whose deliveries are meant; undefined if there is none. */
export type FindWorkItem = (executor: Executor, id: string) => Promise<{ id: string } | undefined>;

export const callbackRoutes = (db: Database, findWorkItem: FindWorkItem): Route[] => {
  const find = finder(db, 'Work Item', 'work_item_id', findWorkItem);
  return [
    jsonRoute({
      id: 'listWorkItemCallbacks',
      role: 'member',
      scope: 'work_items:read',
      base: 'v2',
      request: `GET ${path}`,
      summary: 'List the callback deliveries of a Work Item',
      description: 'One for each change of its status and each callback that is notified of it.',
      find,
      query: pageQuery,
      response: deliveryPage,
      handler: listPage(db, (executor, page, { found }) => listDeliveries(executor, found.id, page)),
    }),
    jsonRoute({
      id: 'retryWorkItemCallback',
      role: 'member',
      scope: 'work_items',
      base: 'v2',
      request: `POST ${path}/{delivery_id}/retry`,
      summary: 'Retry a callback delivery',
      description: 'A delivery that has failed or is gone is sent at once, with all its attempts.',
      find,
      otherStatuses: [412],
      response: publicDelivery,
      handler: ({ found, params, transaction, actor }) =>
        transaction(async (tx) => {
          const id = params.delivery_id!;
          const delivery = isId(id) ? await lockDelivery(tx, found.id, id) : undefined;
          if (!delivery) throw notFound('callback delivery');
          const { state } = delivery;
          if (state === 'pending' || state === 'delivered') {
            const message =
              state === 'pending'
                ? 'This delivery is still being attempted. Retry it once it has failed.'
                : 'This delivery has arrived; only one that failed can be retried.';
            throw new ApiError('precondition_failed', message, { state });
          }
          await audit(tx, actor, 'callback_delivery.retry', id, { work_item_id: found.id });
          return restartDelivery(tx, id);
        }),
    }),
  ];
};
