import { z } from 'zod';
import type { Database } from '../database/index.ts';
import { finder, jsonRoute, listPage, pageOf, pageQuery, type Route } from '../http/index.ts';
import {
  type AgentHooks,
  checkWorkerFields,
  createAgent,
  deleteAgent,
  lockAgent,
  lockToUpdate,
  updateAgent,
} from './agents.ts';
import { fields } from './fields.ts';
import { publicAgent, toResponse } from './responses.ts';
import { agents, findAgent, listAgents } from './store.ts';
import type { PublicationEnds } from './versions/ends.ts';
import { versionRoutes } from './versions/routes.ts';

const createBody = z.object(agents.create).meta({ id: 'CreateAgentBody' });
const updateBody = z.object(agents.patch).meta({ id: 'UpdateAgentBody' });

/** Agents in a workspace document. */
export const form = {
  fields,
  body: createBody,
  patch: updateBody,
  secrets: ['callbacks.*.secret', 'callbacks.*.headers.*'],
};

export const agentRoutes = (
  db: Database,
  hooks: AgentHooks,
  ends: Pick<PublicationEnds, 'watcher'>,
): Route[] => {
  const find = finder(db, 'agent', 'agent_id', findAgent);
  return [
    jsonRoute({
      id: 'listAgents',
      role: 'member',
      scope: 'agents:read',
      request: 'GET /agents',
      summary: 'List agents',
      query: pageQuery,
      response: pageOf('AgentPage', publicAgent),
      handler: listPage(db, async (executor, page) => {
        const rows = await listAgents(executor, page);
        return Promise.all(rows.map((agent) => toResponse(executor, agent)));
      }),
    }),
    jsonRoute({
      id: 'createAgent',
      role: 'builder',
      scope: 'agents',
      request: 'POST /agents',
      summary: 'Create an agent',
      body: { schema: createBody, precheck: ({ mode, ...fields }) => checkWorkerFields(mode, fields) },
      response: publicAgent,
      idempotent: true,
      cache: 'revision',
      handler: ({ body, transaction, etag, actor }) =>
        transaction(async (tx) => {
          const agent = await createAgent(tx, actor, hooks, body);
          etag(agent.revision);
          return toResponse(tx, agent);
        }),
    }),
    jsonRoute({
      id: 'getAgent',
      role: 'member',
      scope: 'agents:read',
      request: 'GET /agents/{agent_id}',
      summary: 'Get an agent',
      find,
      response: publicAgent,
      cache: 'revision',
      handler: async ({ found, etag }) => {
        etag(found.revision);
        return db.run((executor) => toResponse(executor, found));
      },
    }),
    jsonRoute({
      id: 'updateAgent',
      role: 'builder',
      scope: 'agents',
      request: 'PATCH /agents/{agent_id}',
      summary: 'Update an agent',
      description:
        'A lower `approval_role`, `approver_not_requester` false, a looser tool policy, and a tool server with tools that no one has to approve require the present approval role of the agent (403), and a change of `gate` the role admin.',
      find,
      body: updateBody,
      response: publicAgent,
      cache: 'revision',
      lock: (tx, { found, body, actor }) => lockToUpdate(tx, actor, hooks, found.id, body),
      handler: ({ body, transaction, etag, actor }) =>
        transaction(async (tx, before) => {
          const agent = await updateAgent(tx, actor, hooks, before, body);
          etag(agent.revision);
          return toResponse(tx, agent);
        }),
    }),
    jsonRoute({
      id: 'deleteAgent',
      role: 'builder',
      scope: 'agents',
      request: 'DELETE /agents/{agent_id}',
      summary: 'Delete an agent',
      description:
        'Its schedules and scopes are deleted as well. Its Work Items remain; open ones are cancelled.',
      find,
      lock: (tx, { found }) => lockAgent(tx, found.id, 'delete'),
      handler: ({ transaction, actor }) => transaction((tx, agent) => deleteAgent(tx, actor, hooks, agent)),
    }),
    ...versionRoutes(db, hooks, ends),
  ];
};
