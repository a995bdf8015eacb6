import type { z } from 'zod';
import { type Database, databaseNow, type Executor } from '../../database/index.ts';
import { finder, jsonRoute, positionCursor, type Route, readPosition, sortedPage } from '../../http/index.ts';
import { toListed } from './listed.ts';
import { listedPage, listQuery, scheduleDetail } from './schemas.ts';
import {
  type After,
  countMatching,
  countOnTime,
  type DetailRow,
  findDetail,
  type ListedRow,
  listSchedules,
  type Sort,
} from './store.ts';

const reads = { role: 'member', scope: 'schedules:read', base: 'app' } as const;

const sortValueOf = (sort: Sort, row: ListedRow): string | number | null => {
  if (sort === 'name') return row.sort_name;
  return (sort === 'next' ? row.next_run_at : row.last_run_at)?.getTime() ?? null;
};

const readAfter = (sort: Sort, next: string | undefined): After | null => {
  const position = readPosition(next, sort, [sort === 'name' ? 'text' : 'time', 'id']);
  return position && { value: position[0], id: position[1] };
};

const listPage = async (
  executor: Executor,
  { sort, limit, next, ids, ...given }: z.output<typeof listQuery>,
): Promise<z.input<typeof listedPage>> => {
  const filter = { ...given, ids: ids?.split(',') };
  const after = readAfter(sort, next);
  const rows = await listSchedules(executor, filter, { sort, after, limit: limit + 1 });
  const page = sortedPage(
    rows,
    limit,
    (row) => positionCursor(sort, [sortValueOf(sort, row), row.id]),
    (row) => row,
  );
  return {
    ...page,
    data: await toListed(executor, page.data),
    total: await countMatching(executor, filter),
  };
};

const upcomingInDetail = 10;
const month = 30 * 86_400_000;

const detailOf = async (executor: Executor, row: DetailRow): Promise<z.input<typeof scheduleDetail>> => {
  const { agent_id, message, payload, metadata, ...listed } = row;
  const [schedule] = await toListed(executor, [{ ...listed, agent_id }], upcomingInDetail);
  const from = new Date((await databaseNow(executor)) - month);
  const punctuality = { from, ...(await countOnTime(executor, row.id, from)) };
  return { ...schedule!, agent_id, message, payload, metadata, punctuality };
};

/** The schedules of all agents. */
export const scheduleListRoutes = (db: Database): Route[] => {
  const find = finder(db, 'schedule', 'schedule_id', findDetail);
  return [
    jsonRoute({
      ...reads,
      id: 'listAllSchedules',
      request: 'GET /schedules',
      summary: 'List the schedules of all agents',
      description:
        'With what became of their last occurrences and when they are due next, without their messages.',
      otherStatuses: [400],
      query: listQuery,
      cache: 'content',
      response: listedPage,
      handler: ({ query }) => db.run((executor) => listPage(executor, query)),
    }),
    jsonRoute({
      ...reads,
      id: 'findSchedule',
      request: 'GET /schedules/{schedule_id}',
      summary: 'Get a schedule of any agent',
      otherStatuses: [400],
      find,
      response: scheduleDetail,
      cache: 'revision',
      handler: async ({ found, etag }) => {
        etag(found.revision);
        return db.run((executor) => detailOf(executor, found));
      },
    }),
  ];
};
