import { z } from 'zod';
import { databaseNow, type Executor, type RawBuilder, sql } from '../../database/index.ts';
import type { Services } from '../../feature.ts';
import { id, jsonRoute, listPage, pageOf, pageQuery, type Route } from '../../http/index.ts';
import { isId } from '../../lib/ids.ts';
import { toEntries } from '../ledger/entries.ts';
import { flatCounts } from '../ledger/explain.ts';
import { counts, entry } from '../ledger/schemas.ts';
import { listLast, sumCounts } from '../ledger/store.ts';
import { reads } from '../routes.ts';
import { publicTrigger } from '../schemas.ts';
import { kinds } from '../settings.ts';
import { columns, isBlocked, type TriggerRow } from '../store.ts';
import type { View } from '../view.ts';

const states = ['enabled', 'paused', 'blocked'] as const;

const listQuery = pageQuery.extend({
  q: z
    .string()
    .max(200)
    .optional()
    .describe('Part of the name of the trigger or its agent, or the beginning of its id.'),
  agent_id: z.string().optional(),
  kind: z.enum(kinds).optional(),
  state: z.enum(states).optional().describe('`blocked`: enabled, but it can receive no events.'),
});

const listedTrigger = publicTrigger
  .extend({
    agent: z.object({ id, name: z.string() }),
    last: entry.nullable().describe('Its last event; null before the first.'),
    counts_24h: counts,
  })
  .meta({ id: 'ListedTrigger' });

type ListedRow = TriggerRow & { agent_name: string };

/** A part of a text, whatever characters of a pattern it has. */
const containing = (text: string): string => `%${text.replaceAll(/[\\%_]/g, '\\$&')}%`;

const conditionsOf = (
  { q, agent_id, kind, state, next }: z.output<typeof listQuery>,
  allowUnsigned: boolean,
): RawBuilder<unknown>[] => {
  const conditions: RawBuilder<unknown>[] = [];
  if (q) {
    const part = containing(q);
    conditions.push(
      sql`(t.name ilike ${part} or a.name ilike ${part} or starts_with(t.id::text, lower(${q})))`,
    );
  }
  if (agent_id !== undefined) conditions.push(isId(agent_id) ? sql`t.agent_id = ${agent_id}` : sql`false`);
  if (kind !== undefined) conditions.push(sql`t.kind = ${kind}`);
  if (state === 'paused') conditions.push(sql`not t.enabled`);
  if (state === 'enabled') conditions.push(sql`t.enabled and not ${isBlocked(allowUnsigned)}`);
  if (state === 'blocked') conditions.push(isBlocked(allowUnsigned));
  if (next !== null) conditions.push(sql`t.id < ${next}`);
  return conditions.length > 0 ? conditions : [sql`true`];
};

const day = 86_400_000;

/** The triggers of all agents. */
export const triggerListRoutes = (
  { db, settings }: Pick<Services, 'db' | 'settings'>,
  view: View,
): Route[] => {
  const list = async (executor: Executor, query: z.output<typeof listQuery>): Promise<ListedRow[]> => {
    const conditions = conditionsOf(query, settings.get().ALLOW_UNSIGNED_WEBHOOKS);
    const { rows } = await sql<ListedRow>`
      select ${columns}, a.name as agent_name from triggers t join agents a on a.id = t.agent_id
      where ${sql.join(conditions, sql` and `)} order by t.id desc limit ${query.limit + 1}`.execute(
      executor,
    );
    return rows;
  };
  const page = listPage(db, list);

  return [
    jsonRoute({
      ...reads,
      id: 'listAllTriggers',
      base: 'app',
      request: 'GET /triggers',
      summary: 'List the triggers of all agents',
      description: 'With their last events, and what came in the last 24 hours.',
      query: listQuery,
      cache: 'content',
      response: pageOf('ListedTriggerPage', listedTrigger),
      handler: async (context) => {
        const found = await page(context);
        const ids = found.data.map((row) => row.id);
        const kindOf = new Map(found.data.map((row) => [row.id, row.kind]));
        const { last, counted } = await db.run(async (executor) => {
          const now = await databaseNow(executor);
          const events = await listLast(executor, ids);
          return {
            last: await toEntries(
              executor,
              events.map((event) => ({ ...event, kind: kindOf.get(event.trigger_id)! })),
            ).then((entries) => new Map(entries.map((one, k) => [events[k]!.trigger_id, one]))),
            counted: await sumCounts(executor, ids, new Date(now - day), new Date(now + day)),
          };
        });
        const countsOf = Map.groupBy(counted, (count) => count.trigger_id);
        const shown = await view.toResponses(found.data);
        return {
          ...found,
          data: shown.map((trigger, k) => ({
            ...trigger,
            agent: { id: trigger.agent_id, name: found.data[k]!.agent_name },
            last: last.get(trigger.id) ?? null,
            counts_24h: flatCounts(countsOf.get(trigger.id) ?? []),
          })),
        };
      },
    }),
  ];
};
