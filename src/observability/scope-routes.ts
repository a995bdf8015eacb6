import { z } from 'zod';
import { jsonRoute, type Route } from '../http/index.ts';
import type { IntegrationParts } from './integration-routes.ts';
import { scope, scopeBody, scopeQuery } from './schemas.ts';
import { agentOf, createScope, deleteScope } from './scopes.ts';
import { listScopes } from './store.ts';

/** The agents that an integration applies to. */
export const scopeRoutes = (
  { db, integrations, changed }: IntegrationParts,
  integrationPath: string,
): Route[] => {
  const path = `${integrationPath}/scopes`;
  const { find } = integrations;
  return [
    jsonRoute({
      id: 'listObservabilityScopes',
      role: 'admin',
      scope: 'observability:read',
      request: `GET ${path}`,
      summary: 'List scopes',
      description: 'Returns whether the integration applies to all agents, or to which ones.',
      find,
      response: z.array(scope),
      handler: ({ found }) => db.run((executor) => listScopes(executor, found.id)),
    }),
    jsonRoute({
      id: 'createObservabilityScope',
      role: 'admin',
      scope: 'observability',
      request: `POST ${path}`,
      summary: 'Create a scope',
      description:
        'Applies the integration to all agents or to one. Returns the existing scope if there is one.',
      find,
      body: scopeBody,
      response: { 201: scope },
      idempotent: true,
      handler: async ({ found, body, transaction, actor }) => {
        const row = await transaction(async (tx) => {
          await integrations.lock(tx, found.id);
          return createScope(tx, actor, found.id, agentOf(body));
        });
        await changed();
        return row;
      },
    }),
    jsonRoute({
      id: 'deleteObservabilityScope',
      role: 'admin',
      scope: 'observability',
      request: `DELETE ${path}`,
      summary: 'Delete a scope',
      find,
      query: scopeQuery,
      otherStatuses: [400],
      handler: async ({ found, query, transaction, actor }) => {
        await transaction(async (tx) => {
          await integrations.lock(tx, found.id);
          await deleteScope(tx, actor, found.id, agentOf(query));
        });
        await changed();
      },
    }),
  ];
};
