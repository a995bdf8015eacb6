import { z } from 'zod';
import type { Database } from './database/index.ts';
import { type Route, route } from './http/index.ts';
import type { Observability } from './observability/index.ts';
import { findWorkItem, type WorkItem } from './work-items/index.ts';

const answer = z
  .object({
    trace_id: z
      .string()
      .nullable()
      .describe('32 hex digits; null before the Work Item was first carried out.'),
    links: z
      .array(
        z.object({
          integration_id: z.string(),
          description: z.string().nullable(),
          url: z.string().describe('Where the trace can be seen.'),
        }),
      )
      .describe('One for each integration that can build one.'),
  })
  .meta({ id: 'WorkItemTrace' });

/** Composed here, since Work Items know nothing of integrations nor these of Work Items. */
export const workItemTraceRoute = (db: Database, traceLinks: Observability['traceLinks']): Route =>
  route<WorkItem, z.ZodType<undefined>, z.ZodType<undefined>, typeof answer>({
    id: 'getWorkItemTrace',
    role: 'member',
    method: 'GET',
    base: 'v2',
    path: '/work-items/{work_item_id}/trace',
    summary: 'Where the trace of a Work Item can be seen',
    find: ({ params }) => db.run((executor) => findWorkItem(executor, params.work_item_id!)),
    response: answer,
    handler: async ({ found: { agent_id, trace_id } }) => ({
      trace_id,
      links: trace_id === null ? [] : await db.run((executor) => traceLinks(executor, agent_id, trace_id)),
    }),
  });
