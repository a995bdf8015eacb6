import { z } from 'zod';
import type { CallbackStore } from '../callbacks/index.ts';
import type { Database } from '../database/index.ts';
import { jsonRoute, optional, type Route, validate } from '../http/index.ts';
import { ApiError, errorStatus } from '../lib/errors.ts';
import { isObject } from '../lib/objects.ts';
import { createBody, message, type NewWorkItemBody, publicWorkItem, toWorkItemResponse } from './schemas.ts';
import { actionNames } from './states.ts';
import { act, checkNewWorkItem, createAll, getWorkItem } from './work-items.ts';

const most = 100;

/** Checked one by one: a bad one does not fail the others. */
const items = z
  .custom<unknown[]>((value) => Array.isArray(value), 'expected an array')
  .refine((value) => value.length <= most, `must have at most ${most} items`)
  .meta({
    openapi: {
      type: 'array',
      items: { $ref: '#/components/schemas/CreateWorkItemBody' },
      maxItems: most,
    },
  });

const bulkBody = z.object({ items }).meta({ id: 'CreateWorkItemsBody' });

const actionsBody = z
  .object({
    action: z.enum(actionNames),
    ids: z.array(z.string()).max(most),
    message: optional(message).describe('Added to each conversation (continue).'),
  })
  .meta({ id: 'ActOnWorkItemsBody' });

const failure = z
  .looseObject({
    error_id: z.string(),
    code: z.enum(Object.keys(errorStatus) as [keyof typeof errorStatus]),
    message: z.string(),
    details: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
  })
  .describe('Why this one failed; the others did not.');

/** Outcome of one Work Item: the Work Item or the error. */
const outcome = { work_item: publicWorkItem.optional(), error: failure.optional() };

const createResults = z
  .object({ results: z.array(z.object({ index: z.int(), ...outcome })) })
  .meta({ id: 'CreateWorkItemsResult' });

const actionResults = z
  .object({ results: z.array(z.object({ id: z.string(), ...outcome })) })
  .meta({ id: 'ActOnWorkItemsResult' });

/** Returns the item as the body of a create, or the error that the create would respond with. */
const readItem = async (
  db: Database,
  item: unknown,
): Promise<{ body: NewWorkItemBody } | { error: unknown }> => {
  try {
    if (isObject(item)) await checkNewWorkItem(db, item);
    return { body: validate(createBody, item, 'body') };
  } catch (error) {
    return { error };
  }
};

export const bulkRoutes = (db: Database, callbacks: CallbackStore): Route[] => [
  jsonRoute({
    id: 'createWorkItems',
    role: 'member',
    scope: 'work_items',
    base: 'v2',
    request: 'POST /work-items/bulk',
    summary: 'Create Work Items',
    description:
      'At most 100; the results are in their order. One that is refused does not keep the others from being created.',
    body: { schema: bulkBody, partsField: 'items' },
    response: createResults,
    idempotent: true,
    handler: async ({ body, transaction, actor, failureOf }) => {
      const read: Awaited<ReturnType<typeof readItem>>[] = [];
      for (const item of body.items) read.push(await readItem(db, item));
      const bodies = read.flatMap((one) => ('body' in one ? one.body : []));
      return transaction(async (tx) => {
        const made = await createAll(tx, actor, callbacks, bodies);
        const results = read.map((one, index) => {
          if ('error' in one) return { index, error: failureOf(one.error) };
          const result = made.shift()!;
          return result instanceof ApiError
            ? { index, error: failureOf(result) }
            : { index, work_item: result };
        });
        return { results };
      });
    },
  }),
  jsonRoute({
    id: 'actOnWorkItems',
    role: 'member',
    scope: 'work_items',
    base: 'v2',
    request: 'POST /work-items/actions',
    summary: 'Act on Work Items',
    description:
      'At most 100, one after the other; the results are in their order. One whose status does not allow the action does not fail the others.',
    body: actionsBody,
    response: actionResults,
    handler: async ({ body: { action, ids, message }, actor, failureOf }) => {
      const words = action === 'continue' ? { message } : {};
      const results: z.input<typeof actionResults>['results'] = [];
      for (const id of ids) {
        try {
          const item = await db.tx(async (tx) => act(tx, await getWorkItem(tx, id), action, actor, words));
          results.push({ id, work_item: toWorkItemResponse(item) });
        } catch (error) {
          results.push({ id, error: failureOf(error) });
        }
      }
      return { results };
    },
  }),
];
