import { z } from 'zod';
import { type Route, route } from '../http/index.ts';
import { type IntegrationRouteParts, integrationPath, tag } from './routes.ts';
import { scope, scopeBody, scopeQuery } from './schemas.ts';
import { addScope, removeScope } from './scopes.ts';
import { listScopes } from './store.ts';

const path = `${integrationPath}/scopes`;

/** The agents that an integration applies to (description, 3.2 and 4.2). */
export const scopeRoutes = ({ db, integrations, changed }: IntegrationRouteParts): Route[] => {
  const find = ({ params }: { params: Record<string, string> }) => integrations.find(params.integration_id!);
  return [
    route({
      id: 'listObservabilityScopes',
      method: 'GET',
      path,
      tag,
      summary: 'The scopes of an integration',
      find,
      response: z.array(scope),
      handler: ({ found }) => db.run((executor) => listScopes(executor, found.id)),
    }),
    route({
      id: 'createObservabilityScope',
      method: 'POST',
      path,
      tag,
      summary: 'Apply an integration to all agents or to one; answers a scope that exists already',
      find,
      body: scopeBody,
      status: 201,
      response: scope,
      handler: async ({ found, body, transaction, principal, requestId }) => {
        const row = await transaction(async (tx) => {
          await integrations.locked(tx, found.id);
          return addScope(tx, { principal, requestId }, found.id, body);
        });
        await changed();
        return row;
      },
    }),
    route({
      id: 'deleteObservabilityScope',
      method: 'DELETE',
      path,
      tag,
      summary: 'Remove one scope of an integration',
      find,
      query: scopeQuery,
      status: 204,
      otherStatuses: [400],
      handler: async ({ found, query, transaction, principal, requestId }) => {
        await transaction(async (tx) => {
          await integrations.locked(tx, found.id);
          await removeScope(tx, { principal, requestId }, found.id, query);
        });
        await changed();
      },
    }),
  ];
};
