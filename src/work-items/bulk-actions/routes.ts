import { z } from 'zod';
import type { Database } from '../../database/index.ts';
import { finder, jsonRoute, optional, type Route, timestamp } from '../../http/index.ts';
import { badRequest, unprocessable } from '../../lib/errors.ts';
import type { Logger } from '../../lib/log.ts';
import { message } from '../schemas.ts';
import { searchBody } from '../search/schemas.ts';
import { actionNames, statuses } from '../states.ts';
import {
  cancelBulkAction,
  carryOn,
  createBulkAction,
  foresee,
  mostAtOnce,
  mostMatched,
  type Selection,
} from './bulk-actions.ts';
import { type BulkAction, findBulkAction, type Refused } from './store.ts';

const mostIds = 1_000;
const path = '/work-items/actions';

const bulkBody = z
  .object({
    action: z.enum(actionNames),
    ids: optional(z.array(z.string()).min(1).max(mostIds)).describe('These Work Items.'),
    filter: optional(searchBody).describe(
      `All Work Items that match it, at most ${mostMatched.toLocaleString('en')}.`,
    ),
    expected_count: optional(z.int().min(0)).describe(
      'How many match, as the caller has seen it: with another number nothing is done. Required with `filter`, unless `dry_run`.',
    ),
    message: optional(message).describe('Added to each conversation (continue).'),
    dry_run: optional(z.boolean(), false).describe('Only say what would be done.'),
  })
  .meta({ id: 'BulkActionBody' });

const bulkAction = z
  .object({
    bulk_id: z.string().nullable().describe('null of a dry run.'),
    action: z.enum(actionNames),
    state: z.enum(['dry_run', 'running', 'finished', 'cancelled']),
    matched: z.int().describe('How many Work Items were asked for.'),
    would_change: z
      .int()
      .nullable()
      .describe('How many allow the action at present (`dry_run`); null otherwise.'),
    done: z.int(),
    refused: z
      .array(
        z.object({
          status: z.enum(statuses).nullable().describe('null: there is no such Work Item.'),
          count: z.int(),
        }),
      )
      .describe('How many do not allow the action, by their status.'),
    failed: z
      .int()
      .describe('How many could not be changed for another reason, which the log of the server has.'),
    created_at: timestamp.nullable(),
    cancel_requested_at: timestamp.nullable(),
    finished_at: timestamp.nullable(),
  })
  .meta({ id: 'BulkAction' });

const refusedList = (refused: Refused) =>
  Object.entries(refused).map(([status, count]) => ({
    status: status === 'GONE' ? null : (status as (typeof statuses)[number]),
    count,
  }));

const stateOf = ({ finished_at, cancel_requested_at }: BulkAction) => {
  if (finished_at === null) return 'running';
  return cancel_requested_at === null ? 'finished' : 'cancelled';
};

const toResponse = (bulk: BulkAction): z.input<typeof bulkAction> => ({
  ...bulk,
  bulk_id: bulk.id,
  state: stateOf(bulk),
  would_change: null,
  refused: refusedList(bulk.refused),
});

/** Throws 400 and 422 unless the body says which Work Items, in one way. */
const selectionOf = ({ ids, filter, expected_count, dry_run }: z.output<typeof bulkBody>): Selection => {
  if (ids && filter) throw unprocessable([{ path: 'filter', message: 'cannot be given with `ids`' }]);
  if (ids) return { ids };
  if (!filter) throw badRequest('ids or filter: one of them is required.');
  if (expected_count === undefined && !dry_run) {
    throw badRequest('expected_count: is required with `filter`. A dry run says how many match.');
  }
  return { filter };
};

export const bulkActionRoutes = (db: Database, log: Logger): Route[] => {
  const find = finder(db, 'bulk action', 'bulk_id', findBulkAction);
  const read = async (id: string): Promise<z.input<typeof bulkAction>> =>
    toResponse((await db.run((executor) => findBulkAction(executor, id)))!);
  return [
    jsonRoute({
      id: 'startBulkAction',
      role: 'member',
      scope: 'work_items',
      base: 'app',
      request: `POST ${path}`,
      summary: 'Act on many Work Items',
      description: `Up to ${mostAtOnce} are done before the response; of more, the response is 202 and the rest follows, also if the server is stopped in the meantime. Each Work Item whose status allows it is changed, whatever becomes of the others. A repeated request with the same \`Idempotency-Key\` gets the bulk action as it was when it began.`,
      body: bulkBody,
      response: { 200: bulkAction, 202: bulkAction },
      idempotent: true,
      otherStatuses: [412],
      handler: async ({ body, actor, transaction, accepted }) => {
        const { action, message, dry_run, expected_count: expected } = body;
        const selection = selectionOf(body);
        if (dry_run) {
          const foreseen = await db.run((executor) =>
            foresee(executor, selection, action, message, expected),
          );
          return {
            ...foreseen,
            refused: refusedList(foreseen.refused),
            bulk_id: null,
            action,
            state: 'dry_run' as const,
            done: 0,
            failed: 0,
            created_at: null,
            cancel_requested_at: null,
            finished_at: null,
          };
        }
        const made = await transaction(async (tx) => {
          const { id, matched } = await createBulkAction(tx, actor, selection, { action, message, expected });
          if (matched > mostAtOnce) accepted();
          return toResponse((await findBulkAction(tx, id))!);
        });
        const id = made.bulk_id!;
        if (made.matched <= mostAtOnce) while (await carryOn(db, log, id));
        return read(id);
      },
    }),
    jsonRoute({
      id: 'getBulkAction',
      role: 'member',
      scope: 'work_items:read',
      base: 'app',
      request: `GET ${path}/{bulk_id}`,
      summary: 'Get a bulk action',
      description: 'How far it has come. It is kept for a week.',
      find,
      cache: 'content',
      response: bulkAction,
      handler: async ({ found }) => toResponse(found),
    }),
    jsonRoute({
      id: 'cancelBulkAction',
      role: 'member',
      scope: 'work_items',
      base: 'app',
      request: `POST ${path}/{bulk_id}/cancel`,
      summary: 'Cancel a bulk action',
      description: 'It stops within a moment. What is done stays.',
      find,
      response: bulkAction,
      otherStatuses: [412],
      handler: async ({ found, actor, transaction }) => {
        await transaction((tx) => cancelBulkAction(tx, actor, found));
        return read(found.id);
      },
    }),
  ];
};
