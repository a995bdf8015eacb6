import type { Database, Tx } from '../database/index.ts';
import { type JsonContext, jsonRoute, type Route } from '../http/index.ts';
import { pauseTrigger, resumeTrigger, rotateSecret } from './pauses.ts';
import { createdTrigger, definition, pauseBody, publicTrigger, rotateBody, triggerPage } from './schemas.ts';
import { listTriggers, type TriggerRow } from './store.ts';
import {
  checkDefinition,
  checkReplacement,
  createTrigger,
  deleteTrigger,
  getTrigger,
  getWorker,
  lockToDelete,
  lockTrigger,
  newSettings,
  replaceTrigger,
  type TriggerParts,
} from './triggers.ts';
import type { View } from './view.ts';

export const reads = { role: 'member', scope: 'triggers:read' } as const;
export const writes = { role: 'builder', scope: 'triggers' } as const;

export const path = '/agents/{agent_id}/triggers';
export const onePath = `${path}/{trigger_id}`;

type Params = { params: Record<string, string> };

export const workerFinder =
  (db: Database) =>
  ({ params }: Params) =>
    db.run((executor) => getWorker(executor, params.agent_id!));

export const triggerFinder =
  (db: Database) =>
  ({ params }: Params): Promise<TriggerRow> =>
    db.run((executor) => getTrigger(executor, params.agent_id!, params.trigger_id!));

const lock = (tx: Tx, { found }: { found: TriggerRow }): Promise<TriggerRow> => lockTrigger(tx, found.id);

export const triggerRoutes = (db: Database, parts: TriggerParts, view: View): Route[] => {
  const { store } = parts;
  const findWorker = workerFinder(db);
  const find = triggerFinder(db);

  /** Changes the locked trigger, and returns it with the secret that was generated. */
  const change = async (
    { transaction, etag }: Pick<JsonContext<unknown, unknown, unknown, TriggerRow>, 'transaction' | 'etag'>,
    rule: (tx: Tx, before: TriggerRow) => Promise<TriggerRow>,
  ) => {
    const row = await transaction(rule);
    etag(row.revision);
    return view.toResponse(row);
  };

  return [
    jsonRoute({
      ...reads,
      id: 'listTriggers',
      base: 'v2',
      request: `GET ${path}`,
      summary: 'List triggers',
      description: 'All triggers of a Worker agent, in one page.',
      otherStatuses: [400],
      find: findWorker,
      response: triggerPage,
      handler: async ({ found }) => ({
        data: await view.toResponses(await db.run((executor) => listTriggers(executor, found.id))),
        has_more: false,
        next: '',
      }),
    }),
    jsonRoute({
      ...writes,
      id: 'createTrigger',
      base: 'v2',
      request: `POST ${path}`,
      summary: 'Create a trigger',
      description: 'A secret that is generated is in this response alone.',
      find: findWorker,
      body: definition,
      response: createdTrigger,
      idempotent: true,
      cache: 'revision',
      handler: ({ params, body, transaction, etag, actor }) =>
        transaction(async (tx) => {
          const { configured } = newSettings(body);
          checkDefinition(body, configured.kind === 'webhook' ? configured.settings.secret : null);
          const { row, generated } = await createTrigger(tx, actor, parts, params.agent_id!, body);
          etag(row.revision);
          return { ...view.toNewResponse(row), ...(generated !== null && { secret: generated }) };
        }),
    }),
    jsonRoute({
      ...reads,
      id: 'getTrigger',
      base: 'v2',
      request: `GET ${onePath}`,
      summary: 'Get a trigger',
      otherStatuses: [400],
      find,
      response: publicTrigger,
      cache: 'revision',
      handler: async ({ found, etag }) => {
        etag(found.revision);
        return view.toResponse(found);
      },
    }),
    jsonRoute({
      ...writes,
      id: 'replaceTrigger',
      base: 'v2',
      request: `PUT ${onePath}`,
      summary: 'Replace a trigger',
      description:
        'Optional fields that are left out go back to their defaults. `enabled` and the secret stay. Kind, scheme, connection, stream, topic and the names of consumers never change.',
      otherStatuses: [400],
      find,
      body: definition,
      response: publicTrigger,
      cache: 'revision',
      lock: async (tx, { found, body }) => {
        const before = await lockTrigger(tx, found.id);
        checkReplacement(store, before, body);
        return before;
      },
      handler: (context) =>
        change(context, (tx, before) => {
          const { enabled: _, ...body } = context.body;
          return replaceTrigger(tx, context.actor, parts, before, body);
        }),
    }),
    jsonRoute({
      ...writes,
      id: 'deleteTrigger',
      base: 'v2',
      request: `DELETE ${onePath}`,
      summary: 'Delete a trigger',
      description: 'Its Work Items remain, and its events are deleted later. 412 while a trigger watches it.',
      otherStatuses: [400, 412],
      find,
      lock: (tx, { found }) => lockToDelete(tx, found.id),
      handler: ({ transaction, actor }) => transaction((tx, row) => deleteTrigger(tx, actor, row)),
    }),
    jsonRoute({
      ...writes,
      id: 'pauseTrigger',
      base: 'v2',
      request: `POST ${onePath}/pause`,
      summary: 'Pause a trigger',
      description:
        'Webhooks and changes of Work Items are recorded, and can be redelivered. Brokers are not read: their messages wait.',
      find,
      body: { schema: pauseBody, optional: true },
      response: publicTrigger,
      cache: 'revision',
      lock,
      handler: (context) =>
        change(context, (tx, before) =>
          pauseTrigger(tx, context.actor, store, before, context.body.reason ?? undefined),
        ),
    }),
    jsonRoute({
      ...writes,
      id: 'resumeTrigger',
      base: 'v2',
      request: `POST ${onePath}/resume`,
      summary: 'Resume a trigger',
      otherStatuses: [400],
      find,
      response: publicTrigger,
      cache: 'revision',
      lock,
      handler: (context) => change(context, (tx, before) => resumeTrigger(tx, context.actor, store, before)),
    }),
    jsonRoute({
      ...writes,
      id: 'rotateTriggerSecret',
      base: 'v2',
      request: `POST ${onePath}/rotate-secret`,
      summary: "Rotate a trigger's secret",
      description:
        'Both secrets are valid in the overlap. Another rotation ends the older one; an overlap of 0 ends the present one at once.',
      otherStatuses: [412],
      find,
      body: { schema: rotateBody, optional: true },
      response: createdTrigger,
      cache: 'revision',
      lock,
      handler: async ({ transaction, etag, actor, body }) => {
        const { row, generated } = await transaction((tx, before) =>
          rotateSecret(tx, actor, store, before, body),
        );
        etag(row.revision);
        return { ...(await view.toResponse(row)), ...(generated !== null && { secret: generated }) };
      },
    }),
  ];
};
