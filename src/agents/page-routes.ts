import { z } from 'zod';
import { recentCostField } from '../charges/index.ts';
import type { Database } from '../database/index.ts';
import {
  finder,
  id,
  jsonRoute,
  listPage,
  pageOf,
  pageQuery,
  type Route,
  text,
  timestamp,
} from '../http/index.ts';
import { mayCall, type Principal } from '../lib/principal.ts';
import {
  type AgentSummaryRow,
  findAgentFacts,
  findAgentSummary,
  listAgentSummaries,
  listNames,
  listScopedIntegrations,
} from './page-store.ts';

const reads = { role: 'member', scope: 'agents:read', base: 'app' } as const;

const mode = z.enum(['worker', 'conversational']);
/** Counts end at 1,000. */
const count = z.int();

const agentSummary = z
  .object({
    id,
    name: z.string(),
    description: z.string().nullable().describe('The first 500 characters.'),
    mode,
    execution: z.enum(['platform', 'external']),
    llm: z
      .object({
        id,
        name: z.string(),
        model: z.string().describe('The model that the agent uses: its own, or that of the configuration.'),
        is_default: z.boolean().describe('Whether the agent names none, so that it uses the default.'),
      })
      .meta({ id: 'AgentLlm' })
      .nullable()
      .describe('Null for members, who may not read LLM configurations.'),
    open: z
      .object({
        DRAFT: count,
        PENDING: count,
        EXECUTING: count,
        NEEDS_REVIEW: count,
        INDETERMINATE: count,
      })
      .meta({ id: 'OpenWorkItems' })
      .describe('Its Work Items that are not finished, by status: each at most 1,000.'),
    done_24h: count.describe('Its Work Items that were completed in the last 24 hours, at most 1,000.'),
    failed_24h: count.describe('Its Work Items that ended in ERROR in the last 24 hours, at most 1,000.'),
    schedules: z
      .object({
        total: z.int(),
        enabled: z.int(),
        next_run_at: timestamp.nullable().describe('The next run of all of them; null if none is planned.'),
      })
      .meta({ id: 'AgentSchedules' }),
    cost: recentCostField,
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: 'AgentSummary' });

const agentOverview = agentSummary
  .extend({
    last_span_at: timestamp
      .nullable()
      .describe(
        'When a span that names the agent last came in over OTLP, exact to a minute; null before the first. The spans of the platform itself do not count.',
      ),
    conversations: count.describe('At most 1,000.'),
    integrations: z
      .array(
        z
          .object({
            id,
            provider: z.string(),
            description: z.string().nullable(),
            is_enabled: z.boolean(),
            scope: z.enum(['global', 'agent']),
          })
          .meta({ id: 'AgentIntegration' }),
      )
      .nullable()
      .describe('The integrations that get its spans. Null for callers that may not read them.'),
  })
  .meta({ id: 'AgentOverview' });

const named = z.array(z.object({ id, name: z.string() }).meta({ id: 'Named' }));

const agentTools = z
  .object({
    tool_servers: named,
    semantic_data_models: named.nullable(),
  })
  .meta({ id: 'AgentTools' });

const toSummary = (row: AgentSummaryRow, principal: Principal) => ({
  ...row,
  llm: mayCall(principal, 'builder', 'llm:read')
    ? {
        id: row.llm_id,
        name: row.llm_name,
        model: row.model ?? row.llm_model,
        is_default: row.llm_is_default,
      }
    : null,
  open: {
    DRAFT: row.drafts,
    PENDING: row.pending,
    EXECUTING: row.executing,
    NEEDS_REVIEW: row.needs_review,
    INDETERMINATE: row.indeterminate,
  },
  done_24h: row.done,
  failed_24h: row.failed,
  schedules: { total: row.schedules, enabled: row.schedules_enabled, next_run_at: row.next_run_at },
});

/** Agents with what they do, for the pages of the application. */
export const agentPageRoutes = (db: Database): Route[] => {
  const find = finder(db, 'agent', 'agent_id', findAgentSummary);
  return [
    jsonRoute({
      ...reads,
      id: 'listAgentSummaries',
      request: 'GET /agents',
      summary: 'List agents with what they do',
      description:
        'Newest first, with their open Work Items, what ended in the last 24 hours, and their schedules.',
      query: pageQuery.extend({
        q: text(200).optional().describe('A part of the name, or the beginning of the id.'),
        mode: mode.optional(),
      }),
      cache: 'content',
      response: pageOf('AgentSummaryPage', agentSummary),
      handler: listPage(db, listAgentSummaries, (row, { principal }) => toSummary(row, principal)),
    }),
    jsonRoute({
      id: 'listAgentTools',
      role: 'builder',
      scope: 'agents:read',
      base: 'app',
      request: 'GET /agent-tools',
      summary: 'List what agents can be given',
      description:
        'Tool servers and semantic data models by name, at most 1,000 of each. Null for what the key may not read.',
      cache: 'content',
      response: agentTools,
      handler: ({ principal }) =>
        db.run(async (executor) => ({
          tool_servers: await listNames(executor, 'tool_servers'),
          semantic_data_models: mayCall(principal, 'builder', 'data:read')
            ? await listNames(executor, 'semantic_data_models')
            : null,
        })),
    }),
    jsonRoute({
      ...reads,
      id: 'getAgentOverview',
      request: 'GET /agents/{agent_id}/overview',
      summary: 'Get the overview of an agent',
      find,
      cache: 'content',
      response: agentOverview,
      handler: async ({ found, principal }) => {
        const integrations = mayCall(principal, 'admin', 'observability:read')
          ? await db.run((executor) => listScopedIntegrations(executor, found.id))
          : null;
        return {
          ...toSummary(found, principal),
          ...(await db.run((executor) => findAgentFacts(executor, found.id))),
          integrations:
            integrations?.map(({ global, ...row }) => ({
              ...row,
              scope: global ? ('global' as const) : ('agent' as const),
            })) ?? null,
        };
      },
    }),
  ];
};
