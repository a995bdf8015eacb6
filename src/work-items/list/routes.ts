import { z } from 'zod';
import type { Database, Executor } from '../../database/index.ts';
import {
  jsonRoute,
  limit,
  positionCursor,
  queryList,
  type Route,
  readPosition,
  sortedPage,
} from '../../http/index.ts';
import { unprocessable } from '../../lib/errors.ts';
import { isId } from '../../lib/ids.ts';
import { versionNeedsAgent } from '../schemas.ts';
import { hasOneAgent, searchQuery } from '../search/schemas.ts';
import {
  countByStatus,
  countNewer,
  type Position,
  type Sort,
  searchWorkItems,
  sorts,
} from '../search/search.ts';
import { statuses } from '../states.ts';
import { findWorkItem } from '../store.ts';
import { listedWorkItem, toListed } from './row-schema.ts';
import { findQueues, listRows } from './row-store.ts';

const reads = { role: 'member', scope: 'work_items:read', base: 'app' } as const;

const mostIds = 200;
const mostCounted = 10_000;
const mostNewer = 100;

const ids = queryList(z.string(), mostIds)
  .optional()
  .describe('Only those of these that also match the other filters; all of them in one page.');

const listQuery = searchQuery
  .extend({
    ids,
    sort: z
      .enum(sorts)
      .default('created')
      .describe(
        '`cost`: dearest first, which takes longer the more there are. `created`: newest first. `finished`: last finished first. `duration`: longest first. `waiting`: those that wait for a person, longest wait first. What has none of it follows at the end, newest first.',
      ),
    counts: z
      .enum(['0', '1'])
      .optional()
      .describe('1: also count, for each status, what the other filters match.'),
    limit,
    next: z.string().optional().describe('The `next` of the page before, unchanged.'),
  })
  .refine(hasOneAgent, versionNeedsAgent);

const counts = z
  .object(
    Object.fromEntries(statuses.map((status) => [status, z.int()])) as Record<
      (typeof statuses)[number],
      z.ZodInt
    >,
  )
  .meta({ id: 'WorkItemCounts' });

const page = z
  .object({
    data: z.array(listedWorkItem),
    has_more: z.boolean().describe('Whether there are more records.'),
    next: z.string().describe('Send it as `?next=` to get the next page; empty at the end.'),
    counts: counts
      .optional()
      .describe(
        `How many match in each status, whatever \`status\` says: counted up to ${mostCounted.toLocaleString('en')}.`,
      ),
  })
  .meta({ id: 'ListedWorkItemPage' });

/** Returns the position at which the page of `next` begins; null: at the beginning. */
const readNext = (next: string | undefined, sort: Sort): Position | null => {
  const values = readPosition(next, sort, ['time', 'time', 'id']);
  if (!values) return null;
  const [part, key, id] = values;
  if ((part === 0 || part === 1) && key !== null) return { sort, part, key, id };
  throw unprocessable([{ path: 'next', message: 'is not the `next` of an earlier page of this list' }]);
};

const cursorOf = ({ sort, part, key, id }: Position): string => positionCursor(sort, [part, key, id]);

/** The rows with these ids, as a list shows them. */
const readRows = async (executor: Executor, found: readonly string[]) => {
  const rows = await listRows(executor, found);
  const queues = await findQueues(executor, rows);
  return rows.map((row) => toListed(row, queues.get(row.id) ?? null));
};

/** Work Items with the names of what they refer to, and why they wait. */
export const workItemListRoutes = (db: Database): Route[] => [
  jsonRoute({
    ...reads,
    id: 'searchWorkItems',
    request: 'GET /work-items',
    summary: 'Search Work Items',
    description:
      'Without message, payload and result. Unless it is sorted by cost, the time that it takes does not depend on how many there are.',
    query: listQuery,
    cache: 'content',
    response: page,
    handler: async ({ query: { sort, next, limit, counts, ...search } }) => {
      const after = readNext(next, sort);
      const shown = search.ids ? mostIds : limit;
      return db.run(async (executor) => {
        const found = await searchWorkItems(executor, search, { sort, after, limit: shown + 1 });
        const { data, ...more } = sortedPage(found, shown, cursorOf, ({ id }) => id);
        return {
          data: await readRows(executor, data),
          ...more,
          ...(counts === '1' && { counts: await countByStatus(executor, search, mostCounted) }),
        };
      });
    },
  }),
  jsonRoute({
    ...reads,
    id: 'countNewerWorkItems',
    request: 'GET /work-items/newer',
    summary: 'Count newer Work Items',
    description: 'How many that match the filters were created after the first one of a list.',
    query: searchQuery
      .extend({ than: z.string().describe('The id of the newest Work Item that is known.') })
      .refine(hasOneAgent, versionNeedsAgent),
    otherStatuses: [400],
    cache: 'content',
    response: z
      .object({
        count: z.int().describe(`At most ${mostNewer}.`),
        more: z.boolean().describe(`There are more than ${mostNewer}.`),
      })
      .meta({ id: 'NewerWorkItems' }),
    handler: async ({ query: { than, ...search } }) => {
      const known = isId(than) ? await db.run((executor) => findWorkItem(executor, than)) : undefined;
      if (!known) throw unprocessable([{ path: 'than', message: 'is not a Work Item' }]);
      const n = await db.run((executor) => countNewer(executor, search, known, mostNewer + 1));
      return { count: Math.min(n, mostNewer), more: n > mostNewer };
    },
  }),
];
