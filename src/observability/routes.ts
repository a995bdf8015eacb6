import { z } from 'zod';
import type { Database } from '../database/index.ts';
import { type Context, type Route, route } from '../http/index.ts';
import { isId } from '../lib/ids.ts';
import type { Integrations, UpdateBody } from './integrations.ts';
import { createBody, integration, listQuery, patchBody, putBody } from './schemas.ts';
import type { IntegrationRow } from './store.ts';

export const integrationPath = '/observability/integrations/{integration_id}';

export interface IntegrationRouteParts {
  db: Database;
  integrations: Integrations;
  /** Called after a change. Resolves when the change is in effect on this replica. */
  changed: () => Promise<void>;
}

/** Integrations (description, 4.2). */
export const integrationRoutes = ({ integrations, changed }: IntegrationRouteParts): Route[] => {
  const { find, toResponse } = integrations;
  const update = async (context: Context<IntegrationRow, unknown, UpdateBody>) => {
    const { found, body, transaction, ifMatch, etag, actor } = context;
    const updated = await transaction(async (tx) => {
      const before = await integrations.lock(tx, found.id);
      ifMatch(before.revision);
      const row = await integrations.update(tx, actor, before, body);
      etag(row.revision);
      return toResponse(row);
    });
    await changed();
    return updated;
  };
  return [
    route({
      id: 'listObservabilityIntegrations',
      role: 'admin',
      scope: 'observability:read',
      method: 'GET',
      path: '/observability/integrations',
      summary: 'List integrations',
      description: 'Newest first. The response contains their credentials.',
      query: listQuery,
      response: z.array(integration),
      handler: async ({ query: { provider, agent_id }, actor }) => {
        const agentId = agent_id !== undefined && !isId(agent_id) ? null : agent_id;
        const rows = await integrations.list(actor, { provider, agentId });
        return rows.map(toResponse);
      },
    }),
    route({
      id: 'createObservabilityIntegration',
      role: 'admin',
      scope: 'observability',
      method: 'POST',
      path: '/observability/integrations',
      summary: 'Create an integration',
      description:
        'Connects a tracing backend. A new integration has the global scope: it applies to all agents.',
      body: createBody,
      status: 201,
      response: integration,
      idempotent: true,
      etag: true,
      handler: async ({ body, transaction, etag, actor }) => {
        await integrations.checkAddress(body.settings);
        const created = await transaction(async (tx) => {
          const row = await integrations.create(tx, actor, body);
          etag(row.revision);
          return toResponse(row);
        });
        await changed();
        return created;
      },
    }),
    route({
      id: 'getObservabilityIntegration',
      role: 'admin',
      scope: 'observability:read',
      method: 'GET',
      path: integrationPath,
      summary: 'Get an integration',
      description: 'The response contains its credentials.',
      response: integration,
      etag: true,
      handler: async ({ params, etag, actor }) => {
        const row = await integrations.get(actor, params.integration_id!);
        etag(row.revision);
        return toResponse(row);
      },
    }),
    route({
      id: 'replaceObservabilityIntegration',
      role: 'admin',
      scope: 'observability',
      method: 'PUT',
      path: integrationPath,
      summary: 'Update an integration',
      description: 'Fields that are left out stay as they are.',
      find,
      body: putBody,
      response: integration,
      etag: true,
      handler: async (context) => {
        if (context.body.settings) await integrations.checkAddress(context.body.settings);
        return update(context);
      },
    }),
    route({
      id: 'updateObservabilityIntegration',
      role: 'admin',
      scope: 'observability',
      method: 'PATCH',
      path: integrationPath,
      summary: 'Switch an integration on or off',
      description: 'Switches its export or its debug traces on or off.',
      find,
      body: patchBody,
      response: integration,
      etag: true,
      handler: update,
    }),
    route({
      id: 'deleteObservabilityIntegration',
      role: 'admin',
      scope: 'observability',
      method: 'DELETE',
      path: integrationPath,
      summary: 'Delete an integration',
      description: 'Spans that it has not delivered are discarded and counted.',
      find,
      status: 204,
      etag: true,
      handler: async ({ found, transaction, ifMatch, actor }) => {
        await transaction(async (tx) => {
          const row = await integrations.lock(tx, found.id);
          ifMatch(row.revision);
          await integrations.delete(tx, actor, row);
        });
        await changed();
      },
    }),
  ];
};
