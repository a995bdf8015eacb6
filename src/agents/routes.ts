import { z } from 'zod';
import type { Database } from '../database/index.ts';
import { finder, id, listPage, pageOf, pageQuery, type Route, route, timestamp } from '../http/index.ts';
import { type AgentHooks, checkWorkerFields, createAgent, deleteAgent, updateAgent } from './agents.ts';
import { fields } from './fields.ts';
import { agents, findAgent, listAgents } from './store.ts';

const publicAgent = z
  .object({ id, ...agents.shown, created_at: timestamp, updated_at: timestamp })
  .meta({ id: 'PublicAgent' });

const createBody = z.object(agents.create).meta({ id: 'CreateAgentBody' });
const updateBody = z.object(agents.patch).meta({ id: 'UpdateAgentBody' });

/** Agents in a workspace document. */
export const form = {
  fields,
  body: createBody,
  patch: updateBody,
  secrets: ['callbacks.*.secret', 'callbacks.*.headers.*'],
};

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
      handler: ({ body, transaction, etag, actor }) =>
        transaction(async (tx) => {
          const agent = await createAgent(tx, actor, hooks, body);
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
      description:
        'A lower `approval_role`, `approver_not_requester` false, a looser tool policy, and a tool server with tools that no one has to approve require the present approval role of the agent (403).',
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
