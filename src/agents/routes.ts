import { z } from 'zod';
import { changedCallbacks, newCallbacks, publicCallback } from '../callbacks/index.ts';
import type { Database } from '../database/index.ts';
import {
  finder,
  id,
  idList,
  jsonObject,
  listPage,
  optional,
  pageOf,
  pageQuery,
  type Route,
  route,
  text,
  timestamp,
} from '../http/index.ts';
import {
  type AgentHooks,
  checkWorkerFields,
  createAgent,
  defaultAgentSettings,
  deleteAgent,
  mergeSettings,
  updateAgent,
} from './agents.ts';
import {
  approvalRole,
  fallbackLlmIds,
  resultSchema,
  runtimeSettings,
  toolPolicies,
  toolPolicy,
} from './runtime-fields.ts';
import { findAgent, listAgents } from './store.ts';

const mode = z.enum(['worker', 'conversational']);

const execution = z
  .enum(['platform', 'external'])
  .describe(
    'Who executes its Work Items: the platform, or external workers that claim them. Worker agents only.',
  );

const settingSchemas = {
  max_concurrency: z
    .int()
    .min(1)
    .max(1_000)
    .describe('How many Work Items of the agent may execute at once.'),
  max_attempts: z.int().min(1).max(100).describe('How many attempts one Work Item has.'),
  timeout_seconds: z.int().min(1).max(86_400).describe('How many seconds one attempt may take.'),
  max_steps: z.int().min(1).max(1_000).describe('How many model calls one attempt may make.'),
  ...runtimeSettings,
};

const publicAgent = z
  .object({
    id,
    name: z.string(),
    description: z.string().nullable(),
    mode,
    instructions: z.string(),
    llm_id: id.nullable(),
    model: z.string().nullable(),
    fallback_llm_ids: z.array(id),
    tool_server_ids: z.array(id),
    tool_policies: z.array(toolPolicy),
    semantic_data_model_ids: z.array(id),
    execution,
    result_schema: jsonObject.nullable().describe('JSON Schema of the results of its Work Items.'),
    approval_role: approvalRole,
    callbacks: z.array(publicCallback).describe('Who is notified of each of its Work Items.'),
    settings: z.object(settingSchemas),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: 'PublicAgent' });

/** A set: an id that is given twice is stored once. */
const ids = idList.transform((list) => [...new Set(list)]);
const name = text(200, 1);
const instructions = text(100_000);
const description = text(10_000);
const model = text(200, 1);

export const createBody = z
  .object({
    name,
    description: optional(description, null),
    mode,
    instructions: optional(instructions, ''),
    llm_id: optional(id, null),
    model: optional(model, null),
    fallback_llm_ids: optional(fallbackLlmIds, []),
    tool_server_ids: optional(ids, []),
    tool_policies: optional(toolPolicies, []),
    semantic_data_model_ids: optional(ids, []),
    execution: optional(execution, 'platform' as const),
    result_schema: optional(resultSchema, null),
    approval_role: optional(approvalRole, null),
    callbacks: optional(newCallbacks, []).describe('Who is notified of each of its Work Items.'),
    settings: optional(
      z.object({
        max_concurrency: optional(settingSchemas.max_concurrency),
        max_attempts: optional(settingSchemas.max_attempts),
        timeout_seconds: optional(settingSchemas.timeout_seconds),
        max_steps: optional(settingSchemas.max_steps),
        max_tokens: optional(settingSchemas.max_tokens),
        max_output_tokens: optional(settingSchemas.max_output_tokens),
        tool_concurrency: optional(settingSchemas.tool_concurrency),
        builtin_tools: optional(settingSchemas.builtin_tools),
      }),
      {},
    ),
  })
  .meta({ id: 'CreateAgentBody' });

const updateBody = z
  .object({
    name: name.optional(),
    description: description.nullable().optional(),
    mode: mode.optional().describe('Cannot be changed. Another mode than the current one is refused.'),
    instructions: instructions.optional(),
    llm_id: id.nullable().optional(),
    model: model.nullable().optional(),
    fallback_llm_ids: fallbackLlmIds.optional(),
    tool_server_ids: ids.optional(),
    tool_policies: toolPolicies.optional(),
    semantic_data_model_ids: ids.optional(),
    execution: execution.optional(),
    result_schema: resultSchema.nullable().optional(),
    approval_role: approvalRole.nullable().optional().describe('null resets it to its default.'),
    callbacks: changedCallbacks
      .optional()
      .describe('Replaces all. What was recorded for those before is still delivered to them.'),
    settings: z
      .object({
        max_concurrency: settingSchemas.max_concurrency.nullable().optional(),
        max_attempts: settingSchemas.max_attempts.nullable().optional(),
        timeout_seconds: settingSchemas.timeout_seconds.nullable().optional(),
        max_steps: settingSchemas.max_steps.nullable().optional(),
        max_tokens: settingSchemas.max_tokens.optional(),
        max_output_tokens: settingSchemas.max_output_tokens.optional(),
        tool_concurrency: settingSchemas.tool_concurrency.nullable().optional(),
        builtin_tools: settingSchemas.builtin_tools.nullable().optional(),
      })
      .optional()
      .describe('Merged key by key; null resets a key to its default.'),
  })
  .meta({ id: 'UpdateAgentBody' });

export const agentRoutes = (db: Database, hooks: AgentHooks): Route[] => {
  const find = finder(db, 'agent', 'agent_id', findAgent);
  return [
    route({
      id: 'listAgents',
      role: 'member',
      scope: 'agents:read',
      method: 'GET',
      path: '/agents',
      summary: 'List agents',
      query: pageQuery,
      response: pageOf('AgentPage', publicAgent),
      handler: listPage(db, listAgents),
    }),
    route({
      id: 'createAgent',
      role: 'builder',
      scope: 'agents',
      method: 'POST',
      path: '/agents',
      summary: 'Create an agent',
      checkBody: ({ mode, ...fields }) => checkWorkerFields(mode, fields),
      body: createBody,
      response: publicAgent,
      idempotent: true,
      etag: true,
      handler: ({ body: { settings, ...fields }, transaction, etag, actor }) =>
        transaction(async (tx) => {
          const all = { ...fields, settings: mergeSettings(defaultAgentSettings, settings) };
          const agent = await createAgent(tx, actor, hooks, all);
          etag(agent.revision);
          return agent;
        }),
    }),
    route({
      id: 'getAgent',
      role: 'member',
      scope: 'agents:read',
      method: 'GET',
      path: '/agents/{agent_id}',
      summary: 'Get an agent',
      find,
      response: publicAgent,
      etag: true,
      handler: async ({ found, etag }) => {
        etag(found.revision);
        return found;
      },
    }),
    route({
      id: 'updateAgent',
      role: 'builder',
      scope: 'agents',
      method: 'PATCH',
      path: '/agents/{agent_id}',
      summary: 'Update an agent',
      find,
      body: updateBody,
      response: publicAgent,
      etag: true,
      handler: ({ found, body, transaction, ifMatch, etag, actor }) =>
        transaction(async (tx) => {
          const agent = await updateAgent(tx, actor, hooks, found.id, body, ifMatch);
          etag(agent.revision);
          return agent;
        }),
    }),
    route({
      id: 'deleteAgent',
      role: 'builder',
      scope: 'agents',
      method: 'DELETE',
      path: '/agents/{agent_id}',
      summary: 'Delete an agent',
      description:
        'Its schedules and scopes are deleted as well. Its Work Items remain; open ones are cancelled.',
      find,
      status: 204,
      etag: true,
      handler: ({ found, transaction, ifMatch, actor }) =>
        transaction((tx) => deleteAgent(tx, actor, hooks, found.id, ifMatch)),
    }),
  ];
};
