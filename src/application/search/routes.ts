import { z } from 'zod';
import type { Database } from '../../database/index.ts';
import { id, jsonRoute, type Route, text } from '../../http/index.ts';
import { kinds, search } from './search.ts';

const hit = z
  .object({
    kind: z.enum(kinds),
    id: z.string().describe('The id; the name of a setting.'),
    title: z.string(),
    detail: z.string().describe('What tells it from others with the same title.'),
    agent_id: id.nullable().describe('The agent of a schedule; null for others.'),
  })
  .meta({ id: 'SearchHit' });

export const searchRoutes = (db: Database): Route[] => [
  jsonRoute({
    id: 'search',
    role: 'member',
    scope: null,
    base: 'app',
    request: 'GET /search',
    summary: 'Search everything by name or id',
    description:
      'At most 5 of each kind that you may read. Names match anywhere, those of Work Items at their beginning; ids match at their beginning; API keys also by the first characters of their value.',
    otherStatuses: [400],
    query: z.object({
      q: text(200)
        .transform((q) => q.trim())
        .refine((q) => q !== '', 'must not be empty')
        .describe('A part of a name, or the beginning of an id.'),
    }),
    response: z.object({ data: z.array(hit) }).meta({ id: 'SearchResult' }),
    handler: async ({ query: { q }, principal }) => ({
      data: await db.run((executor) => search(executor, q, principal)),
    }),
  }),
];
